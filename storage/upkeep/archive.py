"""The file of a backup: a tar archive with a table of contents, encrypted in the age format.

    backup.json    the hash of every file
    ...            the files, as they lie in the vault
    end.json       the hash of backup.json

A file that is cut anywhere, altered, or longer than its table says is no backup.
"""

import errno
import hashlib
import json
import os
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

from anon_core.errors import AnonymityError
from crowdcover.storage.encryption.encryption import (
    HEADER,
    DamagedError,
    decrypt_stream,
    encrypt_stream,
)
from crowdcover.storage.encryption.plain_copies import create_private_file
from crowdcover.storage.vault.build import CODE_VERSION

_ABOUT, END = "backup.json", "end.json"  # the first and the last file of the archive
_FORMAT = 1
CHUNK = 1 << 20


class BackupError(AnonymityError):
    """A backup cannot be made, or the file is none."""


def build_table_of_contents(folder: Path) -> dict[str, Any]:
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
        "format": _FORMAT,
        "crowdcover": CODE_VERSION,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "files": files,
    }


def write_backup(
    folder: Path, about: Mapping[str, Any], target: IO[bytes], recipient: str | None
) -> None:
    """Write the files of a folder to a stream, encrypted if there is a recipient."""
    if recipient is None:
        _write_tar(folder, about, target)
        return
    with _pump_stream(lambda into: _write_tar(folder, about, into)) as source:
        encrypt_stream(source, target, recipient)


def _write_tar(folder: Path, about: Mapping[str, Any], target: IO[bytes]) -> None:
    content = json.dumps(about, indent=1).encode()
    end = json.dumps({_ABOUT: hashlib.sha256(content).hexdigest()}).encode()
    with tarfile.open(fileobj=target, mode="w|") as archive:
        _add_member(archive, _ABOUT, content)
        for name in about["files"]:
            path = folder / name
            member = tarfile.TarInfo(name)
            member.size, member.mode = path.stat().st_size, 0o600
            member.mtime = int(path.stat().st_mtime)
            with path.open("rb") as source:
                archive.addfile(member, source)
        # A tar file that is cut between members reads as a shorter one; this last member tells.
        _add_member(archive, END, end)


def _add_member(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o600
    archive.addfile(member, BytesIO(content))


def read_backup(file: Path, keys: Sequence[Any] | None, into: Path | None) -> dict[str, Any]:
    """Read a backup to its end, compare every hash, and write its files if a folder is given.

    Refused: anything that is not as the table of contents says, and files that it does not name.
    """
    try:
        with _open_backup(file, keys) as source, tarfile.open(fileobj=source, mode="r|") as archive:
            about, sha256 = _read_table_of_contents(archive)
            left = dict(about["files"])
            while (member := archive.next()) is not None and member.name != END:
                # pop: a name that is unknown or comes twice raises KeyError.
                stated = left.pop(member.name)
                if _copy_member(archive, member, into) != stated["sha256"]:
                    raise ValueError(member.name)
            if left or member is None:
                raise ValueError("files are missing")
            # The end belongs to this table: members of two backups cannot be mixed.
            if json.loads(_open_member(archive, member).read()) != {_ABOUT: sha256}:
                raise ValueError(_ABOUT)
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
    # The last chunk of age is marked, so only reading on finds a truncated stream.
    while source.read(CHUNK):
        pass


def _read_table_of_contents(archive: tarfile.TarFile) -> tuple[dict[str, Any], str]:
    """The table of contents and its hash; no name in it leads out of a folder."""
    first = archive.next()
    if first is None or first.name != _ABOUT:
        raise ValueError(_ABOUT)
    content = _open_member(archive, first).read()
    about = dict(json.loads(content))
    if about["format"] != _FORMAT:
        raise BackupError("the backup is of another version of crowdcover; use that version")
    for name in about["files"]:
        place = PurePosixPath(name)
        # PurePosixPath drops ./ and //: such a name could lead to the file of another entry.
        if place.is_absolute() or ".." in place.parts or name != str(place):
            raise ValueError(name)
    return about, hashlib.sha256(content).hexdigest()


def _copy_member(archive: tarfile.TarFile, member: tarfile.TarInfo, into: Path | None) -> str:
    """The hash of a member; it is written if a folder is given."""
    source, digest = _open_member(archive, member), hashlib.sha256()
    with _create_member_file(into, member) as target:
        while part := source.read(CHUNK):
            digest.update(part)
            target.write(part)
    if into is not None:
        os.utime(into / member.name, (member.mtime, member.mtime))
    return digest.hexdigest()


def _create_member_file(into: Path | None, member: tarfile.TarInfo) -> IO[bytes]:
    """A new file of this name, in folders with mode 0700; else a hole."""
    if into is None:
        return Path(os.devnull).open("wb")
    path = into / member.name
    for above in reversed(PurePosixPath(member.name).parents):
        (into / above).mkdir(mode=0o700, exist_ok=True)
    return create_private_file(path)


def _open_member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    reader = archive.extractfile(member)
    if reader is None or not member.isreg():
        raise ValueError(member.name)
    return reader


@contextmanager
def _open_backup(file: Path, keys: Sequence[Any] | None) -> Iterator[IO[bytes]]:
    """The archive in a backup, decrypted."""
    with file.open("rb") as handle:
        encrypted = handle.read(len(HEADER)) == HEADER
        handle.seek(0)
        if not encrypted:
            # tar pads to records of 10,240 bytes, so most plain files that were cut show here.
            if file.stat().st_size % tarfile.RECORDSIZE:
                raise ValueError("half a record")
            yield handle
            return
        with _pump_stream(lambda into: decrypt_stream(handle, into, str(file), keys)) as source:
            yield source


@contextmanager
def _pump_stream(work: Callable[[IO[bytes]], None]) -> Iterator[IO[bytes]]:
    """What `work` writes, as a stream to read; its error is raised here."""
    # tarfile and pyrage each want to drive the stream, so one of them runs in a thread.
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
        # EPIPE only says that the reader stopped early, for an error of its own.
        if errors and getattr(errors[0], "errno", None) != errno.EPIPE:
            raise errors[0]
