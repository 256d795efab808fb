"""Singling out, linkability and inference: what was measured, and what it is held against.

The three risks of WP216 (opinion 05/2014 of the Article 29 Working Party), by which recital 26 of
the GDPR is read. A figure is held against the promise or against a limit of the plan's [checks].
Where neither says anything, the result says so; where nothing was measured, too.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from anon_core.measures.requirements import Measure, is_limit_reached
from kinds.table.report import attackers
from kinds.table.report import series_words as versions
from kinds.table.report.facts import count_owners, describe_subjects, promise_of
from kinds.table.report.findings import CLASSES, COMPATIBLE, EVEN, TRUTHFUL, list_promise_counts
from kinds.table.report.roles import list_columns_by_role
from reports.facts import Manifest
from reports.quantities import count, digits, is_number, one_in, percent, printable
from reports.verdict import protects_nobody
from reports.words import (
    ABOVE,
    NO_DEMAND,
    NO_LIMIT,
    NOT_MEASURED,
    WITHIN,
    Figure,
    Risk,
    three_risks,
)

BY_PROMISE = "0: the promise"
NOTHING = "nothing"
NAMES_ROWS = {  # by the name of the attack
    "insider": "an insider",
    f"{attackers.WITNESS} 1": "an insider who knows the row of one other person",
    f"{attackers.WITNESS} 2": "an insider who knows the rows of two other people",
    "person": "someone who knows which records are of one person",
}
UNIFORM: Measure = "uniform crowds"


def list_risks(manifest: Manifest) -> list[Risk]:
    """The three risks, each with its figures."""
    return three_risks(
        "person",
        "a value",
        _list_singling_out(manifest),
        _list_linkability(manifest),
        _list_inference(manifest),
    )


# ---------------------------------------------------------------- singling out


def _list_singling_out(manifest: Manifest) -> Iterator[Figure]:
    privacy, whom = manifest["privacy"], describe_subjects(manifest)
    records = privacy["records"]
    for finding, (key, what) in list_promise_counts(manifest).items():
        if finding not in (COMPATIBLE, TRUTHFUL):  # matchable says more; truth is no risk
            figure = _of_promise(what, privacy.get(key), records)
            empty = protects_nobody(manifest) and figure.result == WITHIN
            yield figure._replace(result=NO_DEMAND) if empty else figure
    if privacy["k_min"] < 2:
        number = privacy.get("unprotected")
        yield Figure(
            f"{whom.capitalize()} with k = 1, whom no promise protects",
            _format_count_of(number, records) if is_number(number) else NOT_MEASURED,
            "0: a crowd needs a second row",
            WITHIN if number == 0 else ABOVE,
        )
    yield from _list_row_naming_figures(manifest)
    yield from _unique_values(manifest)


def _list_row_naming_figures(manifest: Manifest) -> Iterator[Figure]:
    """How likely attackers with more and more knowledge name a person's row."""
    tried = {attack.name: attack for attack in attackers.attacks(manifest)}
    for name, who in NAMES_ROWS.items():
        if name in tried:
            what = f"Chance that {who} names a person's row, on average"
            yield from _list_chance_figures(what, tried[name], manifest)
    if not tried:
        yield _build_unmeasured("Chance that an attacker names a person's row")
    promised = promise_of(manifest)
    if "insider" in tried and EVEN not in promised and CLASSES not in promised:
        what = (
            f"{describe_subjects(manifest).capitalize()} with a row likelier than 1 in k, for an "
            "insider"
        )
        share = tried["insider"].above.get("1")
        stated = Figure(what, percent(share), NOTHING, NO_LIMIT)
        yield stated if is_number(share) else _build_unmeasured(what)
    if not any(name.startswith(attackers.WITNESS) for name in tried):
        yield _build_unmeasured("Attackers who know which rows other people sit in")


def _of_promise(what: str, number: Any, records: Any) -> Figure:
    """A count that must be 0; one that is missing was not measured."""
    if not is_number(number):
        return _build_unmeasured(what, BY_PROMISE)
    return Figure(
        what, _format_count_of(number, records), BY_PROMISE, WITHIN if number == 0 else ABOVE
    )


def _unique_values(manifest: Manifest) -> Iterator[Figure]:
    """Carried values that find a row, by column."""
    values = manifest.get("protection", {}).get("unique_values")
    if values is None:
        yield _build_unmeasured("Rows whose kept or sensitive value no other row has")
        return
    records, none = manifest["privacy"]["records"], 0
    for name, number in values.items():
        none += number == 0
        if number:
            what = f"Rows whose value of {printable(name)} no other row has"
            yield Figure(what, _format_count_of(number, records), NOTHING, NO_LIMIT)
    if none:
        others = "each other" if none < len(values) else "each"
        what = f"Rows with a value that no other row has, in {others} kept or sensitive column"
        yield Figure(what, _format_count_of(0, records), NOTHING, NO_LIMIT)


# ---------------------------------------------------------------- linkability


def _list_linkability(manifest: Manifest) -> Iterator[Figure]:
    tried = {attack.name: attack for attack in attackers.attacks(manifest)}
    for name, knows in (
        ("linkage", "all quasi-identifiers of a person"),
        ("partial linkage", "some quasi-identifiers of a person"),
    ):
        what = f"Chance to link the right row for someone who knows {knows}, on average"
        if name in tried:
            yield from _list_chance_figures(what, tried[name], manifest)
        elif name == "linkage":
            yield _build_unmeasured(what)
    yield _several_rows(manifest)
    yield from versions.list_linkability_figures(manifest)
    yield _other_releases(manifest)
    yield _build_unmeasured("Data elsewhere that this release may be linked with")


def _several_rows(manifest: Manifest) -> Figure:
    """Whether a person may own several rows: only identifiers tell."""
    if (people := count_owners(manifest)) is not None:
        rows = f"{count(manifest['privacy']['records'])} rows of {count(people)} people"
        return Figure("Rows of one person", rows, "crowds of people: the promise", WITHIN)
    what = "Rows that share an identifier, so that one person has several rows"
    identifiers = list_columns_by_role(manifest, "identifier")
    if manifest.get("rows_are_people") or not identifiers:
        return _build_unmeasured(what)
    return Figure(what, "0", "0: the plan counts a row as a person", WITHIN)


def _other_releases(manifest: Manifest) -> Figure:
    whom = describe_subjects(manifest).capitalize()
    what = f"{whom} with fewer than k rows left once this and other releases are compared"
    other = manifest.get("second_release")
    if other is None:
        return Figure(what, "no other release is recorded", NOTHING, NOT_MEASURED)
    return _of_promise(what, other.get("below_k"), other.get("people"))


# ---------------------------------------------------------------- inference


def _list_inference(manifest: Manifest) -> Iterator[Figure]:
    whom, records = describe_subjects(manifest).capitalize(), manifest["privacy"]["records"]
    protection = manifest.get("protection")
    sensitive = (protection or {}).get("sensitive", {})
    if not sensitive:
        what = f"{whom} whose crowd has one value of a sensitive column"
        stated = manifest.get("columns") and not list_columns_by_role(manifest, "sensitive")
        measured = "the plan names no sensitive column" if stated else NOT_MEASURED
        yield Figure(what, measured, NOTHING, NOT_MEASURED)
    for name, crowd in sensitive.items():
        label = printable(name)
        what = f"{whom} whose crowd has one value of {label}, so that it is known"
        number = crowd.get("uniform")
        if not is_number(number):
            yield _build_unmeasured(what)
            continue
        limit = _find_limit(manifest, UNIFORM, name)
        yield Figure(
            what,
            _format_count_of(number, records),
            _no_limit(manifest) if limit is None else f"at most {percent(limit)}: the plan",
            _compare_with_limit(UNIFORM, number / records, limit),
        )
    yield from _list_diversity_figures(manifest)
    yield from _private_k(manifest)
    if kept := list_columns_by_role(manifest, "keep"):
        yield _build_unmeasured(
            f"{whom} whose crowd has one value of a kept column: {', '.join(kept)}"
        )
    yield _build_unmeasured("Quasi-identifiers of a person, for someone who knows the others")


def _private_k(manifest: Manifest) -> Iterator[Figure]:
    """How many people's k follows from their crowd; stated only where k is private."""
    told = (manifest.get("attacks") or {}).get("demand")
    if told is None:
        return
    records = manifest["privacy"]["records"]
    what = (
        f"{describe_subjects(manifest).capitalize()} whose private k the best rule guesses from "
        "the crowd"
    )
    right, commonest = told.get("right"), told.get("commonest")
    if not is_number(right) or not is_number(commonest):
        yield _build_unmeasured(what)
        return
    against = f"{_format_count_of(commonest, records)}: one guess for all"
    yield Figure(
        what, _format_count_of(right, records), against, WITHIN if right <= commonest else ABOVE
    )


DIVERSITY: Mapping[Measure, str] = {
    "distinct values": "Fewest distinct values of {name} in a crowd",
    "values by entropy": "Fewest values of {name} in a crowd, by entropy",
    "odds": "Greatest lead of the commonest value of {name} in a crowd",
    "distance": "Greatest distance of a crowd's values of {name} from those of all rows",
}


def _list_diversity_figures(manifest: Manifest) -> Iterator[Figure]:
    """What the plan demands of the values in a crowd."""
    for asked in manifest.get("checks", []):
        if asked["measure"] in DIVERSITY:
            name = printable(asked["about"])
            required = digits(asked["required"])
            least = asked["measure"] in ("distinct values", "values by entropy")
            yield Figure(
                DIVERSITY[asked["measure"]].format(name=name),
                digits(asked["found"]),
                f"{'at least' if least else 'at most'} {required}: the plan",
                _compare_with_limit(asked["measure"], asked["found"], asked["required"]),
            )


# ---------------------------------------------------------------- figures


def _list_chance_figures(
    what: str, attack: attackers.Attack, manifest: Manifest
) -> Iterator[Figure]:
    """The success of an attack, against a guess among k rows and against the plan's limit."""
    if not attack.is_judged:
        yield _build_unmeasured(what)
        return
    measured, limit = one_in(attack.success), _find_limit(manifest, "attack success", attack.name)
    result = WITHIN if attack.is_contained else ABOVE
    result = NO_DEMAND if attack.guess >= 1 else result
    yield Figure(what, measured, f"{one_in(attack.guess)}: 1/k on average", result)
    if limit is not None:
        result = _compare_with_limit("attack success", attack.success, limit)
        yield Figure(what, measured, f"{one_in(limit)}: the plan", result)


def _find_limit(manifest: Manifest, measure: Measure, about: str) -> float | None:
    """The plan's limit of a measure, or None; older manifests state none."""
    for asked in manifest.get("checks", []):
        if asked["measure"] == measure and asked["about"] == about:
            return float(asked["required"])
    return None


def _compare_with_limit(measure: Measure, found: float | None, limit: float | None) -> str:
    if limit is None:
        return NO_LIMIT
    return WITHIN if is_limit_reached(measure, found, limit) else ABOVE


def _format_count_of(number: Any, records: Any) -> str:
    """How many of how many, and their share."""
    if not is_number(number) or not is_number(records) or not records:
        return count(number)
    return f"{count(number)} of {count(records)} ({percent(number / records)})"


def _no_limit(manifest: Manifest) -> str:
    return "the plan sets no limit" if "checks" in manifest else "the limits are not stated"


def _build_unmeasured(what: str, against: str = NOTHING) -> Figure:
    return Figure(what, NOT_MEASURED, against, NOT_MEASURED)
