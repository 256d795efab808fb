"""Whose a folder of releases is: one vault publishes into it.

A version is compared with those beside it by what their vault remembers of them: people, drift,
approvals. A vault that knows nothing of them would compare with nothing.

The vault that publishes first leaves a mark in the folder, the file `.vault`: a keyed digest of the
folder's name. Without the vault's key nobody can tell which vault it is of. A folder of an older
version has no mark; the vault that knows every release there claims it when it publishes next.
"""

from collections.abc import Collection, Sequence

from crowdcover.storage.places.place import Place
from crowdcover.storage.shelf.content import has_version_files
from crowdcover.storage.shelf.layout import MARK
from crowdcover.storage.shelf.shelf import shelf_of
from crowdcover.storage.vault import secret_streams
from crowdcover.storage.vault.files import read_secret, write_private
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.run import Release
from crowdcover.storage.vault.vault import FOLDERS_KEY, Vault


def refuse_foreign(vault: Vault, parent: Place, listed: Collection[str] = ()) -> None:
    """Refuse a folder that holds a release of another vault, or the mark of one.

    A vault knows a release by its place. It also knows one that was moved, by the hash of its
    manifest. `listed` are the versions that its ledger lists for this folder: their runs may be
    gone.
    """
    standing = [parent / name for name in shelf_of(parent).versions() if name not in listed]
    foreign = []
    if standing:  # else no run has to be read: there may be thousands
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
    mark = shelf_of(parent).mark()
    if mark and mark != _compute_mark(vault, parent):
        raise FolderError(
            f"{parent} belongs to another vault than {vault.path}, by its file {MARK}; set "
            "publish.vault to that vault, or choose another publish.path or name. If this vault "
            f"was restored from a backup without {FOLDERS_KEY}, or that vault published nothing "
            f"that anyone has, remove {MARK} and run again"
        )


def claim_folder(vault: Vault, parent: Place) -> None:
    """Mark a folder as this vault's; refused if another vault was faster.

    The caller holds `Vault.lock_publishing`. The mark appears whole and replaces none.
    """
    key = vault.path / FOLDERS_KEY
    if not key.exists():
        write_private(key, secret_streams.new_seed())
    shelf = shelf_of(parent)
    if not shelf.mark():
        shelf.claim(_compute_mark(vault, parent))
    # A claim replaces no mark: if another vault was faster, its mark stands and is refused here.
    refuse_foreign(vault, parent, shelf.versions())


def is_marked_by(vault: Vault, parent: Place) -> bool:
    """Whether a folder has this vault's mark, or none."""
    mark = shelf_of(parent).mark()
    return not mark or mark == _compute_mark(vault, parent)


def _compute_mark(vault: Vault, parent: Place) -> str:
    """The vault's mark of a folder; empty if the vault never marked any.

    Of the folder's name, not of its place: folders are moved with their vault.
    """
    key = vault.path / FOLDERS_KEY
    return (
        secret_streams.digest_with_key(read_secret(key), parent.name.encode()).hex()
        if key.exists()
        else ""
    )


def _is_known(folder: Place, known: Sequence[Release]) -> bool:
    return any(release.folder == folder for release in known) or any(
        has_version_files(folder, release.files) for release in known
    )
