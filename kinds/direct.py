"""What a report says of cells that look like direct identifiers and are published all the same."""

from collections.abc import Mapping, Sequence

from reports.facts import Manifest
from reports.quantities import count, known, printable
from reports.words import Text
from tasks.recognition.kinds import KINDS

PROMISED: Text = (
    "No direct identifiers found.",
    "No published cell and no published label looks like an e-mail address, a telephone number, a "
    "number of a person, account or device, a web address with a user, coordinates or a name "
    "beside a title, and no column is free text in words of its own. A name without a title is "
    "not found.",
)
ALLOWED: Text = (
    "Direct identifiers.",
    "Published cells and labels were searched for e-mail addresses, telephone numbers, numbers of "
    "people, accounts and devices, web addresses with a user, coordinates, names beside a title, "
    "and free text in words of its own. Nothing was found but what the plan allows; a warning "
    "names each column. A name without a title is not found.",
)


def searched(manifest: Manifest) -> list[Text]:
    """What was looked for; nothing where the release is older than this check."""
    found = manifest.get("protection", {}).get("direct_identifiers")
    if found is None:
        return []
    return [ALLOWED if found else PROMISED]


def let_through(manifest: Manifest, whole: str = "rows") -> Sequence[str]:
    """One warning for each column whose cells the plan lets through, with its reason."""
    found = manifest.get("protection", {}).get("direct_identifiers")
    if not isinstance(found, Mapping):
        return []
    columns = manifest.get("columns", {})
    return [
        _sentence(name, columns.get(name, {}), counts, manifest, whole)
        for name, counts in found.items()
    ]


def _sentence(
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
        if known(counts.get(kind))
    ]
    note = printable(str(stated.get("note", "")))
    reason = f": {note}" if note else ""
    return (
        f"The column {printable(name)} shows what looks like {', '.join(each)}. The plan allows "
        f"it{reason}."
    )
