"""Attackers and risks of a released matrix, read from its manifest."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from crowdcover.kinds.matrix.report.findings import CLASSES
from crowdcover.kinds.words import build_unmeasured_figure
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count_share, is_number, one_in, percent
from crowdcover.reports.risk_lines import build_risk_line, say_people
from crowdcover.reports.words import (
    ABOVE,
    NO_DEMAND,
    NO_LIMIT,
    NOT_MEASURED,
    WITHIN,
    Figure,
    Risk,
    RiskLine,
    against_limit,
    attack_limits,
    three_risks,
)

_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.matrix")


class Attack(NamedTuple):
    """What an attacker with some known items reaches; chances are upper bounds."""

    name: str
    success: Any
    guess: Any
    above: Any
    tried: int
    of: int

    @property
    def row(self) -> tuple[str, str, str, str]:
        """Name, success, guess, and the share of users above 1/k."""
        return self.name, one_in(self.success), one_in(self.guess), percent(self.above)


def attacks(manifest: Manifest) -> list[Attack]:
    """The attackers in the order of what they know; without those that nobody has items for."""
    return [
        Attack(name, each["success"], each["promised"], each["above"], each["tried"], each["of"])
        for name, each in manifest["attacks"].items()
        if each["tried"]
    ]


# ---------------------------------------------------------------- the three risks


def list_risks(manifest: Manifest) -> list[Risk]:
    """Singling out, linkability, inference: the three risks of WP216."""
    return three_risks(
        "user",
        "an item",
        _list_singling_out(manifest),
        _list_linkability(manifest),
        _list_inference(manifest),
        lines=[_describe_picked(manifest), _describe_linked(manifest), _describe_learnt(manifest)],
    )


def _describe_picked(manifest: Manifest) -> RiskLine:
    """How many are in too small a class; where the plan demands nothing of some, these."""
    privacy = manifest["privacy"]
    form, number = "picked", privacy.get("classes_below_k")
    if privacy["k_min"] < 2:
        form, number = "alone", privacy.get("unprotected")
    return _build_line("picked", form, number, manifest, _judge_count(number), aside=True)


def _judge_count(number: int | None) -> str:
    """A number of users against none."""
    return NOT_MEASURED if number is None else ABOVE if number else WITHIN


def _describe_linked(manifest: Manifest) -> RiskLine:
    """How many who know some items find more often than promised: of those who find most."""
    tried = [attack for attack in attacks(manifest) if is_number(attack.above)]
    privacy = manifest["privacy"]
    if privacy["k_min"] < 2:
        # Nobody is found more often than 1 in 1, so no attack counts these users.
        alone, most = privacy.get("unprotected"), max((each.above for each in tried), default=0.0)
        if not is_number(alone) or alone >= most * privacy["records"]:
            return _build_line("linked", "alone", alone, manifest, _judge_count(alone))
    if not tried:
        return _build_line("linked", "unlinked", None, manifest, NO_LIMIT)
    found = max(tried, key=lambda attack: (attack.above, attack.success))
    limits = attack_limits(manifest)
    limit = limits.get(found.name)
    number = round(found.above * found.tried)
    result = ABOVE if number or (limit is not None and found.success > limit) else WITHIN
    knows = found.name.replace("known ", "")
    line = _build_line(
        "linked", "linked", number, manifest, result, limit=limit, success=found.success,
        knows=knows,
    )  # fmt: skip
    whom = _MESSAGES.say(
        "risk_lines", "tried", of=found.of, tried=found.tried, knows=knows, **privacy
    )
    return line._replace(people=say_people(number, found.tried, whom))


def _describe_learnt(manifest: Manifest) -> RiskLine:
    """How many have an item that their whole class has."""
    share, records = manifest["protection"].get("unanimous_rows"), manifest["privacy"]["records"]
    number = count_share(share, records) if is_number(share) else None
    result = NOT_MEASURED if number is None else NO_LIMIT
    line = _build_line("learnt", "learnt", number, manifest, result)
    people = _MESSAGES.say("risk_lines", "up_to", people=line.people) if number else line.people
    return line._replace(people=people, warns=number != 0)


def _build_line(
    name: str,
    form: str,
    number: int | None,
    manifest: Manifest,
    result: str,
    *,
    aside: bool = False,
    **figures: Any,
) -> RiskLine:
    """A line by the name of its question; `form` names the message."""
    privacy = manifest["privacy"]
    terms = {**privacy, "limit": None, "success": None, "number": number, "form": form, **figures}
    people = say_people(number, privacy["records"], _MESSAGES.terms["subjects"])
    return build_risk_line(
        name,
        "" if form == "unlinked" else people,
        _MESSAGES.say("risk_lines", form, **terms),
        result,
        limit=_MESSAGES.say("risk_lines", "limited", **terms),
        change=_MESSAGES.say("risk_lines", "change", **terms),
        aside=_MESSAGES.say("risk_lines", "aside") if aside else "",
    )


def _list_singling_out(manifest: Manifest) -> Iterator[Figure]:
    privacy = manifest["privacy"]
    number, records = privacy["classes_below_k"], privacy["records"]
    result = WITHIN if number == 0 else ABOVE
    yield Figure(
        _MESSAGES.say("counted", CLASSES),
        _MESSAGES.say("risks", "below", number=number, records=records),
        "0: the promise",
        NO_DEMAND if privacy["k_max"] < 2 else result,
    )
    if privacy["k_min"] < 2:
        alone = _MESSAGES.say("risks", "below", number=privacy["unprotected"], records=records)
        yield Figure(_MESSAGES.say("risks", "alone"), alone, "0", ABOVE)


def _list_linkability(manifest: Manifest) -> Iterator[Figure]:
    limits = attack_limits(manifest)
    for attack in attacks(manifest):
        what = _MESSAGES.say("risks", "find", attacker=attack.name)
        yield against_limit(what, attack, attack.above == 0, limits)
    yield build_unmeasured_figure(_MESSAGES.say("risks", "other_releases"))


def _list_inference(manifest: Manifest) -> Iterator[Figure]:
    protection, records = manifest["protection"], manifest["privacy"]["records"]
    for key, what in _MESSAGES.name_entries("inference").items():
        share = protection.get(key)
        if not is_number(share):
            yield build_unmeasured_figure(what)
            continue
        of_users = key == "unanimous_rows"
        number = count_share(share, records) if of_users else None
        measured = _MESSAGES.say("risks", "up_to", share=share, number=number, records=records)
        yield Figure(what, measured, "nothing", NO_LIMIT)
