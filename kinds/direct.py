"""What a report says of cells that look like direct identifiers and are published all the same."""

from collections.abc import Mapping, Sequence
from typing import Any

from reports.facts import Manifest
from reports.quantities import count, is_number, printable
from reports.words import Text
from validations.recognition.kinds import KINDS

LOOKED_FOR = (
    "The auditor looked at every published cell and label for e-mail addresses, telephone numbers, "
    "numbers of people, accounts and devices, web addresses with a user, coordinates, names beside "
    "a title, and free text in words of its own."
)
BEYOND = "A name without a title is not found, nor what no form, check digit or word gives away."
NOTHING = f"{LOOKED_FOR} It recognised none. {BEYOND}"
ALLOWED = (
    f"{LOOKED_FOR} It recognised what the plan allows, and nothing else: a warning names each "
    f"column. {BEYOND}"
)


def describe_direct_search(manifest: Manifest) -> list[Text]:
    """That no search finds every name; nothing where the release is older than this check."""
    found = manifest.get("protection", {}).get("direct_identifiers")
    return [] if found is None else [("That no cell names anybody.", ALLOWED if found else NOTHING)]


def let_through(manifest: Manifest, whole: str = "rows") -> Sequence[str]:
    """One warning for each column whose cells the plan lets through, with its reason."""
    found = manifest.get("protection", {}).get("direct_identifiers")
    if not isinstance(found, Mapping):
        return []
    columns = manifest.get("columns", {})
    shown = [
        _describe_allowed_cells(name, columns.get(name, {}), counts, manifest, whole)
        for name, counts in found.items()
    ]
    return [*shown, *_list_unused_permissions(columns, found)]


def _list_unused_permissions(
    columns: Mapping[str, Mapping[str, Any]], found: Mapping[str, Any]
) -> Sequence[str]:
    """What the plan allows and no cell shows: the permission may be of another month."""
    told = []
    for name, stated in columns.items():
        idle = [
            text
            for kind, text in KINDS.items()
            if kind in stated.get("allow", ()) and kind not in found.get(name, {})
        ]
        if idle:
            told.append(
                f"The plan allows {', '.join(idle)} in the column {printable(name)}, which shows "
                "none."
            )
    return told


def _describe_allowed_cells(
    name: str,
    stated: Mapping[str, object],
    counts: Mapping[str, object],
    manifest: Manifest,
    whole: str,
) -> str:
    records = count(manifest["privacy"]["records"])
    each = [
        f"{text} in {count(counts[kind])} of {records} {whole}"
        for kind, text in KINDS.items()
        if is_number(counts.get(kind))
    ]
    note = printable(str(stated.get("allow_note", "")))
    reason = f": {note}" if note else ""
    return (
        f"The column {printable(name)} shows what looks like {', '.join(each)}. The plan allows "
        f"it{reason}."
    )
