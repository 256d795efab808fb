"""Whether what a release must write at its end can be written, looked at before the work."""

import os
from pathlib import Path

from storage.places.place import Place
from storage.vault.disk_space import describe_full_disk, is_read_only, present_part
from storage.vault.refusals import FolderError


def refuse_closed(parent: Place, reports: str | None = None) -> None:
    """Refuse a folder for releases, or for copies of reports, that cannot be written.

    Whether object storage lets this account write is not tried: that would leave an object.
    """
    if not isinstance(parent, Path):
        parent.below()  # refused if the storage does not answer, or has no such bucket
    # Before `_is_open`, which such a disk fails, too: these words name the cause.
    elif is_read_only(parent):
        raise FolderError(describe_full_disk("the release", [parent]))
    elif not _is_open(parent):
        raise FolderError(
            f"nothing could be published in {parent}; correct publish.path and run again"
        )
    if reports is not None and not _is_open(Path(reports)):
        raise FolderError(
            f"the report could not be copied to publish.reports {reports}; name a folder that this "
            "account can write, or leave publish.reports out"
        )


def _is_open(folder: Path) -> bool:
    """Whether files can be made in a folder, or the folder itself where it is not there yet."""
    there = present_part(folder)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)
