"""Labelled numbers of a released graph, read from its manifest."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from crowdcover.kinds.graph.report.findings import OBFUSCATED
from crowdcover.kinds.words import build_unmeasured_figure
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count, digits, one_in, percent
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
            name, each["success"], each["promised"], each["below"], manifest["privacy"]["records"]
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
        lines=[_describe_picked(manifest), _describe_linked(manifest), _describe_learnt()],
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
        "number": number,
        "knows": _MESSAGES.name_entries("knows").get(privacy.get("knows", ""), ""),
        "likelier": manifest["protection"].get("likelier"),
        "success": max(attack.success for attack in tried),
    }
    result = NOT_MEASURED if number is None else WITHIN if number <= allowed else ABOVE
    return build_risk_line(
        "picked",
        say_people(number, records, _MESSAGES.terms["subjects"]),
        _MESSAGES.say("risk_lines", form, **figures),
        result,
        limit=_MESSAGES.say("risk_lines", "limit", allowed=allowed),
        change=_MESSAGES.say("risk_lines", "change", **figures, form=form, allowed=allowed),
        warns=bool(allowed),
        aside=_MESSAGES.say("risk_lines", "aside"),
    )


def _describe_linked(manifest: Manifest) -> RiskLine:
    """Probabilities that other data may have, too: of edges, so that no vertices are counted."""
    unchanged = manifest["protection"]["unchanged"]
    return build_risk_line(
        "linked",
        "",
        _MESSAGES.say("risk_lines", "linked", unchanged=unchanged),
        NO_LIMIT,
        change=_MESSAGES.say("risk_lines", "change", form="linked"),
        warns=unchanged > 0,
    )


def _describe_learnt() -> RiskLine:
    """What a graph shows of whoever is found; no vertices are counted."""
    return build_risk_line(
        "learnt",
        "",
        _MESSAGES.say("risk_lines", "learnt"),
        NO_LIMIT,
        change=_MESSAGES.say("risk_lines", "change", form="learnt"),
    )


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
    # Stated as not measured: if they were left out, they would read as no risk.
    yield build_unmeasured_figure(_MESSAGES.say("risks", "neighbours"))
    yield build_unmeasured_figure(_MESSAGES.say("risks", "other_releases"))


def _list_inference(manifest: Manifest) -> Iterator[Figure]:
    share = manifest["protection"]["unchanged"]
    yield Figure(
        _MESSAGES.say("risks", "unchanged"), f"up to {percent(share)}", "nothing", NO_LIMIT
    )
