"""Labelled numbers of a released graph, read from its manifest."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from crowdcover.kinds.graph.report.findings import OBFUSCATED
from crowdcover.kinds.words import build_unmeasured_figure
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count, count_share, digits, is_number, one_in, percent
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

_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.graph")
# Of numbers that manifests state of the source and of the release.
_SIDES: Mapping[str, Callable[[Any], str]] = {
    **dict.fromkeys(("edges", "expected_edges", "isolated", "triangles"), count),
    **dict.fromkeys(("degree", "path_length", "triangles_deviation"), digits),
    **dict.fromkeys(("connected", "clustering"), percent),
}
NUMBER_FORMS: Mapping[str, Callable[[Any], str]] = {
    **_SIDES,
    **{f"{name}_released": form for name, form in _SIDES.items()},
    "degree_error": digits,
    "discrepancy": percent,
    "worlds": count,
    "same_edges": percent,
}


class Attack(NamedTuple):
    """What an attacker reaches who knows this of a vertex and takes the likeliest one."""

    name: str
    success: Any
    guess: Any
    below: Any
    of: int
    highest: Any = None

    @property
    def row(self) -> tuple[str, str, str, str]:
        """Name, success, guess, and the vertices below their k."""
        below = (
            _MESSAGES.say("headings", "not_counted")
            if self.below is None
            else _MESSAGES.say("headings", "below", below=self.below, records=self.of)
        )
        return self.name, one_in(self.success), one_in(self.guess), below


def attacks(manifest: Manifest) -> list[Attack]:
    """The attackers in the order of what they know."""
    return [
        Attack(
            name,
            each["success"],
            each["promised"],
            each["below"],
            manifest["privacy"]["records"],
            each.get("highest"),  # older releases lack it
        )
        for name, each in manifest["attacks"].items()
    ]


class MeasuredPair(NamedTuple):
    """A number of the source and of the release."""

    what: str
    before: str
    after: str


def list_sides(manifest: Manifest, group: str) -> list[MeasuredPair]:
    """Numbers of the graph before and after; an older release lacks some."""
    utility = manifest["utility"]
    return [
        MeasuredPair(what, *(_SIDES[key](utility[each]) for each in (key, f"{key}_released")))
        for key, what in _MESSAGES.name_entries("sides", group).items()
        if key in utility
    ]


def list_hop_discrepancies(manifest: Manifest) -> dict[str, float]:
    """Discrepancy by distance in the source; distances of few pairs are left out."""
    stated: Mapping[str, float] = manifest["utility"]["discrepancy_by_hops"]
    return {_MESSAGES.say("hops", name): found for name, found in stated.items()}


# ---------------------------------------------------------------- the three risks


def list_risks(manifest: Manifest) -> list[Risk]:
    """Singling out, linkability, inference: the three risks of WP216."""
    return three_risks(
        "vertex",
        "an edge",
        _list_singling_out(manifest),
        _list_linkability(manifest),
        _list_inference(manifest),
        found="key",
        lines=[_describe_picked(manifest), _describe_linked(manifest), _describe_learnt(manifest)],
    )


def _describe_picked(manifest: Manifest) -> RiskLine:
    """How many hide among too few; where the plan demands nothing of some, these."""
    privacy, tried = manifest["privacy"], attacks(manifest)
    records, number = privacy["records"], privacy.get("below")
    form, allowed = "picked", privacy.get("exempt") or 0
    if privacy["k_min"] < 2:
        form, allowed, number = "alone", 0, privacy.get("unprotected")
    figures = {
        **privacy,
        "form": form,
        "allowed": allowed,
        "number": number,
        "knows": _MESSAGES.name_entries("knows").get(privacy.get("knows", ""), ""),
        "likelier": count_share(manifest["protection"].get("likelier") or 0.0, records),
        "success": max(attack.success for attack in tried),
    }
    result = NOT_MEASURED if number is None else WITHIN if number <= allowed else ABOVE
    return build_risk_line(
        "picked",
        say_people(number, records, _MESSAGES.terms["subjects"]),
        _MESSAGES.say("risk_lines", form, **figures),
        result,
        limit=_MESSAGES.say("risk_lines", "limit", **figures),
        change=_MESSAGES.say("risk_lines", "change", **figures),
        warns=bool(allowed),
        aside=_MESSAGES.say("risk_lines", "aside"),
    )


def _describe_linked(manifest: Manifest) -> RiskLine:
    """How many are named by a list of degrees, and how many have an edge that other data finds."""
    records, protection = manifest["privacy"]["records"], manifest["protection"]
    if "edges" not in protection:
        return _build_unmeasured_line("linked")
    strongest = max(attacks(manifest), key=lambda attack: attack.success)
    limit = attack_limits(manifest).get(strongest.name)
    counts = {
        # Published in thousandths, rounded up: as many as that may be.
        "named": -(-round(1000 * strongest.success) * records // 1000),
        "matched": count_share(protection["edges"]["matched"], records),
    }
    figures = {"highest": strongest.highest if is_number(strongest.highest) else None}
    order = sorted(counts, key=lambda form: -counts[form])  # of equal ones names come first
    advice, result = order[0], NO_LIMIT
    if limit is not None:
        result = WITHIN if strongest.success <= limit else ABOVE
        # The limit is one of names: they stand beside it.
        order = ["named", "matched"]
        advice = "named" if result == ABOVE else advice
    people = [_say_up_to(counts[form], records) for form in order]
    first, second = (
        _MESSAGES.say("risk_lines", form, number=counts[form], **figures) for form in order
    )
    rest = _MESSAGES.say("risk_lines", "of_edges")
    return build_risk_line(
        "linked",
        people[0],
        f"{first} {people[1]} {second} {rest}",
        result,
        limit=_MESSAGES.say("risk_lines", "limit", form="linked", limit=limit),
        change=_MESSAGES.say("risk_lines", "change", form=advice),
        warns=counts["matched"] > 0 or (limit is None and strongest.success > strongest.guess),
    )


def _describe_learnt(manifest: Manifest) -> RiskLine:
    """How many have an edge that the release shows about as it is, to whoever finds its ends."""
    records, edges = manifest["privacy"]["records"], manifest["protection"].get("edges")
    if edges is None:
        return _build_unmeasured_line("learnt")
    number = count_share(edges["near"], records)
    return build_risk_line(
        "learnt",
        _say_up_to(number, records),
        _MESSAGES.say("risk_lines", "learnt", number=number, **edges),
        NO_LIMIT,
        change=_MESSAGES.say("risk_lines", "change", form="learnt"),
        warns=number > 0,
    )


def _build_unmeasured_line(name: str) -> RiskLine:
    """The line of a release that is older than its figures."""
    change = _MESSAGES.say("risk_lines", "change", form="unmeasured")
    text = _MESSAGES.say("risk_lines", "unmeasured")
    return build_risk_line(name, "", text, NOT_MEASURED, change=change, warns=True)


def _say_up_to(number: int, records: int) -> str:
    people = say_people(number, records, _MESSAGES.terms["subjects"])
    return _MESSAGES.say("risk_lines", "up_to", people=people) if number else people


def _list_singling_out(manifest: Manifest) -> Iterator[Figure]:
    privacy = manifest["privacy"]
    result = WITHIN if privacy["below"] <= privacy["exempt"] else ABOVE
    yield Figure(
        _MESSAGES.say("counted", OBFUSCATED),
        _MESSAGES.say("headings", "below", **privacy),
        _MESSAGES.say("risks", "promised", **privacy),
        NO_DEMAND if privacy["k_max"] < 2 else result,
    )
    if privacy["k_min"] < 2:
        alone = _MESSAGES.say("headings", "below", **{**privacy, "below": privacy["unprotected"]})
        yield Figure(_MESSAGES.say("risks", "alone"), alone, "0", ABOVE)


def _list_linkability(manifest: Manifest) -> Iterator[Figure]:
    limits = attack_limits(manifest)
    for attack in attacks(manifest):
        what = _MESSAGES.say("risks", "guess", attacker=attack.name)
        yield against_limit(what, attack, attack.success <= attack.guess, limits)
        if is_number(attack.highest):
            what = _MESSAGES.say("risks", "surest", attacker=attack.name)
            yield Figure(what, one_in(attack.highest), "nothing", NO_LIMIT)
    if (edges := manifest["protection"].get("edges")) is not None:
        yield _build_edge_figure("matched", "up_to", edges)
    # Stated as not measured: if they were left out, they would read as no risk.
    yield build_unmeasured_figure(_MESSAGES.say("risks", "neighbours"))
    yield build_unmeasured_figure(_MESSAGES.say("risks", "other_releases"))


def _list_inference(manifest: Manifest) -> Iterator[Figure]:
    share, edges = manifest["protection"]["unchanged"], manifest["protection"].get("edges")
    yield _build_edge_figure("unchanged", "up_to", {"unchanged": share})
    if edges is None:
        yield build_unmeasured_figure(_MESSAGES.say("risks", "near"))
        return
    yield _build_edge_figure("near", "up_to", edges)
    yield _build_edge_figure("added", "at_least", edges)
    yield _build_edge_figure("missing", "at_least", edges)
    yield Figure(
        _MESSAGES.say("risks", "joined"),
        _MESSAGES.say("risks", "up_to", share=edges["joined_if_released"]),
        _MESSAGES.say("risks", "any_two", share=edges["joined"]),
        NO_LIMIT,
    )


def _build_edge_figure(name: str, bound: str, shares: Manifest) -> Figure:
    """A share that is rounded to one side, and that nothing is held against."""
    measured = _MESSAGES.say("risks", bound, share=shares[name])
    return Figure(_MESSAGES.say("risks", name), measured, "nothing", NO_LIMIT)
