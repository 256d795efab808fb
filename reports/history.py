"""Approval of a release, and its comparison with earlier releases."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reports.facts import Fact, Manifest
from reports.quantities import NOT_STATED, count, digits, is_number, moment, printable

SECOND_RELEASE_FACTS = {
    "overlapping": ("Earlier releases", "releases that share people with this one"),
    "people": ("People in both", "people of this release who are in an earlier one too"),
    "below_k": (
        "People below their k",
        "people with fewer than k rows left once the releases are compared",
    ),
    "least_margin": (
        "Smallest margin",
        "fewest rows beyond k that any person keeps once the releases are compared",
    ),
}
DRIFT_FACTS = {
    "compared_with": ("Compared with", "the last release before this one"),
    "rows_before": ("Rows before", "rows in the source of that release"),
    "rows": ("Rows now", "rows in the source of this release"),
    "columns": ("Columns compared", "quasi-identifiers that both releases have"),
    "new_categories": ("New categories", "values that the earlier source did not have"),
    "gone_categories": ("Missing categories", "values that only the earlier source has"),
    "shift": ("Greatest shift", "how far a column's values moved: 0 = not at all, 1 = all"),
    "other_types": ("Changed types", "columns whose values have another type than before"),
    "utility_before": ("Utility before", "utility of that release"),
    "accepted": ("Accepted", "changes that a person accepted for this release, and why"),
}
# Of a version: its source is compared with that of the version before, and all rows count.
OF_VERSIONS = {
    **DRIFT_FACTS,
    "compared_with": ("Compared with", "the version before this one"),
    "rows_before": ("Rows before", "rows in the source of that version"),
    "rows": ("Rows now", "rows in the source of this version, published or not"),
    "utility_before": ("Information kept before", "by all rows of that version, as a share"),
}


AUTHENTICATED = {
    "signature": "an Ed25519 signature with the key that the plan registers for {}",
    "operating system": "the operating system: the account {}",
    "not authenticated": "nobody: the name was typed in a form that asked for no proof",
}


class Part(NamedTuple):
    """Facts under a heading, and the sentence to show if there are none."""

    heading: str
    facts: Sequence[Fact]
    otherwise: str


def list_history_parts(manifest: Manifest) -> list[Part]:
    """Approval, earlier releases and changes, as the manifest records them."""
    return [
        Part(
            "Approval",
            _describe_approval(manifest),
            "No approval is recorded: the plan required none, or nobody had approved yet.",
        ),
        Part(
            "Earlier releases of the same people",
            _explain_entries(manifest.get("second_release"), SECOND_RELEASE_FACTS),
            "No earlier release that shares people with this one is recorded.",
        ),
        Part(
            "Changes since the last release",
            _explain_entries(
                manifest.get("drift"), OF_VERSIONS if "series" in manifest else DRIFT_FACTS
            ),
            "No comparison with an earlier release is recorded.",
        ),
    ]


def _describe_approval(manifest: Manifest) -> list[Fact]:
    """Name, time and note, how the person is known, and who asked; empty if none is recorded."""
    approval = manifest.get("approval")
    if not approval:
        return []
    told = [
        Fact("Approved by", printable(approval["by"]) if approval.get("by") else NOT_STATED),
        Fact("When", moment(approval.get("at"))),
        Fact("Note", printable(approval["note"]) if approval.get("note") else "none"),
    ]
    if how := approval.get("authenticated"):
        known = AUTHENTICATED.get(how, printable(how))
        told.append(Fact("Known by", known.format(printable(approval.get("identity") or ""))))
    if asked := approval.get("requested_by"):
        systems = (f"{printable(name)} ({printable(system)})" for system, name in asked.items())
        told.append(Fact("Asked for by", ", ".join(systems)))
    return told


def approval_lacks(manifest: Manifest) -> bool:
    """Whether the plan required an approval, but none is recorded."""
    approval = manifest.get("approval") or {}
    return bool(approval.get("required")) and not approval.get("by")


def _explain_entries(
    section: Mapping[str, Any] | None, names: Mapping[str, tuple[str, str]]
) -> list[Fact]:
    """The entries of a section: known names first, in their order; others under their own."""
    if not section:
        return []
    expected = [
        Fact(label, _print_entry(section[key]), meaning)
        for key, (label, meaning) in names.items()
        if key in section
    ]
    return expected + [
        Fact(_label_of(key), _print_entry(value))
        for key, value in section.items()
        if key not in names
    ]


def _label_of(key: Any) -> str:
    text = printable(key).replace("_", " ")
    return text[:1].upper() + text[1:]


def _print_entry(value: Any) -> str:
    """Any entry of a manifest as printable text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return printable(value) or "none"
    if isinstance(value, Mapping):
        return (
            "; ".join(f"{printable(name)}: {_print_entry(entry)}" for name, entry in value.items())
            or "none"
        )
    if isinstance(value, Sequence):
        return ", ".join(_print_entry(entry) for entry in value) or "none"
    if not is_number(value):
        return NOT_STATED
    return count(value) if value == int(value) else digits(value)
