"""Two published releases beside each other: no vault, no source, only their folders."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anon_core.errors import InputError
from crowdcover.flows.look.named_release import read_manifest, refuse_damaged_manifest
from crowdcover.kinds import KINDS, kind_called, words_called
from crowdcover.kinds.section import PlanError
from crowdcover.reports.terminal import difference
from crowdcover.storage.places.place import Place, local_copy
from crowdcover.storage.shelf.content import has_version_files

_COUNTED = ("new", "gone")


def compare_releases(old: Place, new: Place, *, values: bool = False) -> dict[str, Any]:
    """All changes between two releases of one kind; `values` names new and gone categories.

    Refused: a folder that is no release, or whose files are not those that were published.
    """
    manifests = read_manifest(old), read_manifest(new)
    with refuse_damaged_manifest():
        kinds = [str(each["source"].get("kind", "table")) for each in manifests]
    if kinds[0] != kinds[1] or kinds[0] not in KINDS:
        raise PlanError(
            f"{old.name} and {new.name} are of different kinds of data; compare two releases of "
            "tables, of matrices or of graphs"
        )
    with refuse_damaged_manifest():
        changes = dict(difference.compare_manifests(*manifests, words_called(kinds[0])))
    with local_copy(old) as earlier, local_copy(new) as later:
        for folder, manifest in ((earlier, manifests[0]), (later, manifests[1])):
            _require_whole(folder, manifest)
        published = kind_called(kinds[0]).compared(earlier, later)
    changes["unread"] = published is None
    changes["series"] = any("series" in each for each in manifests)
    changes["published"] = {
        name: _count_categories(each, values) for name, each in (published or {}).items()
    }
    return changes


def _require_whole(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a release that was changed or is not complete: its numbers may be of another one."""
    with refuse_damaged_manifest():
        complete = has_version_files(folder, manifest.get("files", {}))
    if not complete:
        raise InputError(
            f"the files of {folder.name} are not those that its manifest.json names; compare a "
            "release as it was published"
        )


def _count_categories(change: dict[str, Any], values: bool) -> dict[str, Any]:
    """Categories by number; their names, which are values, only where they are asked for."""
    counts = {f"{key}_count": len(change[key]) for key in _COUNTED if key in change}
    kept = change if values else {key: each for key, each in change.items() if key not in _COUNTED}
    return {**counts, **kept}
