"""Singling out, linkability and inference: what was measured, and what it is held against.

The three risks of WP216 (opinion 05/2014 of the Article 29 Working Party), by which recital 26 of
the GDPR is read. A figure is held against the promise or against a limit of the plan's [checks].
Where neither says anything, the result says so; where nothing was measured, too.
"""

from collections.abc import Collection, Iterator
from typing import Any

from anon_core.measures.requirements import is_limit_reached
from crowdcover.kinds.table.plan.checks import ChecksSection
from crowdcover.kinds.table.plan.limits import BY_DEMAND, WITNESS
from crowdcover.kinds.table.plan.reidentification import ReidentificationLimits
from crowdcover.kinds.table.report import attackers
from crowdcover.kinds.table.report import series_words as versions
from crowdcover.kinds.table.report.facts import count_owners, describe_subjects, promise_of
from crowdcover.kinds.table.report.findings import (
    CLASSES,
    COMPATIBLE,
    EVEN,
    TRUTHFUL,
    list_promise_counts,
    shows_exchange,
)
from crowdcover.kinds.table.report.risk_lines import UNIFORM, build_table_lines
from crowdcover.kinds.table.report.roles import list_columns_by_role
from crowdcover.kinds.words import build_unmeasured_figure
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count, digits, is_number, one_in, percent, printable
from crowdcover.reports.verdict import protects_nobody
from crowdcover.reports.words import (
    ABOVE,
    NO_DEMAND,
    NO_LIMIT,
    NOT_MEASURED,
    OF_EVERY_RELEASE,
    WITHIN,
    Figure,
    Risk,
    three_risks,
)

MEASURES = ChecksSection.list_measures()
REIDENTIFICATION = ReidentificationLimits.list_measures()
_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.table")
_SUCCESS = "attack success"  # the measure that limits attacks


def list_risks(manifest: Manifest) -> list[Risk]:
    """The three risks, each with its figures."""
    return three_risks(
        "person",
        "a value",
        _list_singling_out(manifest),
        _list_linkability(manifest),
        _list_inference(manifest),
        lines=build_table_lines(manifest),
    )


# ---------------------------------------------------------------- singling out


def _list_singling_out(manifest: Manifest) -> Iterator[Figure]:
    privacy = manifest["privacy"]
    records = privacy["records"]
    for finding, (key, what) in list_promise_counts(manifest).items():
        if finding not in (COMPATIBLE, TRUTHFUL):  # matchable says more; truth is no risk
            figure = _of_promise(what, privacy.get(key), records)
            empty = protects_nobody(manifest) and figure.result == WITHIN
            yield figure._replace(result=NO_DEMAND) if empty else figure
    if privacy["k_min"] < 2:
        number = privacy.get("unprotected")
        yield Figure(
            _name_risk("singling_out", "alone", manifest),
            _format_count_of(number, records) if is_number(number) else NOT_MEASURED,
            _hold_against("second_row"),
            WITHIN if number == 0 else ABOVE,
        )
    yield from _list_row_naming_figures(manifest)
    yield from _unique_values(manifest)


def _list_row_naming_figures(manifest: Manifest) -> Iterator[Figure]:
    """How likely attackers with more and more knowledge name a person's row."""
    tried = {attack.name: attack for attack in attackers.attacks(manifest)}
    for name, who in _MESSAGES.name_entries("names_row").items():
        if name in tried:
            what = _MESSAGES.say("singling_out", "names_row", who=who)
            yield from _list_chance_figures(what, tried[name], manifest)
    if not tried:
        yield build_unmeasured_figure(_MESSAGES.say("singling_out", "names_row_unmeasured"))
    promised = promise_of(manifest)
    if "insider" in tried and EVEN not in promised and CLASSES not in promised:
        what = _name_risk("singling_out", "likelier", manifest)
        share, records = tried["insider"].above.get("1"), manifest["privacy"]["records"]
        if is_number(share):
            number = _format_count_of(round(share * records), records)
            yield Figure(what, number, _hold_against("nothing"), NO_LIMIT)
        else:
            yield build_unmeasured_figure(what)
    if not any(name.startswith(WITNESS) for name in tried):
        yield build_unmeasured_figure(_MESSAGES.say("singling_out", "known_rows"))


def _of_promise(what: str, number: Any, records: Any) -> Figure:
    """A count that must be 0; one that is missing was not measured."""
    against = _hold_against("promise")
    if not is_number(number):
        return build_unmeasured_figure(what, against)
    result = WITHIN if number == 0 else ABOVE
    return Figure(what, _format_count_of(number, records), against, result)


def _unique_values(manifest: Manifest) -> Iterator[Figure]:
    """Carried values that find a row, by column."""
    values = manifest.get("protection", {}).get("unique_values")
    if values is None:
        yield build_unmeasured_figure(_MESSAGES.say("singling_out", "unique_unmeasured"))
        return
    records, nothing = manifest["privacy"]["records"], _hold_against("nothing")
    found = {name: number for name, number in values.items() if number}
    for name, number in found.items():
        what = _MESSAGES.say("singling_out", "unique", name=name)
        yield Figure(what, _format_count_of(number, records), nothing, NO_LIMIT)
    if len(found) < len(values):
        what = _MESSAGES.say("singling_out", "unique_nowhere", others=len(found))
        yield Figure(what, _format_count_of(0, records), nothing, NO_LIMIT)


# ---------------------------------------------------------------- linkability


def _list_linkability(manifest: Manifest) -> Iterator[Figure]:
    tried = {attack.name: attack for attack in attackers.attacks(manifest)}
    for name, knows in _MESSAGES.name_entries("links_row").items():
        what = _MESSAGES.say("linkability", "links_row", knows=knows)
        if name in tried:
            yield from _list_chance_figures(what, tried[name], manifest)
        # Partial linkage may be absent: a table of one quasi-identifier has no part of it.
        elif name == "linkage":
            yield build_unmeasured_figure(what)
    yield from _list_limit_figures(manifest, REIDENTIFICATION)
    yield _several_rows(manifest)
    yield from versions.list_linkability_figures(manifest)
    yield _other_releases(manifest)
    yield build_unmeasured_figure(_MESSAGES.say("linkability", "elsewhere"))


def _several_rows(manifest: Manifest) -> Figure:
    """Whether a person may own several rows: only identifiers tell."""
    if (people := count_owners(manifest)) is not None:
        records = manifest["privacy"]["records"]
        rows = _MESSAGES.say("count", "people", records=records, people=people)
        what = _MESSAGES.say("linkability", "of_one_person")
        return Figure(what, rows, _hold_against("of_people"), WITHIN)
    what = _MESSAGES.say("linkability", "share_identifier")
    identifiers = list_columns_by_role(manifest, "identifier")
    if manifest.get("rows_are_people") or not identifiers:
        return build_unmeasured_figure(what)
    return Figure(what, "0", _hold_against("of_rows"), WITHIN)


def _other_releases(manifest: Manifest) -> Figure:
    what = _name_risk("linkability", "other_releases", manifest)
    other = manifest.get("second_release")
    if other is None:
        none = _MESSAGES.say("linkability", "no_other_release")
        return Figure(what, none, _hold_against("nothing"), NOT_MEASURED)
    return _of_promise(what, other.get("below_k"), other.get("people"))


# ---------------------------------------------------------------- inference


def _list_inference(manifest: Manifest) -> Iterator[Figure]:
    sensitive = (manifest.get("protection") or {}).get("sensitive", {})
    if not sensitive:
        what = _name_risk("inference", "uniform_any", manifest)
        stated = manifest.get("columns") and not list_columns_by_role(manifest, "sensitive")
        measured = _MESSAGES.say("inference", "no_sensitive") if stated else NOT_MEASURED
        yield Figure(what, measured, _hold_against("nothing"), NOT_MEASURED)
    for name, crowd in sensitive.items():
        yield _build_uniform_figure(name, crowd.get("uniform"), manifest)
    yield from _list_limit_figures(manifest, MEASURES.keys() - REIDENTIFICATION.keys())
    yield from _list_minimality(manifest)
    yield from _list_refinement(manifest)
    yield from _private_k(manifest)
    yield _build_membership_figure(manifest)
    if kept := list_columns_by_role(manifest, "keep"):
        yield build_unmeasured_figure(_name_risk("inference", "uniform_kept", manifest, names=kept))
    yield build_unmeasured_figure(_MESSAGES.say("inference", "others_known"))


def _build_uniform_figure(name: str, number: Any, manifest: Manifest) -> Figure:
    """How many people's value of a sensitive column is known, since their crowd has no other."""
    what = _name_risk("inference", "uniform", manifest, name=name)
    if not is_number(number):
        return build_unmeasured_figure(what)
    records, limit = manifest["privacy"]["records"], _find_limit(manifest, UNIFORM, name)
    against = (
        _hold_against("no_limit" if "checks" in manifest else "not_stated")
        if limit is None
        else _hold_against("most", limit=percent(limit))
    )
    result = _compare_with_limit(UNIFORM, number / records, limit)
    return Figure(what, _format_count_of(number, records), against, result)


def _list_minimality(manifest: Manifest) -> Iterator[Figure]:
    """What someone learns from which classes were joined; stated only where the plan joins some."""
    if "diverse" not in manifest:
        return
    step = (manifest.get("iterations") or [{}])[-1]
    gain, unmeasured = step.get("minimality_gain"), step.get("minimality_unmeasured")
    what = _name_risk("inference", "minimality", manifest)
    if not is_number(gain) or not is_number(unmeasured):
        yield build_unmeasured_figure(what)
        return
    found = _MESSAGES.say("inference", "gain", gain=percent(gain), unmeasured=int(unmeasured))
    yield Figure(what, found, _hold_against("nothing"), NO_LIMIT)


def _list_refinement(manifest: Manifest) -> Iterator[Figure]:
    """Masked cells that someone concludes who knows how the program chooses; or not measured."""
    found = (manifest.get("protection") or {}).get("refinement")
    if not found:
        return
    by = found["by"]
    for name in ("one_value", "narrowed"):
        what, share = _MESSAGES.say("refinement", name, by=by), found.get(name)
        if not is_number(share):
            yield build_unmeasured_figure(what)
            continue
        # Other chances than those of the draw are not what is proved.
        proved = name == "one_value" and by == "chances" and share == 0
        proved = proved and EVEN in promise_of(manifest) and not shows_exchange(manifest)
        proved = proved and "predict" not in manifest.get("purpose", {})
        against = _hold_against("even" if proved else "nothing")
        yield Figure(what, percent(share), against, WITHIN if proved else NO_LIMIT)


def _build_membership_figure(manifest: Manifest) -> Figure:
    """How many who are not in the table look as if they were, to someone who counts rows."""
    found = (manifest.get("protection") or {}).get("membership")
    if not found:
        return build_unmeasured_figure(_MESSAGES.say("inference", "membership_unmeasured"))
    if not found["drawn"]:
        return build_unmeasured_figure(_MESSAGES.say("inference", "membership_undrawn"))
    share = found["members"] / manifest["privacy"]["records"]
    what = _name_risk("inference", "membership", manifest, rows=found["rows"])
    measured = _format_count_of(found["others"], found["drawn"])
    against = _hold_against("members", share=share, whom=describe_subjects(manifest))
    return Figure(what, measured, against, NO_LIMIT)


def _private_k(manifest: Manifest) -> Iterator[Figure]:
    """How many people's k follows from their crowd; stated only where k is private."""
    guesses = (manifest.get("attacks") or {}).get(BY_DEMAND)
    if guesses is None:
        return
    records = manifest["privacy"]["records"]
    what = _name_risk("inference", "private_k", manifest)
    right, commonest = guesses.get("right"), guesses.get("commonest")
    if not is_number(right) or not is_number(commonest):
        yield build_unmeasured_figure(what)
        return
    against = _hold_against("one_guess", commonest=_format_count_of(commonest, records))
    result = WITHIN if right <= commonest else ABOVE
    yield Figure(what, _format_count_of(right, records), against, result)


def _list_limit_figures(manifest: Manifest, measures: Collection[str]) -> Iterator[Figure]:
    """What the plan demands of some of the measures."""
    for asked in manifest.get("checks", []):
        measure = MEASURES.get(asked["measure"])
        if asked["measure"] in measures and measure is not None and measure.figure:
            side = "least" if measure.sense == "at least" else "most"
            yield Figure(
                measure.figure.format(name=printable(asked["about"])),
                digits(asked["found"]),
                _hold_against(side, limit=digits(asked["required"])),
                _compare_with_limit(asked["measure"], asked["found"], asked["required"]),
            )


# ---------------------------------------------------------------- figures


def _name_risk(risk: str, name: str, manifest: Manifest, /, **figures: Any) -> str:
    return _MESSAGES.say(risk, name, whom=describe_subjects(manifest), **figures)


def _hold_against(name: str, **figures: Any) -> str:
    return _MESSAGES.say("against", name, **figures)


def _list_chance_figures(
    what: str, attack: attackers.Attack, manifest: Manifest
) -> Iterator[Figure]:
    """The success of an attack, against a guess among k rows and against the plan's limit."""
    if not attack.is_judged:
        yield build_unmeasured_figure(what)
        return
    measured, limit = one_in(attack.success), _find_limit(manifest, _SUCCESS, attack.name)
    if not attack.is_bounded:
        yield Figure(what, measured, _hold_against("nothing"), OF_EVERY_RELEASE)
        return
    result = WITHIN if attack.is_contained else ABOVE
    result = NO_DEMAND if attack.guess >= 1 else result
    yield Figure(what, measured, _hold_against("guess", guess=attack.guess), result)
    if limit is not None:
        result = _compare_with_limit(_SUCCESS, attack.success, limit)
        yield Figure(what, measured, _hold_against("limit", limit=limit), result)


def _find_limit(manifest: Manifest, measure: str, about: str) -> float | None:
    """The plan's limit of a measure, or None; older manifests state none."""
    for asked in manifest.get("checks", []):
        if asked["measure"] == measure and asked["about"] == about:
            return float(asked["required"])
    return None


def _compare_with_limit(measure: str, found: float | None, limit: float | None) -> str:
    if limit is None:
        return NO_LIMIT
    return WITHIN if is_limit_reached(MEASURES[measure].sense, found, limit) else ABOVE


def _format_count_of(number: Any, records: Any) -> str:
    """How many of how many, and their share."""
    if not is_number(number) or not is_number(records) or not records:
        return count(number)
    return _MESSAGES.say("count", "share", number=number, records=records)
