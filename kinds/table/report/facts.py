"""Labelled numbers of a released table, read from its manifest."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reports.facts import Fact, Manifest, describe_levels
from reports.quantities import count, digits, is_number, percent, printable, utility
from reports.words import Share


class CrowdDiversity(NamedTuple):
    """Values of one sensitive column in the least diverse crowds, as text."""

    name: str
    distinct: str
    effective: str
    distance: str


class ColumnKept(NamedTuple):
    """Shares of unmasked cells and of information kept of one quasi-identifier."""

    name: str
    exact: float
    kept: float


CROWDS, SENSITIVE = "Crowds in numbers", "Sensitive values in the least diverse crowds"
UTILITY, COLUMNS = "Information in numbers", "Columns, the most masked first"
SENSITIVE_HEADINGS = ("Sensitive column", "Distinct values", "By entropy", "Distance (t)")
COLUMN_HEADINGS = ("Column", "Unmasked cells", "Information kept")
SENSITIVE_EXPLAINED = (
    "Distinct values: number in the crowd with the fewest. By entropy: the number of equally "
    "common values that would be as hard to guess, in the worst crowd. Distance: how far the "
    "values of a crowd are from those of the whole table, from 0 (the same) to 1, in the worst "
    "crowd."
)


WHEN_NEW = ("equivalence classes", "even seats")  # true of new rows; withdrawals may end it
BEFORE_PROMISES = ("compatible crowds", "matchable crowds", "truthful rows")  # of old manifests


def promise_of(manifest: Manifest) -> Sequence[str]:
    """Names of the findings that the release promises; of a version, for all its rows."""
    promise: Sequence[str] = manifest["privacy"].get("promise", BEFORE_PROMISES)
    return [name for name in promise if "series" not in manifest or name not in WHEN_NEW]


def describe_subjects(manifest: Manifest) -> str:
    """What has a published row each: people, or rows of the source if a person may have several."""
    several = manifest.get("rows_are_people") or count_owners(manifest) is not None
    return "source rows" if several else "people"


def count_owners(manifest: Manifest) -> int | None:
    """People who own the records, where the plan says which records are of one person."""
    people: int | None = manifest["privacy"].get("people")
    return people


def describe_demand(manifest: Manifest) -> str:
    """The demanded levels, as `k = 10 for everyone` or `k from 5 to 100`."""
    if manifest.get("rows_are_people"):
        return describe_levels(manifest, "every source row", "row")
    return describe_levels(manifest, "everyone", "person")


def privacy_facts(manifest: Manifest) -> list[Fact]:
    """Counts of people and crowds; protection beyond the promise if it was measured."""
    privacy = manifest["privacy"]
    facts = [
        Fact(
            describe_subjects(manifest).capitalize(),
            count(privacy["records"]),
            "a published row for each",
        ),
        Fact("Smallest demand", count(privacy["k_min"]), "smallest k of any person"),
        Fact("Largest demand", count(privacy["k_max"]), "largest k of any person"),
        Fact(
            "Smallest margin",
            count(privacy.get("compatible_min_margin")),
            "fewest rows beyond k that fit any person",
        ),
    ]
    return facts + _protection_facts(manifest.get("protection"))


def _protection_facts(protection: Mapping[str, Any] | None) -> list[Fact]:
    if not protection:
        return []
    beyond = protection.get("over_protection", {})
    classes = protection.get("equivalence_classes", {})
    return [
        Fact(
            "Over-protection",
            count(beyond.get("median")),
            "matchable rows beyond k for the median person",
        ),
        Fact(
            "Unique records",
            count(protection.get("unique_records")),
            "records whose quasi-identifiers, grouped as in the plan, no other has",
        ),
        Fact(
            "Rows left out",
            count(protection.get("rows_left_out")),
            "source rows that the rules of the plan leave out",
        ),
        Fact(
            "Identical rows",
            count(classes.get("k")),
            "size of the smallest group of rows with the same text (k of an equivalence class)",
        ),
    ]


def sensitive_in_crowds(manifest: Manifest) -> list[CrowdDiversity]:
    """Diversity and distance of each sensitive column, in the worst crowds."""
    return [
        CrowdDiversity(
            printable(name),
            count(crowd.get("distinct")),
            digits(crowd.get("effective")),
            digits(crowd.get("distance")),
        )
        for name, crowd in manifest.get("protection", {}).get("sensitive", {}).items()
    ]


def compute_kept_information(manifest: Manifest) -> float:
    """Share of the information that the quasi-identifiers keep; nan if it is not stated."""
    return _compute_kept_share(manifest["utility"].get("gcp"))


def compute_kept_in_all_rows(manifest: Manifest) -> float:
    """The same for all rows of a version, where the release is one."""
    section = manifest.get("series")
    return (
        compute_kept_information(manifest)
        if section is None
        else _compute_kept_share(section.get("gcp"))
    )


def utility_facts(manifest: Manifest) -> list[Fact]:
    """Numbers about the information that the release keeps."""
    measured = manifest["utility"]
    return [
        Fact(
            "Information kept",
            percent(compute_kept_information(manifest)),
            "100 % = every cell unmasked, 0 % = every cell hidden",
        ),
        Fact(
            "Unmasked cells",
            percent(measured.get("cells_exact")),
            "quasi-identifier cells that show one value, or one group of numbers",
        ),
        *(
            [Fact("Exact cells", percent(exact), "quasi-identifier cells that show one value")]
            if is_number(exact := measured.get("cells_of_one_value"))
            else []
        ),
        Fact(
            "Mean loss (GCP)",
            percent(measured.get("gcp")),
            "information lost, as the literature counts it",
        ),
        *_by_width(measured.get("gcp_by_width")),
        Fact(
            "Utility",
            utility(measured.get("suppression")),
            "share of all coded bits that stay visible (1 = nothing hidden)",
        ),
        Fact(
            "Features",
            count(measured.get("features")),
            "bits that code the quasi-identifiers of a person",
        ),
    ]


def _by_width(width: Any) -> list[Fact]:
    """What is lost by width; nothing where an older release does not state it."""
    told = "sum over all cells: an interval loses its width, in parts of its column"
    return [Fact("Cells lost by width", digits(width), told)] if is_number(width) else []


def columns(manifest: Manifest) -> list[ColumnKept]:
    """The quasi-identifiers; the one that lost most comes first."""
    kept = [
        ColumnKept(
            printable(name),
            _convert_to_float(entry.get("exact")),
            _compute_kept_share(entry.get("ncp")),
        )
        for name, entry in manifest["utility"].get("per_column", {}).items()
    ]
    return sorted(kept, key=lambda column: column.kept if is_number(column.kept) else 0.0)


def list_columns_carried_as(manifest: Manifest, form: str) -> list[str]:
    """The columns of grouped numbers that are written as "bounds", or as "median"."""
    columns = manifest["utility"].get("per_column", {}).items()
    return [printable(name) for name, entry in columns if entry.get("carry") == form]


def shows_medians(manifest: Manifest) -> bool:
    """Whether numbers of some column are medians of groups; 0.1.0 wrote nothing else."""
    before = "cells_of_one_value" not in manifest["utility"]
    return before or bool(list_columns_carried_as(manifest, "median"))


def column_shares(manifest: Manifest) -> list[tuple[str, Share, Share]]:
    """Rows for `COLUMN_HEADINGS`, with shares that the terminal draws."""
    return [
        (column.name, Share(column.exact, "yellow"), Share(column.kept, "cyan"))
        for column in columns(manifest)
    ]


def _compute_kept_share(loss: Any) -> float:
    return 1 - float(loss) if is_number(loss) else math.nan


def _convert_to_float(number: Any) -> float:
    return float(number) if is_number(number) else math.nan


def column_rows(manifest: Manifest) -> list[tuple[str, str, str]]:
    """Rows for `COLUMN_HEADINGS` as text."""
    return [
        (column.name, percent(column.exact), percent(column.kept)) for column in columns(manifest)
    ]
