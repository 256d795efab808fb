"""A place is a local path or one in object storage."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from crowdcover.storage.places.answers import SCHEMES
from crowdcover.storage.places.objects import ObjectPath

Place: TypeAlias = Path | ObjectPath
STARTS = tuple(f"{scheme}://" for scheme in SCHEMES)


def is_remote(text: str) -> bool:
    """Whether a text names a place in object storage."""
    return text.startswith(STARTS)


def place_of(text: str) -> Place:
    """The place that a text names."""
    return ObjectPath(text) if is_remote(text) else Path(text)


@contextmanager
def local_copy(folder: Place) -> Iterator[Path]:
    """The folder itself; of one in object storage a private copy, removed after.

    Raises FileNotFoundError where nothing is below it.
    """
    if isinstance(folder, Path):
        yield folder
        return
    names = folder.below()
    if not names:
        raise FileNotFoundError(str(folder))
    room = Path(tempfile.mkdtemp(prefix="crowdcover-"))  # mode 0700
    try:
        copy = room / folder.name
        for name in names:
            (copy / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / name).fetch(copy / name)
        yield copy
    finally:
        shutil.rmtree(room, ignore_errors=True)


def read_start(path: Path, size: int) -> bytes:
    """The first bytes of a local file; of a device, which may have no end, too."""
    with path.open("rb") as handle:
        return handle.read(size)


def link_once(aside: Path, path: Path) -> None:
    """Let a finished file appear under a name at once; of two that do so the first's stays.

    Where a file system has no links, a rename does it, and of two at the same moment the last's.
    """
    try:
        # os.link fails if the name is taken; os.rename would replace the file.
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    except OSError:
        os.rename(aside, path)
