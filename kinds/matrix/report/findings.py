"""What an audit of a matrix finds, by name: the one source of these sentences and labels."""

from collections.abc import Sequence

from reports.facts import Manifest
from reports.findings import SHARED
from reports.quantities import count, is_number
from reports.verdict import protects_nobody
from reports.words import Check, CheckText

CLASSES, MAJORITY = "equivalence classes", "smooth majority"

FINDINGS = {
    "readable files": "Every data file exists and can be read.",
    "same table in every format": "All formats contain the same rows.",
    "no other column": "A key and a list of items are the only columns.",
    "no traces in the files": "Headers, footers and the spelling of numbers reveal nothing beside "
    "the rows.",
    "rows ordered by key": "The rows are in the order of their random keys.",
    "keys of 16 hexadecimal digits": "Every key is 16 hexadecimal digits.",
    "order tells nothing": "A guess by the source's order is right no more often than chance "
    "explains.",
    "one row a record": "There are as many rows as users, empty rows included, and every key "
    "occurs once.",
    "known keys": "Every user has a row, which is no other user's.",
    "readable items": "Every item of a row is in the codebook, and occurs once in its row.",
    "codebook of the source": "The codebook names exactly the items that some row has, in the "
    "order of their names, or of fresh keys where items are people, and says nothing else.",
    CLASSES: "Every row, the empty one included, equals at least as many rows as its user demands.",
    MAJORITY: "Every item of a row is true for at least half of the users with this row.",
}
ALL = {**FINDINGS, **SHARED}
CHECKS_BETWEEN_STAGES = {
    "ingested": CheckText(
        "The entries as they were read",
        "Before numbering: every entry has a user and an item, none occurs twice, and the names of "
        "the users are gone.",
    ),
    "encoded": CheckText(
        "The sparse matrix",
        "Before the anonymizer runs: the items of each user are ascending numbers in range, and a "
        "matrix of this size can meet every demand.",
    ),
    "audited": CheckText(
        "The guarantees",
        "The auditor recomputes them from the source and from the files to be published. It "
        "counts with code of its own.",
    ),
    "released": CheckText(
        "The rows to be published",
        "The audited rows, checked again one by one: keys, classes and majorities.",
    ),
}
COUNTED = {
    CLASSES: ("classes_below_k", "Users whose row equals too few rows"),
    MAJORITY: ("minorities", "Items of classes that most of the class lack"),
}


def promise_of(manifest: Manifest) -> Sequence[str]:
    """Names of the findings that the release promises."""
    promise: Sequence[str] = manifest["privacy"]["promise"]
    return promise


def list_promise_checks(manifest: Manifest) -> Sequence[Check]:
    """The counts on which the promise depends; each must be 0."""
    privacy, empty = manifest["privacy"], protects_nobody(manifest)
    return [
        Check(
            what,
            "0",
            count(privacy.get(key)),
            is_number(privacy.get(key)) and privacy[key] == 0,
            empty and finding == CLASSES,
        )
        for finding, (key, what) in COUNTED.items()
        if finding in promise_of(manifest)
    ]
