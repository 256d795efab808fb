"""One file with a whole vault, and a vault from such a file.

The archive is encrypted to a recipient in the age format. Files of an encrypted vault are in it
under the vault's own key, so that making a backup needs no key.

The files are linked into one folder while nobody publishes, which takes moments; runs at work go
on meanwhile. Half-made stages, checkpoints and folders of batch jobs are left out: a restored
vault makes them again.
"""

import errno
import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from crowdcover.storage.encryption.encryption import (
    SEAL,
    Seal,
    is_encrypted,
    is_lock,
    is_of_job,
    load_environment_keys,
)
from crowdcover.storage.upkeep.archive import (
    BackupError,
    build_table_of_contents,
    read_backup,
    write_backup,
)
from crowdcover.storage.upkeep.moved_folders import move_releases
from crowdcover.storage.vault.disk_space import describe_full_disk, is_full
from crowdcover.storage.vault.files import flush_folder, open_replacement_file
from crowdcover.storage.vault.refusals import BusyError, FolderError
from crowdcover.storage.vault.vault import (
    BACKUP,
    BACKUP_LOCK,
    FOLDERS_KEY,
    LEDGER,
    LEDGER_KEY,
    Vault,
)

# Series first: a version that is in the backup has its run there.
_PARTS = ("series", "runs", "plans")
_SINGLE = (SEAL, LEDGER_KEY, FOLDERS_KEY)


@dataclass(frozen=True)
class Backup:
    """What a backup holds."""

    files: int
    bytes: int
    made: str
    encrypted: bool


def back_up(vault: Vault, to: Path, recipients: Sequence[str] = (), *, plain: bool) -> Backup:
    """Write a vault to a new file, encrypted to the recipients, else to the vault's own.

    Refused: a file that exists; a backup that nobody is named for, unless it may be plain.
    """
    if not vault.runs.is_dir():
        raise BackupError(f"{vault.path} is no vault; give the folder that publish.vault names")
    if to.exists() or to.resolve().is_relative_to(vault.path.resolve()):
        raise BackupError(f"{to} exists or lies in the vault; name a new file elsewhere")
    recipient = None if plain else _choose_recipient(vault, recipients)
    try:
        with _open_snapshot(vault) as folder:
            # Publishing goes on meanwhile: the links keep the files of the snapshot.
            about = build_table_of_contents(folder)
            with open_replacement_file(to) as target:
                write_backup(folder, about, target, recipient)
    except OSError as error:
        if is_full(error):
            raise FolderError(describe_full_disk("the backup", [to.parent, vault.path])) from None
        raise FolderError(
            f"the backup could not be written to {to} ({type(error).__name__}); correct the "
            "folder and its permissions"
        ) from None
    return _summarize_backup(about, encrypted=recipient is not None)


def _choose_recipient(vault: Vault, named: Sequence[str]) -> str:
    """The public key that a backup is encrypted to."""
    seal = Seal.read(vault.path)
    if seal is not None and seal.rotating:
        raise BackupError("a rotation was stopped; run crowdcover vault rotate again, then back up")
    own = [] if seal is None or seal.recipient is None else [seal.recipient]
    keys = list(named) or own
    if not keys:
        raise BackupError(
            "the vault is not encrypted, and so would its backup be; give --recipient with a "
            "public key (age1...; `crowdcover vault key` makes one), or --plain to keep all "
            "secrets readable in the file"
        )
    if len(keys) > 1:
        raise BackupError("give one --recipient")
    return keys[0]


def restore_backup(
    file: Path,
    vault: Path,
    keys: Sequence[Any] | None = None,
    moved: Sequence[tuple[str, str]] = (),
) -> Backup:
    """Make a vault of a backup; every byte is checked before anything is written.

    `moved` are folders of releases that stand elsewhere now: before, and now. Refused: a folder
    that holds anything, a file that is no whole backup. After a refusal nothing is left.
    """
    if vault.exists() and (not vault.is_dir() or any(vault.iterdir())):
        raise BackupError(f"{vault} holds something already; name a new folder")
    if not file.is_file():
        raise BackupError(f"{file} is no file; give the file that crowdcover vault backup wrote")
    # Read twice: the first time nothing is written, so a bad file leaves no trace.
    about = read_backup(file, keys, None)
    try:
        with _open_partial_folder(vault) as aside:
            about = read_backup(file, keys, aside)
            for folder in [aside, *(path for path in aside.rglob("*") if path.is_dir())]:
                flush_folder(folder)
            # Before the rename: a vault never appears with only some of its places moved.
            # An encrypted backup may be under another key than the files in it.
            known = None if keys is None else [*keys, *load_environment_keys()]
            move_releases(Vault(aside), moved, known)
            os.rename(aside, vault)
    except OSError as error:
        if is_full(error):
            raise FolderError(describe_full_disk("restoring", [vault.parent])) from None
        raise FolderError(
            f"{vault} could not be written ({type(error).__name__}); name another folder"
        ) from None
    return _summarize_backup(about, encrypted=is_encrypted(file))


@contextmanager
def _open_partial_folder(vault: Path) -> Iterator[Path]:
    """An empty private folder that becomes the vault by a rename; removed if it does not."""
    aside = vault.with_name(f".{vault.name}.partial")
    aside.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(aside, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(handle).st_uid != os.geteuid():
            raise PermissionError  # whoever made it could read what is restored
        os.fchmod(handle, 0o700)
        _take_file_lock(handle, f"another process restores to {vault}; wait for it")
        for left in aside.iterdir():  # by a restore that was killed
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        try:
            yield aside
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise
    finally:
        os.close(handle)


@contextmanager
def backups_held(vault: Vault) -> Iterator[None]:
    """Let no backup be made meanwhile; what a stopped one left, links to all files, goes first."""
    handle = os.open(vault.path / BACKUP_LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _take_file_lock(
            handle, "another backup of this vault is being made; wait for it and run again"
        )
        shutil.rmtree(vault.path / BACKUP, ignore_errors=True)
        yield
    finally:
        os.close(handle)


def _take_file_lock(handle: int, otherwise: str) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BusyError(otherwise) from None


@contextmanager
def _open_snapshot(vault: Vault) -> Iterator[Path]:
    """A folder with links to all files, as they are at one moment, and a copy of the ledger."""
    folder = vault.path / BACKUP
    with backups_held(vault):
        try:
            folder.mkdir(mode=0o700)
            # Under this lock no release becomes visible, so that ledger, runs and series agree.
            with vault.lock_publishing():
                for part in _PARTS:
                    if (vault.path / part).is_dir():
                        _link_folder(vault.path, PurePath(part), folder)
                for name in _SINGLE:
                    if (vault.path / name).exists():
                        _link_file(vault.path / name, folder / name)
                _copy_ledger(vault.path / LEDGER, folder / LEDGER)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _link_folder(vault: Path, inside: PurePath, snapshot: Path) -> None:
    """Link the files of a folder and of those below. What goes meanwhile is left out.

    Folders that hold a whole come and go in one step: one that stood all the time is whole.
    """
    source, target = vault / inside, snapshot / inside
    target.mkdir(mode=0o700)
    try:
        with _hold_folder(source) as stood:
            for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
                below = inside / entry.name
                if entry.is_symlink() or _is_made_again(below):
                    continue
                with suppress(FileNotFoundError):
                    if entry.is_dir():
                        _link_folder(vault, below, snapshot)
                    else:
                        _link_file(source / entry.name, target / entry.name)
            if not os.path.samestat(stood, os.stat(source)):
                raise FileNotFoundError  # it was made again meanwhile
    except FileNotFoundError:
        shutil.rmtree(target)


def _is_made_again(inside: PurePath) -> bool:
    """Whether a path, relative to its vault, holds only what a run or a backfill makes again."""
    match inside.parts:
        # By place, not by name: a series may be called `parts` or `checkpoint`.
        case ("series", _, "parts"):
            return True
        case ("runs", _, name) if name.partition(".")[0] == "checkpoint":
            return True
    # Hidden names are half-made stages and files.
    return inside.name.startswith(".") or is_lock(inside) or is_of_job(inside)


@contextmanager
def _hold_folder(folder: Path) -> Iterator[os.stat_result]:
    """What a folder is; no other gets its number before the end."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield os.fstat(handle)
    finally:
        os.close(handle)


def _link_file(source: Path, target: Path) -> None:
    """A second name of a file: files of a vault are replaced, never changed."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV):
            raise
        # Without links: an open file keeps its bytes, also if its name gets another one.
        shutil.copy2(source, target)


def _copy_ledger(source: Path, target: Path) -> None:
    if not source.exists():
        return
    # Made here for its mode: SQLite would use that of the umask.
    os.close(os.open(target, os.O_RDWR | os.O_CREAT, 0o600))
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as ledger,
        closing(sqlite3.connect(target)) as copy,
    ):
        # A plain copy could catch half a transaction.
        ledger.backup(copy)


def _summarize_backup(about: Mapping[str, Any], *, encrypted: bool) -> Backup:
    sizes = [each["bytes"] for each in about["files"].values()]
    return Backup(len(sizes), sum(sizes), str(about["made"]), encrypted)
