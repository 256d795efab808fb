"""Who approved a release, and how it stands to the releases before it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reports.facts import Fact, Manifest
from reports.quantities import NOT_STATED, count, digits, known, moment, printable

SECOND_RELEASE_FACTS = {
    "overlapping": ("Earlier releases", "that share people with this one"),
    "people": ("People in both", "who stand in this release and in an earlier one"),
    "below_k": (
        "People below their k",
        "whose crowd is too small for whoever compares the releases",
    ),
    "least_margin": (
        "Smallest margin",
        "rows beyond k that are left to anybody once the releases are compared",
    ),
}
DRIFT_FACTS = {
    "compared_with": ("Compared with", "the release before this one"),
    "rows_before": ("Rows before", "in the source of that release"),
    "rows": ("Rows now", "in the source of this release"),
    "columns": ("Columns compared", "quasi-identifiers of both"),
    "new_categories": ("New categories", "values that the source had not had before"),
    "gone_categories": ("Categories gone", "values that the source no longer has"),
    "shift": ("Greatest shift", "of a column's values between the two: 0 for none, 1 for all"),
    "other_types": ("Other types", "columns whose values are of another kind than before"),
    "utility_before": ("Utility before", "of the release before this one"),
}


class Part(NamedTuple):
    """Facts under a heading, and the words where there are none."""

    heading: str
    facts: Sequence[Fact]
    otherwise: str


def parts(manifest: Manifest) -> list[Part]:
    """What is recorded around the release."""
    return [
        Part(
            "Approval",
            _approval(manifest),
            "No approval is recorded here: none was asked for, or it was still awaited.",
        ),
        Part(
            "Earlier releases of the same people",
            _explained(manifest.get("second_release"), SECOND_RELEASE_FACTS),
            "No earlier release that shares people with this one is recorded.",
        ),
        Part(
            "Changes since the last release",
            _explained(manifest.get("drift"), DRIFT_FACTS),
            "No comparison with an earlier release is recorded.",
        ),
    ]


def _approval(manifest: Manifest) -> list[Fact]:
    """Who let the release out, when, and with which words; nothing where nobody was asked."""
    found = manifest.get("approval")
    if not found:
        return []
    return [
        Fact("Approved by", printable(found["by"]) if found.get("by") else NOT_STATED),
        Fact("When", moment(found.get("at"))),
        Fact("Note", printable(found["note"]) if found.get("note") else "none"),
    ]


def approval_lacks(manifest: Manifest) -> bool:
    """Whether the plan required an approval and nobody's is recorded."""
    found = manifest.get("approval") or {}
    return bool(found.get("required")) and not found.get("by")


def _explained(found: Mapping[str, Any] | None, names: Mapping[str, tuple[str, str]]) -> list[Fact]:
    """Entries with known names first and in their order; others go by their own."""
    if not found:
        return []
    expected = [
        Fact(label, _said(found[key]), meaning)
        for key, (label, meaning) in names.items()
        if key in found
    ]
    return expected + [
        Fact(_label(key), _said(value)) for key, value in found.items() if key not in names
    ]


def _label(key: Any) -> str:
    text = printable(key).replace("_", " ")
    return text[:1].upper() + text[1:]


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return printable(value) or "none"
    if isinstance(value, Mapping):
        return (
            "; ".join(f"{printable(name)}: {_said(entry)}" for name, entry in value.items())
            or "none"
        )
    if isinstance(value, Sequence):
        return ", ".join(_said(entry) for entry in value) or "none"
    if not known(value):
        return NOT_STATED
    return count(value) if value == int(value) else digits(value)
