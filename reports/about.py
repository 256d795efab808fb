"""What the plan says of the source and of the release: population, date, recipient, contact."""

from crowdcover.reports.facts import Fact, Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import printable

_MESSAGES = load_messages("crowdcover.reports")
HEADING = _MESSAGES.say("headings", "about")
COLUMN_HEADINGS = _MESSAGES.list_headings("headings", "column")


def list_stated_entries(manifest: Manifest) -> list[Fact]:
    """The entries that the plan states."""
    about = manifest.get("about", {})
    return [
        Fact(label, printable(about[key]), meaning)
        for key, label, meaning in _MESSAGES.list_lines("about", "entries")
        if about.get(key)
    ]


def find_title(manifest: Manifest) -> str:
    """The title of the release; empty where the plan states none."""
    return printable(manifest.get("about", {}).get("title") or "")


def describe_unstated(manifest: Manifest) -> str:
    """The entries that the plan leaves out, in one sentence; empty where it states all."""
    about = manifest.get("about", {})
    entries = _MESSAGES.list_lines("about", "entries")
    missing = [f"{label[:1].lower()}{label[1:]}" for key, label, _ in entries if not about.get(key)]
    return _MESSAGES.say("about", "unstated", missing=missing) if missing else ""
