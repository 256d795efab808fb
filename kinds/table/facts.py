"""Numbers of a released table with their meaning, read from the manifest alone."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from reports.facts import Fact, Manifest
from reports.quantities import count, digits, known, percent, printable, utility
from reports.words import Share


class CrowdDiversity(NamedTuple):
    """What the worst crowds tell of one sensitive column, in words for a table."""

    name: str
    distinct: str
    effective: str
    distance: str


class ColumnKept(NamedTuple):
    """What masking left of one quasi-identifier."""

    name: str
    exact: float
    kept: float


CROWDS, SENSITIVE = "Crowds in numbers", "What the worst crowd tells"
UTILITY, COLUMNS = "Information in numbers", "Columns, the most masked first"
SENSITIVE_HEADINGS = ("Sensitive column", "Distinct values", "By entropy", "Distance (t)")
COLUMN_HEADINGS = ("Column", "Exact cells", "Information kept")
SENSITIVE_EXPLAINED = (
    "Distinct values: in the crowd that has fewest. By entropy: where some values are commoner than "
    "others, how many equally common ones they are worth. Distance: how far a crowd's values are "
    "from those of the whole table, from 0 (as everywhere) to 1."
)


def demand(manifest: Manifest) -> str:
    """The demanded levels, as `k = 10 for everyone` or `k from 5 to 100`."""
    low, high = manifest["privacy"]["k_min"], manifest["privacy"]["k_max"]
    if low == high:
        return f"k = {count(low)} for everyone"
    return f"k from {count(low)} to {count(high)}, each person's own"


def privacy_facts(manifest: Manifest) -> list[Fact]:
    """Who is protected, and how tightly; what is measured beside the promise only where it was measured."""
    privacy = manifest["privacy"]
    facts = [
        Fact("People", count(privacy["records"]), "one published row each"),
        Fact("Smallest demand", count(privacy["k_min"]), "lowest k of any person"),
        Fact("Largest demand", count(privacy["k_max"]), "highest k of any person"),
        Fact(
            "Smallest margin",
            count(privacy.get("compatible_min_margin")),
            "rows that the tightest crowd has beyond its k",
        ),
    ]
    return facts + _protection_facts(manifest.get("protection"))


def _protection_facts(found: Mapping[str, Any] | None) -> list[Fact]:
    if not found:
        return []
    beyond, alike = found.get("over_protection", {}), found.get("equivalence_classes", {})
    return [
        Fact(
            "Over-protection",
            count(beyond.get("median")),
            "matchable rows beyond k, for the median person",
        ),
        Fact(
            "Unique people",
            count(found.get("unique_records")),
            "alone in the source with their combination of quasi-identifiers",
        ),
        Fact(
            "Rows left out",
            count(found.get("rows_left_out")),
            "source rows that the plan's rules leave out",
        ),
        Fact(
            "Rows written alike",
            count(alike.get("k")),
            "fewest rows with the same text: k in the strict sense, not promised",
        ),
    ]


def sensitive_in_crowds(manifest: Manifest) -> list[CrowdDiversity]:
    """The least diverse crowd of each sensitive column, and the one farthest from the whole table."""
    return [
        CrowdDiversity(
            printable(name),
            count(found.get("distinct")),
            digits(found.get("effective")),
            digits(found.get("distance")),
        )
        for name, found in manifest.get("protection", {}).get("sensitive", {}).items()
    ]


def kept_information(manifest: Manifest) -> float:
    """The share of the information that masking left, over all quasi-identifiers; nan where it is not stated."""
    return _kept(manifest["utility"].get("gcp"))


def utility_facts(manifest: Manifest) -> list[Fact]:
    """What is left of the data after masking."""
    found = manifest["utility"]
    return [
        Fact(
            "Information kept",
            percent(kept_information(manifest)),
            "100 % = every cell exact, 0 % = every cell all hidden",
        ),
        Fact(
            "Exact cells",
            percent(found.get("cells_exact")),
            "quasi-identifier cells published unmasked",
        ),
        Fact(
            "Mean loss (GCP)",
            percent(found.get("gcp")),
            "the rest of the information, as the literature counts it",
        ),
        Fact(
            "Utility",
            utility(found.get("suppression")),
            "share of all bits that stay visible (1 = nothing hidden)",
        ),
        Fact(
            "Features",
            count(found.get("features")),
            "bits in which each person's quasi-identifiers are coded",
        ),
    ]


def columns(manifest: Manifest) -> list[ColumnKept]:
    """The quasi-identifiers, the one that lost most first."""
    kept = [
        ColumnKept(printable(name), _share(entry.get("exact")), _kept(entry.get("ncp")))
        for name, entry in manifest["utility"].get("per_column", {}).items()
    ]
    return sorted(kept, key=lambda column: column.kept if known(column.kept) else 0.0)


def column_shares(manifest: Manifest) -> list[tuple[str, Share, Share]]:
    """The columns under `COLUMN_HEADINGS`."""
    return [
        (column.name, Share(column.exact, "yellow"), Share(column.kept, "cyan"))
        for column in columns(manifest)
    ]


def _kept(loss: Any) -> float:
    return 1 - float(loss) if known(loss) else math.nan


def _share(found: Any) -> float:
    return float(found) if known(found) else math.nan


def column_rows(manifest: Manifest) -> list[tuple[str, str, str]]:
    """The same as text."""
    return [
        (column.name, percent(column.exact), percent(column.kept)) for column in columns(manifest)
    ]
