"""What a report says of cells that look like direct identifiers and are published all the same."""

from collections.abc import Mapping, Sequence
from typing import Any

from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import is_number
from crowdcover.reports.words import Text
from crowdcover.validations.recognition.kinds import KINDS

_MESSAGES = load_messages("crowdcover.kinds")


def describe_direct_search(manifest: Manifest) -> list[Text]:
    """That no search finds every name; nothing where the release is older than this check."""
    found = manifest.get("protection", {}).get("direct_identifiers")
    if found is None:
        return []
    more = {name: _MESSAGES.say("direct", name) for name in ("looked_for", "beyond")}
    text = _MESSAGES.say("direct", "allowed" if found else "none", **more)
    return [(_MESSAGES.say("direct", "searched"), text)]


def let_through(manifest: Manifest) -> Sequence[str]:
    """One warning for each column whose cells the plan lets through, with its reason."""
    found = manifest.get("protection", {}).get("direct_identifiers")
    # Manifests are read from folders, so they may be older, or damaged.
    if not isinstance(found, Mapping):
        return []
    columns = manifest.get("columns", {})
    shown = [
        _describe_allowed_cells(name, columns.get(name, {}), counts, manifest)
        for name, counts in found.items()
    ]
    return [*shown, *_list_unused_permissions(columns, found)]


def _list_unused_permissions(
    columns: Mapping[str, Mapping[str, Any]], found: Mapping[str, Any]
) -> Sequence[str]:
    """What the plan allows and no cell shows: the permission may be of another month."""
    sentences = []
    for name, stated in columns.items():
        idle = [
            text
            for kind, text in KINDS.items()
            if kind in stated.get("allow", ()) and kind not in found.get(name, {})
        ]
        if idle:
            sentences.append(_MESSAGES.say("direct", "idle", kinds=idle, name=name))
    return sentences


def _describe_allowed_cells(
    name: str,
    stated: Mapping[str, object],
    counts: Mapping[str, object],
    manifest: Manifest,
) -> str:
    records = manifest["privacy"]["records"]
    each = [
        _MESSAGES.say("direct", "count", kind=text, number=counts[kind], records=records)
        for kind, text in KINDS.items()
        if is_number(counts.get(kind))
    ]
    note = str(stated.get("allow_note", ""))
    return _MESSAGES.say("direct", "shows", name=name, counts=each, note=note)
