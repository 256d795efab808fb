"""Labelled numbers of a released table, read from its manifest."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from crowdcover.reports.facts import Manifest, describe_levels, list_facts
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import convert_to_float, count, digits, is_number, printable
from crowdcover.reports.words import Block, ShareCell


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


_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.table")
WHEN_NEW = ("equivalence classes", "even seats")  # true of new rows; withdrawals may end it
BEFORE_PROMISES = ("compatible crowds", "matchable crowds", "truthful rows")  # of old manifests


def promise_of(manifest: Manifest) -> Sequence[str]:
    """Names of the findings that the release promises; of a version, for all its rows."""
    promise: Sequence[str] = manifest["privacy"].get("promise", BEFORE_PROMISES)
    return [name for name in promise if "series" not in manifest or name not in WHEN_NEW]


def describe_subjects(manifest: Manifest) -> str:
    """What has a published row each: people, or rows of the source if a person may have several."""
    several = manifest.get("rows_are_people") or count_owners(manifest) is not None
    return _MESSAGES.say("whom", "rows" if several else "people")


def count_owners(manifest: Manifest) -> int | None:
    """People who own the records, where the plan says which records are of one person."""
    people: int | None = manifest["privacy"].get("people")
    return people


def describe_table_demand(manifest: Manifest) -> str:
    """The demanded levels, as `k = 10 for everyone` or `k from 5 to 100`."""
    if manifest.get("rows_are_people"):
        return describe_levels(
            manifest, _MESSAGES.say("demand", "rows"), _MESSAGES.say("demand", "row")
        )
    return describe_levels(manifest, _MESSAGES.say("demand", "people"), _MESSAGES.terms["one"])


def build_crowd_block(manifest: Manifest) -> Block:
    """Counts of people and crowds; protection beyond the promise if it was measured."""
    privacy, protection = manifest["privacy"], manifest.get("protection")
    facts = list_facts(
        _MESSAGES,
        "facts",
        "crowds",
        whom=describe_subjects(manifest),
        records=privacy["records"],
        k_min=privacy["k_min"],
        k_max=privacy["k_max"],
        margin=privacy.get("compatible_min_margin"),
    )
    if protection:
        facts += list_facts(
            _MESSAGES,
            "facts",
            "protection",
            median=protection.get("over_protection", {}).get("median"),
            unique=protection.get("unique_records"),
            left_out=protection.get("rows_left_out"),
            by_choice=protection.get("left_out_by_choice"),
            identical=protection.get("equivalence_classes", {}).get("k"),
        )
    return Block(_MESSAGES.say("headings", "crowds"), (), facts)


def build_sensitive_block(manifest: Manifest) -> Block:
    """Diversity and distance of each sensitive column, in the worst crowds."""
    headings = _MESSAGES.list_headings("headings", "sensitive_columns")
    return Block(_MESSAGES.say("headings", "sensitive"), headings, sensitive_in_crowds(manifest))


def explain_diversity() -> str:
    """What the numbers of the sensitive columns mean."""
    return _MESSAGES.say("headings", "sensitive_explained")


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
    """The share of information kept, in all rows of a version where the release is one."""
    section = manifest.get("series")
    return (
        compute_kept_information(manifest)
        if section is None
        else _compute_kept_share(section.get("gcp"))
    )


def build_utility_block(manifest: Manifest) -> Block:
    """Numbers about the information that the release keeps; older releases lack some."""
    measured = manifest["utility"]
    exact, width = measured.get("cells_of_one_value"), measured.get("gcp_by_width")
    facts = list_facts(
        _MESSAGES,
        "facts",
        "utility",
        kept=compute_kept_information(manifest),
        unmasked=measured.get("cells_exact"),
        exact=exact if is_number(exact) else None,
        lost=measured.get("gcp"),
        width=width if is_number(width) else None,
        least=_find_telling_bound(measured),
        visible=measured.get("suppression"),
        features=measured.get("features"),
    )
    return Block(_MESSAGES.say("headings", "utility"), (), facts)


def _find_telling_bound(measured: Manifest) -> Manifest | None:
    """What any such release loses at least, where that tells something: see docs/release.md."""
    least, lost = measured.get("least_gcp"), measured.get("gcp")
    if not isinstance(least, dict) or not is_number(lost):
        return None
    if not all(is_number(least.get(name)) for name in ("gcp", "error", "records")):
        return None
    tells = 0 < lost / 3 <= least["gcp"] <= lost and least["error"] <= least["gcp"] / 5
    return least if tells else None


def build_column_block(manifest: Manifest) -> Block:
    """Shares of unmasked cells and of information kept, by column."""
    headings = _MESSAGES.list_headings("headings", "column")
    rows = [
        (column.name, ShareCell(column.exact, "yellow"), ShareCell(column.kept, "cyan"))
        for column in columns(manifest)
    ]
    return Block(_MESSAGES.say("headings", "columns"), headings, rows)


def build_hierarchy_block(manifest: Manifest) -> Block:
    """Share of the cells that show a value, a node of each level, or everything, by column."""
    rows = []
    for name, entry in manifest["utility"].get("per_column", {}).items():
        shown = entry.get("shown")
        if isinstance(shown, dict):
            of_levels = (
                (_MESSAGES.say("hierarchy", "level", level=level), share)
                for level, share in list(shown["levels"].items())[::-1]
            )
            values, sets, whole = (
                (_MESSAGES.say("hierarchy", each), shown.get(each))
                for each in ("values", "sets", "all")
            )
            shares = [values, *of_levels, *[sets] * ("sets" in shown), whole]
            if "lost" in shown:
                shares.append((_MESSAGES.say("hierarchy", "lost"), shown["lost"]))
            rows += [
                (printable(name), what, ShareCell(convert_to_float(share), "yellow"))
                for what, share in shares
            ]
    headings = _MESSAGES.list_headings("headings", "hierarchy_columns")
    return Block(_MESSAGES.say("headings", "hierarchy"), headings, rows)


def columns(manifest: Manifest) -> list[ColumnKept]:
    """The quasi-identifiers; the one that lost most comes first."""
    kept = [
        ColumnKept(
            printable(name),
            convert_to_float(entry.get("exact")),
            _compute_kept_share(entry.get("ncp")),
        )
        for name, entry in manifest["utility"].get("per_column", {}).items()
    ]
    # nan would leave the order undefined: a column without a number comes first.
    return sorted(kept, key=lambda column: column.kept if is_number(column.kept) else 0.0)


def list_columns_carried_as(manifest: Manifest, form: str) -> list[str]:
    """The columns of grouped numbers that are written as "bounds", or as "median"."""
    columns = manifest["utility"].get("per_column", {}).items()
    return [printable(name) for name, entry in columns if entry.get("carry") == form]


def shows_medians(manifest: Manifest) -> bool:
    """Whether numbers of some column are medians of groups; 0.1.0 wrote nothing else."""
    before = "cells_of_one_value" not in manifest["utility"]
    return before or bool(list_columns_carried_as(manifest, "median"))


def shows_nodes(manifest: Manifest) -> bool:
    """Whether masked cells of some column show nodes of a hierarchy."""
    return any(
        stated.get("hierarchy") and stated.get("cells") != "set"
        for stated in manifest.get("columns", {}).values()
    )


def lists_values_of_trees(manifest: Manifest) -> bool:
    """Whether masked cells of some column with a hierarchy list the values of their holders."""
    return any(
        stated.get("hierarchy") and stated.get("cells", "node") != "node"
        for stated in manifest.get("columns", {}).values()
    )


def _compute_kept_share(loss: Any) -> float:
    return 1 - float(loss) if is_number(loss) else math.nan
