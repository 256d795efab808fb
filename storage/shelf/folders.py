"""A shelf in a local folder: a version is written beside the others and renamed once."""

import errno
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from crowdcover.storage.places.place import link_once
from crowdcover.storage.shelf.content import has_version_files, in_order, name_aside
from crowdcover.storage.shelf.layout import MANIFEST, MARK, NOTICE


@dataclass(frozen=True)
class FolderShelf:
    """The releases of one name in a local folder; see `Shelf`."""

    parent: Path

    def versions(self) -> list[str]:
        """Names of the versions that stand, the oldest first."""
        if not self.parent.is_dir():
            return []
        return in_order({path.name for path in self.parent.iterdir() if (path / MANIFEST).exists()})

    def names(self) -> set[str]:
        """Names that are taken."""
        return {path.name for path in self.parent.glob("*")}

    def has_version(self, version: str) -> bool:
        """Whether there is anything of this name."""
        return (self.parent / version).exists()

    def aside(self, version: str, run: str, room: Path) -> Path:
        """A folder beside the versions, so that a rename is enough."""
        self.parent.mkdir(parents=True, exist_ok=True)
        self.discard(run, room)
        folder = self.parent / f".{version}.{run}.partial"
        folder.mkdir(mode=0o700)
        return folder

    def discard(self, run: str, room: Path) -> None:  # noqa: ARG002 - as `Shelf` has it
        """Remove what stopped attempts of a run have left."""
        for leftover in self.parent.glob(f".*.{run}.partial"):
            shutil.rmtree(leftover, ignore_errors=True)

    def commit(self, aside: Path, version: str) -> None:
        """Rename the folder; FileExistsError if anything has that name."""
        place = self.parent / version
        # A rename would replace an empty folder.
        if os.path.lexists(place):
            raise FileExistsError(str(place))
        try:
            # A folder that holds files cannot be replaced by a rename, so of two writers one fails.
            os.rename(aside, place)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise FileExistsError(str(place)) from None
            raise

    def put_aside(self, name: str, files: Mapping[str, str], notice: bytes) -> Path | None:
        """Rename the version, close it to others and leave a notice."""
        place, aside = self.parent / name, self.parent / name_aside(name)
        if has_version_files(place, files) and place != aside:
            os.rename(place, aside)
        if not has_version_files(aside, files):
            return None
        aside.chmod(0o700)
        partial = aside / f".{NOTICE}.partial"
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as handle:
            handle.write(notice)
            handle.flush()
            os.fsync(handle.fileno())
        os.rename(partial, aside / NOTICE)
        return aside

    def mark(self) -> str:
        """The text that says whose the folder is; empty if there is none."""
        path = self.parent / MARK
        return path.read_text(encoding="utf-8", errors="replace").strip() if path.exists() else ""

    def claim(self, mark: str) -> None:
        """Let the mark appear whole; it replaces none."""
        aside = self.parent / f"{MARK}.{mark}.partial"
        try:
            aside.write_text(f"{mark}\n", encoding="ascii")
            aside.chmod(0o644)
            link_once(aside, self.parent / MARK)
        finally:
            aside.unlink(missing_ok=True)
