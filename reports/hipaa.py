"""The 18 identifiers of the HIPAA safe harbor, as a checklist for a person to answer.

45 CFR 164.514(b)(2)(i)(A) to (R). Nothing here is checked: what a column holds, only a person
knows. Beside two items stands what the plan shows about them.
"""

from typing import NamedTuple

from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import printable

_MESSAGES = load_messages("crowdcover.reports")
HEADING, RULE, INTRODUCTION, AFTERWARDS = (
    _MESSAGES.say("hipaa", name) for name in ("heading", "rule", "introduction", "afterwards")
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
    identifiers = _MESSAGES.list_texts("hipaa_identifiers")
    return [Item(letter, text, shown.get(letter, "")) for letter, text in identifiers]


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
    return _MESSAGES.say("hipaa", "dates", dates=dates) if dates else ""


def _describe_keys(manifest: Manifest) -> str:
    """The random keys that every kind of release gives its rows; (c) of the rule is about it."""
    return _MESSAGES.say("hipaa", "keys") if _columns_of(manifest) else ""


def _columns_of(manifest: Manifest) -> Manifest:
    columns: Manifest = manifest.get("columns", {})
    return columns
