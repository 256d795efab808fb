"""What a released matrix promises and what it does not, in plain words."""

from collections.abc import Mapping, Sequence

from kinds.matrix.report.findings import CLASSES, MAJORITY, promise_of
from reports.facts import Manifest, describe_levels
from reports.quantities import count, percent
from reports.verdict import protects_nobody
from reports.words import Text

PROMISED: Mapping[str, Sequence[Text]] = {
    CLASSES: (
        (
            "Equal rows.",
            "Each released row equals at least k - 1 others: the same items, no more and no fewer. "
            "That holds for the empty row, too.",
        ),
        (
            "One in k.",
            "Which of these rows is whose was drawn by lot. Someone who knows all items of all "
            "users, and even which users share a row, names a user's row with a chance of at most "
            "1 in k. These rows differ by their random keys only.",
        ),
    ),
    MAJORITY: (
        (
            "Mostly true items.",
            "Every released item is true for at least half of its class, the users with equal "
            "rows.",
        ),
    ),
}
NOT_PROMISED: Sequence[tuple[str, Text]] = (
    (
        "truthful rows",
        (
            "True rows.",
            "Some entries are false: a row may show an item that its user does not have. Absences "
            "may be false: an item that a row lacks may be one that its user has.",
        ),
    ),
    (
        "deniability",
        (
            "Deniability.",
            "An item that every user of a class has is true for all of them. Someone who knows who "
            "is in the class knows this item of each. The section on attacks counts such entries.",
        ),
    ),
    (
        "differential privacy",
        (
            "Differential privacy.",
            "False entries come from groups of users, not from random noise.",
        ),
    ),
    (
        "series",
        (
            "Protection across releases.",
            "Another release of the same users can be compared with this one.",
        ),
    ),
)
AS_ITEMS: Text = (
    "Protection of people as items.",
    "Items are people here, under fresh keys. The promise is about their rows. Someone who knows "
    "how many or which users have a person as an item may find the person's key among the items.",
)
EVERY_RECORD = "k = 1: the plan demands no other row"


def describe_no_change(manifest: Manifest) -> str:
    """That no entry was left out or added; empty where one was."""
    utility = manifest["utility"]
    if utility["jaccard"] != 1:  # rounded down
        return ""
    why = (
        "" if protects_nobody(manifest) else " Enough users have equal rows in the source already."
    )
    return (
        f"Nothing was hidden: all {count(utility['entries'])} entries of the source "
        f"are released, and no other.{why}"
    )


def describe_promise(manifest: Manifest) -> str:
    """The promise as a paragraph; it ends with how many entries are false."""
    privacy = manifest["privacy"]
    if protects_nobody(manifest):
        return (
            f"The plan demands no equal row for any of the {count(privacy['records'])} users in "
            f"this release: {EVERY_RECORD}. Someone who knows a user's items may find the row."
        )
    but = ""
    if privacy["k_min"] < 2:
        number = privacy["unprotected"]
        but = f" {count(number)} of these users are not protected: {EVERY_RECORD} for them."
    rows = "Each released row equals at least k - 1 others"
    majority = (
        " Every released item is true for at least half of its class; some entries are false and "
        "absences may be false."
        if MAJORITY in promise_of(manifest)
        else ""
    )
    return (
        f"This release has a row for each of {count(privacy['records'])} users. "
        f"{rows} ({describe_demand(manifest)}).{but}{majority} {false_entries(manifest)}"
    )


def describe_demand(manifest: Manifest) -> str:
    """The demanded levels, as `k = 10 for everyone` or `k from 5 to 100`."""
    return describe_levels(manifest, "everyone", "user")


def false_entries(manifest: Manifest) -> str:
    """How many released entries are false, and how many of the source's are missing."""
    utility = manifest["utility"]
    return (
        f"Up to {percent(utility['false'])} of the {count(utility['entries_released'])} released "
        f"entries are false, and up to {percent(utility['suppressed'])} of the "
        f"{count(utility['entries'])} entries of the source are missing."
    )


def list_promise_points(manifest: Manifest) -> Sequence[Text]:
    """The points of the promise, one or more for each of its findings."""
    return [text for finding in promise_of(manifest) for text in PROMISED.get(finding, ())]


def not_promised(manifest: Manifest) -> Sequence[Text]:
    """The points that no finding of the promise covers."""
    texts = [text for finding, text in NOT_PROMISED if finding not in promise_of(manifest)]
    return [*texts, AS_ITEMS] if manifest.get("keyed") else texts


def not_promised_short(manifest: Manifest) -> str:
    """The points of `not_promised` in a sentence."""
    findings = promise_of(manifest)
    short = {
        "truthful rows": "that each entry is true and each absence is one",
        "deniability": "deniability of items that a whole class has",
        "differential privacy": "differential privacy",
    }
    return f"Not promised: {', '.join(w for name, w in short.items() if name not in findings)}."
