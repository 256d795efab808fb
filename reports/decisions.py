"""What only a person can decide about a release, from what its manifest states."""

from collections.abc import Iterator
from typing import NamedTuple

from crowdcover.reports import about
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import printable

_MESSAGES = load_messages("crowdcover.reports")
HEADING = _MESSAGES.say("decisions", "heading")
_UNMASKED = ("sensitive", "keep")
_MOST_COLUMNS = 4  # named in the sentence; the report lists all


class Decision(NamedTuple):
    """A sentence, and the section of the report to read before; empty where there is none."""

    text: str
    section: str


def list_decisions(manifest: Manifest) -> list[Decision]:
    """Open columns and recipients; and what the plan does not say of the release."""
    return [Decision(text, section) for text, section in _list_points(manifest) if text]


def _list_points(manifest: Manifest) -> Iterator[tuple[str, str]]:
    yield _describe_open_columns(manifest), "columns"
    recipient = printable(manifest.get("about", {}).get("recipient") or "")
    yield _MESSAGES.say("decisions", "recipient", recipient=recipient), "risks"
    yield about.describe_unstated(manifest), ""


def _describe_open_columns(manifest: Manifest) -> str:
    """The columns that are published as they are; empty where there is none."""
    columns = manifest.get("columns", {}).items()
    names = [printable(name) for name, each in columns if each.get("role") in _UNMASKED]
    if not names:
        return ""
    shown = names[: _MOST_COLUMNS if len(names) > _MOST_COLUMNS + 1 else None]
    return _MESSAGES.say("decisions", "columns", names=shown, more=len(names) - len(shown))
