"""One file with a whole vault, and a vault from such a file.

A backup is a tar archive: backup.json with the hash of every file, then the files as they lie in
the vault. The archive is encrypted to a recipient in the age format. Files of an encrypted vault
are in it under the vault's own key, so that making a backup needs no key.

The files are linked into one folder while nobody publishes, which takes moments; runs at work go
on meanwhile. Half-made stages, checkpoints and folders of batch jobs are left out: a restored
vault makes them again.
"""

import errno
import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

from anon_core.errors import AnonymityError
from tasks.vault.moving import move_releases
from tasks.vault.room import full, is_full
from tasks.vault.sealing import (
    HEADER,
    LOCK,
    OF_JOBS,
    SEAL,
    DamagedError,
    Seal,
    decrypt,
    encrypt,
    is_encrypted,
)
from tasks.vault.storage import (
    CODE_VERSION,
    FOLDERS_KEY,
    LEDGER,
    LEDGER_KEY,
    BusyError,
    FolderError,
    Vault,
    settle,
)

ABOUT, END = "backup.json", "end.json"  # the first and the last file of the archive
FORMAT = 1
CHUNK = 1 << 20
FOLDER, TURN = ".backup", ".backup.lock"  # in the vault, while a backup is made
# Series first: a version that is in the backup has its run there.
PARTS = ("series", "runs", "plans")
SINGLE = (SEAL, LEDGER_KEY, FOLDERS_KEY)
LEFT_OUT = {LOCK, "checkpoint", "parts", *OF_JOBS}


class BackupError(AnonymityError):
    """A backup cannot be made, or the file is none."""


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
    seal = Seal.read(vault.path)
    if seal is not None and seal.rotating:
        raise BackupError("a rotation was stopped; run crowdcover vault rotate again, then back up")
    own = [] if seal is None or seal.recipient is None else [seal.recipient]
    named = [] if plain else list(recipients) or own
    if not named and not plain:
        raise BackupError(
            "the vault is not encrypted, and so would its backup be; give --recipient with a "
            "public key (age1...; `crowdcover vault key` makes one), or --plain to keep all "
            "secrets readable in the file"
        )
    if len(named) > 1:
        raise BackupError("give one --recipient")
    try:
        with _snapshot(vault) as folder:
            about = _about(folder)
            _written(folder, about, to, named)
    except OSError as error:
        if is_full(error):
            raise FolderError(full("the backup", [to.parent, vault.path])) from None
        raise FolderError(
            f"the backup could not be written to {to} ({type(error).__name__}); correct the "
            "folder and its permissions"
        ) from None
    return _told(about, encrypted=bool(named))


def restore(
    file: Path,
    vault: Path,
    keys: Sequence[Any] | None = None,
    moved: Sequence[tuple[str, str]] = (),
) -> Backup:
    """Make a vault of a backup; every byte is checked before anything is written.

    `moved` are folders of releases that stand elsewhere now: before, and now. Refused: a folder
    that holds anything, a file that is no whole backup.
    """
    if vault.exists() and (not vault.is_dir() or any(vault.iterdir())):
        raise BackupError(f"{vault} holds something already; name a new folder")
    if not file.is_file():
        raise BackupError(f"{file} is no file; give the file that crowdcover vault backup wrote")
    about = _read_through(file, keys, None)
    aside = vault.with_name(f".{vault.name}.partial")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir(mode=0o700, parents=True)
        about = _read_through(file, keys, aside)
        for folder in [aside, *(path for path in aside.rglob("*") if path.is_dir())]:
            settle(folder)
        for old, new in moved:
            move_releases(Vault(aside), old, new)
        os.rename(aside, vault)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        if is_full(error):
            raise FolderError(full("restoring", [aside.parent])) from None
        raise FolderError(
            f"{vault} could not be written ({type(error).__name__}); name another folder"
        ) from None
    return _told(about, encrypted=is_encrypted(file))


@contextmanager
def _snapshot(vault: Vault) -> Iterator[Path]:
    """A folder with links to all files, as they are at one moment, and a copy of the ledger."""
    folder = vault.path / FOLDER
    handle = os.open(vault.path / TURN, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)  # of a backup that was killed
            folder.mkdir(mode=0o700)
            with vault.publishing():
                for part in PARTS:
                    if (vault.path / part).is_dir():
                        _linked(vault.path / part, folder / part)
                for name in SINGLE:
                    if (vault.path / name).exists():
                        _link(vault.path / name, folder / name)
                _copied_ledger(vault.path / LEDGER, folder / LEDGER)
            yield folder
            return
        raise BusyError("another backup of this vault is being made; wait for it and run again")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def _linked(source: Path, target: Path) -> None:
    """Link the files of a folder and of those below. A stage that goes meanwhile is left out."""
    target.mkdir(mode=0o700)
    try:
        entries = sorted(os.scandir(source), key=lambda entry: entry.name)
        for entry in entries:
            if entry.name.startswith(".") or entry.name in LEFT_OUT or entry.is_symlink():
                continue
            if entry.is_dir():
                _linked(Path(entry.path), target / entry.name)
            else:
                _link(Path(entry.path), target / entry.name)
        record = target / "stage.json"
        if record.exists() and not os.path.samefile(record, source / "stage.json"):
            raise FileNotFoundError  # it was made again meanwhile
    except FileNotFoundError:
        shutil.rmtree(target)


def _link(source: Path, target: Path) -> None:
    """A second name of a file: files of a vault are replaced, never changed."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV):
            raise
        shutil.copy2(source, target)


def _copied_ledger(source: Path, target: Path) -> None:
    if not source.exists():
        return
    os.close(os.open(target, os.O_RDWR | os.O_CREAT, 0o600))
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as ledger,
        closing(sqlite3.connect(target)) as copy,
    ):
        ledger.backup(copy)


def _about(folder: Path) -> dict[str, Any]:
    """The table of contents, with the hash of each file as it is stored."""
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
        files[path.relative_to(folder).as_posix()] = {
            "sha256": digest,
            "bytes": path.stat().st_size,
        }
    return {
        "backup_of": "crowdcover vault",
        "format": FORMAT,
        "crowdcover": CODE_VERSION,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "files": files,
    }


def _written(folder: Path, about: Mapping[str, Any], to: Path, named: Sequence[str]) -> None:
    aside = to.with_name(f".{to.name}.partial")
    aside.unlink(missing_ok=True)
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "wb") as target:
            if not named:
                _archive(folder, about, target)
            else:
                with _pumped(lambda into: _archive(folder, about, into)) as source:
                    encrypt(source, target, named[0])
            target.flush()
            os.fsync(target.fileno())
        os.rename(aside, to)
    finally:
        aside.unlink(missing_ok=True)


def _archive(folder: Path, about: Mapping[str, Any], target: IO[bytes]) -> None:
    content = json.dumps(about, indent=1).encode()
    end = json.dumps({ABOUT: hashlib.sha256(content).hexdigest()}).encode()
    with tarfile.open(fileobj=target, mode="w|") as archive:
        _add(archive, ABOUT, content)
        for name in about["files"]:
            path = folder / name
            member = tarfile.TarInfo(name)
            member.size, member.mode = path.stat().st_size, 0o600
            member.mtime = int(path.stat().st_mtime)
            with path.open("rb") as source:
                archive.addfile(member, source)
        _add(archive, END, end)


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o600
    archive.addfile(member, BytesIO(content))


def _read_through(file: Path, keys: Sequence[Any] | None, into: Path | None) -> dict[str, Any]:
    """Read a backup to its end, compare every hash, and write its files if a folder is given.

    Refused: anything that is not as the table of contents says, and files that it does not name.
    """
    try:
        with _opened(file, keys) as source, tarfile.open(fileobj=source, mode="r|") as archive:
            about, sha256 = _head(archive)
            left = dict(about["files"])
            while (member := archive.next()) is not None and member.name != END:
                stated = left.pop(member.name)
                if _copied(archive, member, into) != stated["sha256"]:
                    raise ValueError(member.name)
            if left or member is None:
                raise ValueError("files are missing")
            if json.loads(_reader(archive, member).read()) != {ABOUT: sha256}:
                raise ValueError(ABOUT)
            _require_end(archive, source)
            return about
    except (tarfile.TarError, ValueError, KeyError, TypeError, AttributeError, EOFError):
        pass  # DamagedError, too
    raise DamagedError(
        f"{file} is no whole backup: it is truncated, was altered, or is another file; "
        "nothing was restored. Use another copy"
    )


def _require_end(archive: tarfile.TarFile, source: IO[bytes]) -> None:
    """Read to the end, which is authentic, too: only padding may follow the last file."""
    if archive.next() is not None:
        raise ValueError(END)
    while source.read(CHUNK):
        pass


def _head(archive: tarfile.TarFile) -> tuple[dict[str, Any], str]:
    """The table of contents and its hash; no name in it leads out of a folder."""
    first = archive.next()
    if first is None or first.name != ABOUT:
        raise ValueError(ABOUT)
    content = _reader(archive, first).read()
    about = dict(json.loads(content))
    if about["format"] != FORMAT:
        raise BackupError("the backup is of another version of crowdcover; use that version")
    for name in about["files"]:
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts or name != str(place):
            raise ValueError(name)
    return about, hashlib.sha256(content).hexdigest()


def _copied(archive: tarfile.TarFile, member: tarfile.TarInfo, into: Path | None) -> str:
    """The hash of a member; it is written if a folder is given."""
    source, digest = _reader(archive, member), hashlib.sha256()
    with _created(into, member) as target:
        while part := source.read(CHUNK):
            digest.update(part)
            target.write(part)
    if into is not None:
        os.utime(into / member.name, (member.mtime, member.mtime))
    return digest.hexdigest()


def _created(into: Path | None, member: tarfile.TarInfo) -> IO[bytes]:
    """A new file of this name with mode 0600, in folders with mode 0700; else a hole."""
    if into is None:
        return Path(os.devnull).open("wb")
    path = into / member.name
    for above in reversed(PurePosixPath(member.name).parents):
        (into / above).mkdir(mode=0o700, exist_ok=True)
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _reader(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    reader = archive.extractfile(member)
    if reader is None or not member.isreg():
        raise ValueError(member.name)
    return reader


@contextmanager
def _opened(file: Path, keys: Sequence[Any] | None) -> Iterator[IO[bytes]]:
    """The archive in a backup, decrypted."""
    with file.open("rb") as handle:
        encrypted = handle.read(len(HEADER)) == HEADER
        handle.seek(0)
        if not encrypted:
            if file.stat().st_size % tarfile.RECORDSIZE:
                raise ValueError("half a record")
            yield handle
            return
        with _pumped(lambda into: decrypt(handle, into, str(file), keys)) as source:
            yield source


@contextmanager
def _pumped(work: Callable[[IO[bytes]], None]) -> Iterator[IO[bytes]]:
    """What `work` writes, as a stream to read; its error is raised here."""
    read, write = os.pipe()
    errors: list[BaseException] = []

    def pump() -> None:
        try:
            with os.fdopen(write, "wb") as into:
                work(into)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=pump, daemon=True)
    thread.start()
    source = os.fdopen(read, "rb")
    try:
        yield source
    finally:
        source.close()  # whoever still writes ends
        thread.join()
        if errors and getattr(errors[0], "errno", None) != errno.EPIPE:
            raise errors[0]


def _told(about: Mapping[str, Any], *, encrypted: bool) -> Backup:
    sizes = [each["bytes"] for each in about["files"].values()]
    return Backup(len(sizes), sum(sizes), str(about["made"]), encrypted)
