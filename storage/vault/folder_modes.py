"""Folders and files for a group of people outside of the vault.

Modes are set whatever the umask: folders 0750, files 0640, a folder in which people write 3770
(nobody removes what another signed), all of the group of `publish.reports`. A folder of reports
that its group cannot read gives 0700 and 0600. Other accounts get nothing.

Nothing is written through links or into folders of other accounts: people who may write beside the
copies could lead it, and these modes, to a folder of this account.
"""

import contextlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from crowdcover.storage.vault.files import open_replacement_file
from crowdcover.storage.vault.refusals import FolderError

GROUP = 0o050  # what the group of the folder of reports needs, to be given anything
_OPEN = 0o022  # others could rename what lies in the folder, unless it is sticky


@dataclass(frozen=True)
class Modes:
    """Group and modes of copies, after the folder of reports."""

    group: int
    shared: bool

    @classmethod
    def of(cls, reports: Path) -> "Modes":
        """Create the folder of reports if it is missing, mode 0750.

        Refused: one in which others could put a folder of theirs in the place of a copy.
        """
        if not reports.is_dir():
            reports.mkdir(parents=True)
            reports.chmod(0o750)
        about = reports.stat()
        if about.st_mode & _OPEN and not about.st_mode & stat.S_ISVTX:
            raise FolderError(
                f"publish.reports {reports} can be changed by other accounts; chmod g-w,o-w it: "
                "people write in the folders `decisions` below it only"
            )
        return cls(about.st_gid, about.st_mode & GROUP == GROUP)

    def folder(self, path: Path, *, shared: bool) -> None:
        """Make a folder; people of the group may write in one that is shared."""
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        if not is_own(path):
            raise FolderError(
                f"{path} is a link or of another account, so no report is copied there; remove it"
            )
        # By its handle: between a look at the path and a chmod somebody could put a link there.
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            self._hand_over(handle, 0o3770 if shared else 0o750, 0o700)
        finally:
            os.close(handle)

    def file(self, path: Path, content: bytes) -> None:
        """Replace a file in one step."""
        with open_replacement_file(path) as handle:
            handle.write(content)
            # Before the rename, so that the file is never visible with other modes.
            self._hand_over(handle.fileno(), 0o640, 0o600)

    def _hand_over(self, handle: int, to_group: int, alone: int) -> None:
        # Closed first: until the group is changed, wider bits would open it to another group.
        os.fchmod(handle, alone)
        if not self.shared:
            return
        if os.fstat(handle).st_gid != self.group:
            try:
                os.fchown(handle, -1, self.group)
            except PermissionError:
                return  # of a group that this account is not in: nobody else reads it
        os.fchmod(handle, to_group)


def is_own(folder: Path) -> bool:
    """Whether this is a folder of this account, and no link to one."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid()
