"""Whose a folder of releases is: one vault publishes into it.

A version is compared with those beside it by what their vault remembers of them: people, drift,
approvals. A vault that knows nothing of them would compare with nothing.
"""

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from tasks.vault.layout import MANIFEST
from tasks.vault.storage import FolderError, Release, Vault, holds_files

VERSION = re.compile(r"v\d+")


def refuse_foreign(vault: Vault, parent: Path, listed: Collection[str] = ()) -> None:
    """Refuse a folder that holds a release of another vault.

    A vault knows a release by its place. It also knows one that was moved, by the hash of its
    manifest. `listed` are the versions that its ledger lists for this folder: their runs may be
    gone.
    """
    standing = [path for path in _versions(parent) if path.name not in listed]
    known = [release for run in vault.every_run() for release in run.ever_visible()]
    foreign = [path.name for path in standing if not _is_known(path, known)]
    if foreign:
        named = ", ".join(foreign[:3]) + (f" and {len(foreign) - 3} more" if foreign[3:] else "")
        raise FolderError(
            f"{parent} holds releases that another vault published, or that the vault "
            f"{vault.path} knows no longer ({named}); whom they show is unknown, so no release "
            "can be compared with them. Set publish.vault to the vault that made them, or choose "
            "another publish.path or name. If that vault is lost, people may be in both releases"
        )


def _versions(parent: Path) -> list[Path]:
    """The releases that stand in a folder, the oldest first."""
    if not parent.is_dir():
        return []
    found = [
        path
        for path in parent.iterdir()
        if VERSION.fullmatch(path.name) and (path / MANIFEST).exists()
    ]
    return sorted(found, key=lambda path: (len(path.name), path.name))


def _is_known(folder: Path, known: Sequence[Release]) -> bool:
    return any(release.folder == folder for release in known) or any(
        holds_files(folder, release.files) for release in known
    )
