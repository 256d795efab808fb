"""A shelf in object storage: the manifest is written last, and only if there is none.

    <publish.path>/<name>/v1/data.parquet ...   first, each only if there is none
    <publish.path>/<name>/v1/manifest.json      last: from then on there is a version v1

The storage decides who wrote the manifest first (If-None-Match), so two writers cannot both
publish one version. What a stopped attempt left has no manifest; the next attempt removes it.
"""

import contextlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from crowdcover.storage.places.answers import UNCONDITIONAL
from crowdcover.storage.places.objects import ObjectPath, StoreError
from crowdcover.storage.shelf.content import (
    has_version_files,
    hash_released_file,
    in_order,
    name_aside,
)
from crowdcover.storage.shelf.layout import MANIFEST, MARK, NOTICE

_PARTIAL = ".publish.partial"


@dataclass(frozen=True)
class ObjectShelf:
    """The releases of one name in object storage; see `Shelf`."""

    parent: ObjectPath

    def versions(self) -> list[str]:
        """Names of the versions that stand, the oldest first."""
        found = (name.partition("/") for name in self.parent.below())
        return in_order({version for version, _, name in found if name == MANIFEST})

    def names(self) -> set[str]:
        """Names that are taken; an unfinished attempt takes none."""
        found = (name.partition("/") for name in self.parent.below())
        return {version for version, _, name in found if name == MANIFEST}

    def has_version(self, version: str) -> bool:
        """Whether there is a version of this name."""
        return (self.parent / version / MANIFEST).is_file()

    def aside(self, version: str, run: str, room: Path) -> Path:  # noqa: ARG002 - as `Shelf`
        """A local folder in the private room: storage gets only what is complete."""
        self.discard(run, room)
        folder = room / _PARTIAL
        folder.mkdir(mode=0o700)
        return folder

    def discard(self, run: str, room: Path) -> None:  # noqa: ARG002 - as `Shelf` has it
        """Remove what stopped attempts have left on this machine."""
        shutil.rmtree(room / _PARTIAL, ignore_errors=True)

    def commit(self, aside: Path, version: str) -> None:
        """Write the files, then the manifest; FileExistsError if another writer was faster."""
        folder = self.parent / version
        if self.has_version(version):
            raise FileExistsError(str(folder))
        for leftover in folder.below():
            (folder / leftover).unlink(missing_ok=True)
        files = sorted(file for file in aside.iterdir() if file.name != MANIFEST)
        for file in files:
            _write_file_once(folder / file.name, file)
        _require_conditions(folder, min(files, key=lambda file: file.stat().st_size))
        written = folder.below()
        if not has_version_files(folder, {file.name: hash_released_file(file) for file in files}):
            # Another writer took some for leftovers, and wrote its own.
            raise FileExistsError(str(folder))
        _write_manifest_once(folder / MANIFEST, (aside / MANIFEST).read_bytes())
        now = folder.below()
        if {name: now.get(name) for name in written} != written:
            # Another writer took these for leftovers before the manifest was there.
            (folder / MANIFEST).unlink(missing_ok=True)
            raise FileExistsError(str(folder))
        shutil.rmtree(aside, ignore_errors=True)

    def put_aside(self, name: str, files: Mapping[str, str], notice: bytes) -> ObjectPath | None:
        """Copy what is meant, remove the manifest, so that there is no version, move the rest."""
        place, aside = self.parent / name, self.parent / name_aside(name)
        if has_version_files(place, files) and place != aside:
            for each in files:
                (place / each).copy_to(aside / each)
            # The manifest goes first: without it there is no version, whatever is left.
            (place / MANIFEST).unlink()
        if not has_version_files(aside, files):
            return None
        if place != aside and not self.has_version(name):
            for left in place.below():
                (place / left).copy_to(aside / left)
                (place / left).unlink()
        (aside / NOTICE).write_bytes(notice)
        return aside

    def mark(self) -> str:
        """The text that says whose the shelf is; empty if there is none."""
        with contextlib.suppress(FileNotFoundError):
            return (self.parent / MARK).read_text(errors="replace").strip()
        return ""

    def claim(self, mark: str) -> None:
        """Write the mark; it replaces none."""
        with contextlib.suppress(FileExistsError):
            (self.parent / MARK).create(f"{mark}\n".encode("ascii"))


def _require_conditions(folder: ObjectPath, file: Path) -> None:
    """Refuse a storage that would replace an object where it should not: nobody could be first."""
    with contextlib.suppress(FileExistsError):
        (folder / file.name).create_from(file)
        raise StoreError(UNCONDITIONAL.format(bucket=folder.bucket))


def _write_file_once(place: ObjectPath, file: Path) -> None:
    """Write a file if there is none; one of the same bytes is ours, its answer was lost."""
    try:
        place.create_from(file)
    except FileExistsError:
        if place.sha256() != hash_released_file(file):
            raise


def _write_manifest_once(manifest: ObjectPath, content: bytes) -> None:
    """Write the manifest as `_write_file_once` does."""
    try:
        manifest.create(content)
    except FileExistsError:
        if manifest.read_bytes() != content:
            raise
