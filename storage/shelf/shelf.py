"""The shelf: where the versions of one name stand, and how one becomes visible.

A version is visible as a whole or not at all. In a local folder a rename does that. In object
storage the manifest does: it is written last, and a prefix without it is no version.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from crowdcover.storage.places.objects import ObjectPath
from crowdcover.storage.places.place import Place
from crowdcover.storage.shelf.folders import FolderShelf
from crowdcover.storage.shelf.prefixes import ObjectShelf


class Shelf(Protocol):
    """The releases of one name, <publish.path>/<name>."""

    def versions(self) -> list[str]:
        """Names of the versions that stand, the oldest first."""
        ...

    def names(self) -> set[str]:
        """Names that no new version may have: of versions, and of those that were put aside."""
        ...

    def has_version(self, version: str) -> bool:
        """Whether there is something that is a version of this name, changed or not."""
        ...

    def aside(self, version: str, run: str, room: Path) -> Path:
        """An empty local folder, mode 0700, for the files of a version of a run.

        `room` is a private local folder, for shelves that are none.
        """
        ...

    def discard(self, run: str, room: Path) -> None:
        """Remove what stopped attempts of a run have left in such folders."""
        ...

    def commit(self, aside: Path, version: str) -> None:
        """Let the files of the folder appear as a version, all at once.

        Raises FileExistsError if there is one of that name.
        """
        ...

    def put_aside(self, name: str, files: Mapping[str, str], notice: bytes) -> Place | None:
        """Take a version out of sight and leave a notice; nothing of it is deleted.

        Returns where it is now; None where no version with these files is, or was, of that name.
        Can be repeated.
        """
        ...

    def mark(self) -> str:
        """The text that says whose the shelf is; empty if there is none."""
        ...

    def claim(self, mark: str) -> None:
        """Write that text, unless there is one."""
        ...


def shelf_of(parent: Place) -> Shelf:
    """The shelf at a place."""
    return ObjectShelf(parent) if isinstance(parent, ObjectPath) else FolderShelf(parent)


def has_version_at(folder: Place) -> bool:
    """Whether a version stands at a place, changed or not."""
    return shelf_of(folder.parent).has_version(folder.name)
