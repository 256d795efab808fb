"""What an audit of a table finds, by name: the one source of these sentences and labels.

The audit on the command line, the report, the verdict page and the artifacts in Prefect use them.
"""

from collections.abc import Sequence

from kinds.table.report.facts import describe_subjects, promise_of
from kinds.table.report.series_words import FINDINGS as OF_VERSIONS
from reports import series
from reports.facts import Manifest
from reports.findings import SHARED
from reports.quantities import count, is_number
from reports.verdict import protects_nobody
from reports.words import Check, CheckText

COMPATIBLE, MATCHABLE, TRUTHFUL = "compatible crowds", "matchable crowds", "truthful rows"
CLASSES, EVEN = "equivalence classes", "even seats"

FINDINGS = {
    "readable files": "Every data file exists and can be read.",
    "same table in every format": "All formats contain the same table.",
    "codebook of the source": "The published codebook is the one computed from the source.",
    "no other column": "Key, quasi-identifiers, sensitive and kept columns are the only columns.",
    "types of the columns": "Each column of data.parquet has its own type.",
    "no traces in the files": "Headers and footers of the files reveal nothing beside the rows.",
    "rows ordered by key": "The rows are in the order of their random keys.",
    "keys of 16 hexadecimal digits": "Every key is 16 hexadecimal digits.",
    "order tells nothing": "A guess by the source's order is right no more often than chance "
    "explains.",
    "one row a record": "There are as many rows as records that the plan keeps, and every key "
    "occurs once. In a series, no record has two rows, and no row passes to another record.",
    "known keys": "Every record that the plan keeps has one row.",
    "levels of enough people": "Each group of numbers is held by enough people, and no group is "
    "cut at the value of fewer.",
    "readable cells": "Every published cell can be read with the codebook.",
    TRUTHFUL: "Every row is true of its person: masked values are less exact.",
    "missing values hidden": "No cell says that a value is missing where the plan hides that.",
    COMPATIBLE: "Every person has at least as many rows that fit as demanded.",
    MATCHABLE: "Every person has at least as many matchable rows as demanded: with each of them, "
    "everyone else can still get a row that fits.",
    "crowds of people": "The rows of a crowd are of as many people as demanded.",
    EVEN: "When it was drawn by lot who sits where, no person had a chance above 1/k of any row.",
    CLASSES: "Every row has the same text as at least as many rows as its person demands.",
}
ALL = {**FINDINGS, **OF_VERSIONS, "crowds": "Crowds can be counted.", **SHARED}
CHECKS_BETWEEN_STAGES = {
    "ingested": CheckText(
        "The table as it was read",
        "Before coding: the columns are those that the plan names, no identifier is among them, "
        "and their values are of the kind that the plan states.",
    ),
    "binarized": CheckText(
        "The coded records",
        "Before the anonymizer runs: the bits of every record decode to a level of each column, "
        "and a table of this size can meet every demand.",
    ),
    "audited": CheckText(
        "The guarantees",
        "The auditor recomputes them from the source and from the files to be published. It reads "
        "and counts with code of its own.",
    ),
    "released": CheckText(
        "The rows to be published",
        "The audited rows, checked again one by one: keys, cells, crowds and truth.",
    ),
}


def list_promise_counts(manifest: Manifest) -> dict[str, tuple[str, str]]:
    """For each promised finding with a count: its key in the manifest, and what is counted."""
    whom = describe_subjects(manifest).capitalize()
    by_lot = ", by the lot" if "people" in manifest["privacy"] or "mixed" in manifest else ""
    labels = {
        COMPATIBLE: ("below_k", f"{whom} with too few rows that fit"),
        MATCHABLE: ("matchable_below_k", f"{whom} with too few matchable rows"),
        EVEN: ("likelier_than_k", f"{whom} with a row likelier than 1 in k{by_lot}"),
        CLASSES: ("classes_below_k", f"{whom} whose row has too few identical rows"),
        TRUTHFUL: ("untruthful_rows", "Published rows untrue of their person"),
    }
    promise, told = promise_of(manifest), series.briefly_new(manifest)
    return {
        finding: (key, f"{label}, {told}" if told else label)
        for finding, (key, label) in labels.items()
        if finding in promise
    }


def list_promise_checks(manifest: Manifest) -> Sequence[Check]:
    """The counts on which the promise depends; each must be 0."""
    privacy, empty = manifest["privacy"], protects_nobody(manifest)
    listed = [
        none_of(privacy.get(key), what)._replace(empty=empty and finding != TRUTHFUL)
        for finding, (key, what) in list_promise_counts(manifest).items()
    ]
    if (other := manifest.get("second_release")) is not None:
        whom = describe_subjects(manifest).capitalize()
        what = f"{whom} with too few rows left once releases are compared"
        listed.append(none_of(other.get("below_k"), what))
    return listed


def none_of(number: object, what: str) -> Check:
    """A check that a count is 0; a missing count fails."""
    return Check(what, "0", count(number), is_number(number) and number == 0)
