"""What the plan says of the source and of the release: population, date, recipient, contact."""

from crowdcover.reports.facts import Fact, Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import printable

_MESSAGES = load_messages("crowdcover.reports")
HEADING = _MESSAGES.say("headings", "about")
COLUMN_HEADINGS = _MESSAGES.list_headings("headings", "column")
UNSTATED = _MESSAGES.say("about", "unstated")


def list_stated_entries(manifest: Manifest) -> list[Fact]:
    """Every entry; one that the plan leaves out says so."""
    about = manifest.get("about", {})
    return [
        Fact(label, printable(about[key]) if about.get(key) else UNSTATED, meaning)
        for key, label, meaning in _MESSAGES.list_lines("about", "entries")
    ]
