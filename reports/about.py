"""What the plan says of the source and of the release: population, date, recipient, contact."""

from reports.facts import Fact, Manifest
from reports.quantities import printable

HEADING = "What the plan says about this release"
COLUMN_HEADINGS = ("Column", "Role", "What the release shows")
UNSTATED = "not stated in the plan"
LABELS = {
    "title": ("Title", "what catalogues call the release"),
    "publisher": ("Publisher", "who publishes it"),
    "licence": ("Licence", "of the published rows"),
    "population": ("Population", "whom the source is about"),
    "as_of": ("Date of the source", "when its data was taken"),
    "recipient": (
        "Assumed recipient",
        "whom the plan has in mind; this keeps nobody else from reading the release",
    ),
    "contact": ("Who answers questions", "about this release"),
    "answers_until": ("Until when", "the last day on which questions are answered"),
}


def list_stated_entries(manifest: Manifest) -> list[Fact]:
    """Every entry; one that the plan leaves out says so."""
    about = manifest.get("about", {})
    return [
        Fact(label, printable(about[key]) if about.get(key) else UNSTATED, meaning)
        for key, (label, meaning) in LABELS.items()
    ]
