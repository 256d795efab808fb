"""Disks that take no more, said plainly: which folder, full or read-only, what to do."""

import errno
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from crowdcover.reports.quantities import size

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
# polars, SQLite and zip files pass no number on, only these words.
_WORDS = re.compile(
    r"no space left on device|quota exceeded|disk is full|read-only (file system|database)"
    r"|os error (28|30|122)\b",
    re.IGNORECASE,
)


def is_full(error: BaseException) -> bool:
    """Whether an error, or one behind it, says that a disk is full or mounted read-only."""
    return any(
        (isinstance(each, OSError) and each.errno in FULL)
        or (_is_writer_error(each) and _WORDS.search(str(each)) is not None)
        for each in _list_causes(error)
    )


def describe_full_disk(what: str, folders: Sequence[Path], needed: int | None = None) -> str:
    """What to say of work that ended on such a disk: a read-only one, else that with least room.

    `needed` is the number of bytes that were to be written, where that is known.
    """
    closed = [folder for folder in folders if is_read_only(folder)]
    if closed:
        return (
            f"{what} stopped: the disk of {closed[0]} is read-only; nothing half-written is "
            "published. Mount it for writing or name another folder, then run again: finished "
            "stages are not repeated"
        )
    # The error does not tell which disk is full, so the one with the least room is named.
    rooms = [(shutil.disk_usage(present_part(folder)).free, folder) for folder in folders]
    free, folder = min(rooms, key=lambda room: room[0])
    wanted = "" if needed is None else f", {size(needed)} needed"
    return (
        f"{what} stopped: the disk or quota of {folder} is full ({size(free)} free{wanted}); "
        "nothing half-written is published. Make room there or name another folder, then run "
        "again: finished stages are not repeated"
    )


def _is_writer_error(error: BaseException) -> bool:
    """Whether an error is of a package that writes files; others may quote a cell."""
    package = type(error).__module__.partition(".")[0]
    return isinstance(error, (OSError, sqlite3.Error)) or package == "polars"


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    """An error and those that led to it."""
    each: BaseException | None = error
    seen: set[int] = set()
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        # An error that was raised `from None` still has its context, which has the number.
        each = each.__cause__ or each.__context__


def is_read_only(folder: Path) -> bool:
    """Whether the disk of a folder is mounted read-only; it need not be there yet."""
    return bool(os.statvfs(present_part(folder)).f_flag & os.ST_RDONLY)


def present_part(folder: Path) -> Path:
    """A folder, or the next one above it that exists."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())
