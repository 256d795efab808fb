"""The 18 identifiers of the HIPAA safe harbor, as a checklist for a person to answer.

45 CFR 164.514(b)(2)(i)(A) to (R). Nothing here is checked: what a column holds, only a person
knows. Beside two items stands what the plan shows about them.
"""

from typing import NamedTuple

from reports.facts import Manifest
from reports.quantities import printable

HEADING = "HIPAA identifiers: a checklist for a person"
RULE = "45 CFR 164.514(b)(2)(i)"
INTRODUCTION = (
    "This is an empty checklist, not a result: crowdcover has checked none of it. It is of use if "
    "the release holds health data and the law of the United States applies. There, the safe "
    f"harbor of {RULE} lists 18 kinds of identifiers to remove: those of the person, and those of "
    "relatives, employers and household members. A person who knows the data goes through the "
    "published columns and answers each line."
)
AFTERWARDS = (
    "The rule also demands that the publisher knows of no way to identify a person with what is "
    "left: (b)(2)(ii). A masked column still counts as published. A release that the safe harbor "
    "does not cover may be covered by an expert's determination: (b)(1)."
)
IDENTIFIERS = (
    ("A", "Names"),
    (
        "B",
        "Places smaller than a state: street address, city, county, precinct, ZIP code and the "
        "like. The first three digits of a ZIP code may stay if more than 20,000 people live in "
        "all ZIP codes that begin with them; else they become 000",
    ),
    (
        "C",
        "Dates of a person, all but the year: birth, admission, discharge, death. Ages over 89, "
        "and dates that tell them; one category of 90 or older may stay",
    ),
    ("D", "Telephone numbers"),
    ("E", "Fax numbers"),
    ("F", "Electronic mail addresses"),
    ("G", "Social security numbers"),
    ("H", "Medical record numbers"),
    ("I", "Health plan beneficiary numbers"),
    ("J", "Account numbers"),
    ("K", "Certificate and license numbers"),
    ("L", "Vehicle identifiers and serial numbers, license plates too"),
    ("M", "Device identifiers and serial numbers"),
    ("N", "Web addresses (URLs)"),
    ("O", "Internet addresses (IP)"),
    ("P", "Biometric identifiers, such as finger and voice prints"),
    ("Q", "Full face photographs and the like"),
    ("R", "Any other unique number, characteristic or code"),
)
PUBLISHED = ("quasi", "sensitive", "keep")


class Item(NamedTuple):
    """A line of the checklist; `shown` is what the plan shows about it, or empty."""

    letter: str
    identifier: str
    shown: str


def build_checklist(manifest: Manifest) -> list[Item]:
    """All 18 items; none of them is answered."""
    shown = {"C": _describe_dates(manifest), "R": _describe_keys(manifest)}
    return [Item(letter, text, shown.get(letter, "")) for letter, text in IDENTIFIERS]


def list_published_columns(manifest: Manifest) -> str:
    """Names of the published columns, as far as the manifest states them."""
    names = [name for name, each in _columns_of(manifest).items() if each.get("role") in PUBLISHED]
    return ", ".join(printable(name) for name in names)


def _describe_dates(manifest: Manifest) -> str:
    dates = [
        printable(name)
        for name, each in _columns_of(manifest).items()
        if each.get("role") in PUBLISHED and each.get("kind") == "date"
    ]
    return f"published as dates: {', '.join(dates)}" if dates else ""


def _describe_keys(manifest: Manifest) -> str:
    """The random keys that every kind of release gives its rows; (c) of the rule is about it."""
    stated = _columns_of(manifest)
    return "rows have random keys; paragraph (c) is about such codes" if stated else ""


def _columns_of(manifest: Manifest) -> Manifest:
    columns: Manifest = manifest.get("columns", {})
    return columns
