"""Two published releases beside each other: no vault, no source, only their folders."""

from pathlib import Path
from typing import Any

from anon_core.errors import InputError
from flows.audit import STATED, read_manifest
from kinds import KINDS, kind_called, words_called
from reports import difference

COUNTED = ("new", "gone")


def compared(old: Path, new: Path, *, values: bool = False) -> dict[str, Any]:
    """All changes between two releases of one kind; `values` names new and gone categories."""
    manifests = read_manifest(old, STATED), read_manifest(new, STATED)
    kinds = [manifest["source"].get("kind", "table") for manifest in manifests]
    if kinds[0] != kinds[1] or kinds[0] not in KINDS:
        raise InputError(
            f"{old.name} and {new.name} are of different kinds of data; compare two releases of "
            "tables, of matrices or of graphs"
        )
    told = difference.difference(*manifests, words_called(kinds[0]))
    published = kind_called(kinds[0]).compared(old, new)
    told["published"] = {name: _counted(each, values) for name, each in published.items()}
    return told


def _counted(change: dict[str, Any], values: bool) -> dict[str, Any]:
    """Categories by number; their names, which are values, only where they are asked for."""
    counts = {f"{key}_count": len(change[key]) for key in COUNTED if key in change}
    kept = change if values else {key: each for key, each in change.items() if key not in COUNTED}
    return {**counts, **kept}
