"""Files of a vault: replaced in one step, mode 0600, encrypted where the vault is.

Whoever reads gets plain bytes: hashes are of these, so encryption changes no byte of a release.
"""

import hashlib
import io
import json
import os
import secrets
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from crowdcover.storage.encryption.encryption import (
    HEADER,
    DamagedError,
    decrypt_bytes,
    decrypt_stream,
    encrypt_stream,
    is_encrypted,
    recipient_for,
    refuse_plain,
    vault_around,
)
from crowdcover.storage.encryption.plain_copies import (
    create_private_file,
    plain_copy,
    plain_place,
    room_of,
    sweep_plain_copies,
)
from crowdcover.storage.places.place import link_once
from crowdcover.storage.vault.secret_streams import SEED_BYTES

# What reading a damaged record raises.
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError)


def holds_files(folder: Path, files: Mapping[str, str]) -> bool:
    """Whether a folder contains these files with these hashes."""
    return all(
        (folder / name).is_file() and file_sha256(folder / name) == sha
        for name, sha in files.items()
    )


def flush_folder(folder: Path) -> None:
    """Flush the files of a folder to disk before anything refers to it."""
    # The folder last: it makes names durable, and their bytes are on the disk by then.
    for path in (*folder.iterdir(), folder):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def file_sha256(path: Path) -> str:
    """Hash of a file's bytes; of an encrypted file, of its plain bytes."""
    with path.open("rb") as handle:
        encrypted = handle.read(len(HEADER)) == HEADER
        handle.seek(0)
        if not encrypted:
            refuse_plain(path)
            return hashlib.file_digest(handle, "sha256").hexdigest()
        digest = _Digest()
        decrypt_stream(handle, digest, str(path))
        return digest.content.hexdigest()


class _Digest(io.RawIOBase):
    """A stream that only hashes."""

    def __init__(self) -> None:
        self.content = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self.content.update(part)
        return len(part)


def read_private(path: Path, keys: Sequence[Any] | None = None) -> bytes:
    """The plain bytes of a file; its key is one of these, or of the environment."""
    content = path.read_bytes()
    if not content.startswith(HEADER):
        refuse_plain(path)
        return content
    if (vault := vault_around(path)) is not None:
        sweep_plain_copies(vault)
    return decrypt_bytes(content, str(path), keys)


def read_secret(path: Path) -> bytes:
    """A seed or key; refused if bytes are missing: what is drawn from fewer could be guessed."""
    content = read_private(path)
    if len(content) != SEED_BYTES:
        raise DamagedError(
            f"{path} is damaged: it has {len(content)} bytes, {SEED_BYTES} are required; restore "
            "it from a backup"
        )
    return content


def read_json(path: Path, keys: Sequence[Any] | None = None) -> dict[str, Any]:
    """Read a JSON object from a file; its key is one of these, or of the environment."""
    return dict(json.loads(read_private(path, keys).decode()))


def find_readable_path(path: Path) -> Path:
    """A path under which other libraries can read a file: its own, or that of a plain copy."""
    vault = vault_around(path)
    if vault is None or not path.is_file():
        return path
    if not is_encrypted(path):
        refuse_plain(path)
        return path
    return plain_copy(vault, path)


def readable_folder(folder: Path) -> Path:
    """A folder in which other libraries can read all files of a folder: it, or plain copies."""
    vault = vault_around(folder)
    if vault is None or not folder.is_dir():
        return folder
    files = [path for path in folder.iterdir() if path.is_file()]
    # One room for all of them: copied one by one, some could come to lie on another disk.
    room = room_of(vault, sum(path.stat().st_size for path in files))
    place = room.place(folder)
    place.mkdir(mode=0o700, exist_ok=True)
    # A stage that was made again may have fewer files; readers take every file of the folder.
    for leftover in {path.name for path in place.iterdir()} - {path.name for path in files}:
        (place / leftover).unlink()
    for path in files:
        if is_encrypted(path):
            room.copy(path)
        else:
            refuse_plain(path)
            shutil.copyfile(path, place / path.name)
    return place


def how_to_read(path: Path) -> str:
    """What to tell a person who shall read a file: its path, or the command that decrypts it."""
    vault = vault_around(path)
    if vault is None or recipient_for(path) is None:
        return str(path)
    places = path.absolute().relative_to(vault), vault, path.name
    inside, around, output = (shlex.quote(str(each)) for each in places)
    return f"it by: crowdcover vault read {inside} --vault {around} --output {output}"


def find_scratch_folder(folder: Path) -> Path:
    """Where nameless files may lie for a while: in this folder, unless its vault is encrypted."""
    vault = vault_around(folder)
    return folder if vault is None else room_of(vault).folder


def prepare_plain_folder(folder: Path) -> Path:
    """Where the files of a new folder are written before `move_into_vault` puts them there."""
    vault = vault_around(folder)
    if vault is None:
        return folder
    place = plain_place(vault, folder)
    shutil.rmtree(place, ignore_errors=True)
    return place


def move_into_vault(plain: Path, folder: Path) -> None:
    """Put a folder of plain files into an encrypted vault."""
    if plain == folder:
        return
    recipient = recipient_for(folder)
    folder.mkdir(mode=0o700)
    for path in sorted(plain.iterdir()):
        with path.open("rb") as source, create_private_file(folder / path.name) as target:
            _copy_stream(source, target, recipient)
    flush_folder(folder)
    # After the flush: until then the plain files are the only whole copy.
    shutil.rmtree(plain, ignore_errors=True)


def remove_folder(folder: Path) -> None:
    """Take a folder away in one step: nobody finds it half removed, not even after a kill."""
    aside = build_partial_path(folder)
    shutil.rmtree(aside, ignore_errors=True)
    if folder.exists():
        os.rename(folder, aside)
        shutil.rmtree(aside, ignore_errors=True)


def build_partial_path(path: Path) -> Path:
    """Its name while it is made or removed; what is left under it is worth nothing."""
    return path.with_name(f".{path.name}.partial")


def is_partial(path: Path) -> bool:
    """Whether a path is named as what is being made or removed; no plan's name begins so."""
    return path.name.startswith(".") and path.name.endswith(".partial")


@contextmanager
def open_replacement_path(path: Path) -> Iterator[Path]:
    """A path to which other libraries can write what becomes this file."""
    vault = vault_around(path)
    if vault is None:
        # In a plain vault the library writes in place. The caller removes what a kill leaves.
        yield path
        return
    plain = plain_place(vault, path)
    try:
        yield plain
        with plain.open("rb") as source, open_replacement_file(path) as target:
            _copy_stream(source, target, recipient_for(path))
    finally:
        plain.unlink(missing_ok=True)


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Replace a file by a JSON object in one step, mode 0600."""
    write_private(path, (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())


def write_private_once(path: Path, content: bytes) -> None:
    """Write a file in one step, mode 0600, unless there is one: of two processes the first's stays.

    What is drawn twice must be one: a key that another process has used is never replaced.
    """
    # A random name: two processes may draw at once, and each must fill a file of its own.
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
    try:
        with _open_flushed_file(aside) as handle:
            _copy_stream(io.BytesIO(content), handle, recipient_for(path))
        link_once(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def write_private(path: Path, content: bytes) -> None:
    """Replace a file in one step, mode 0600."""
    recipient = recipient_for(path)
    with open_replacement_file(path) as handle:
        _copy_stream(io.BytesIO(content), handle, recipient)


@contextmanager
def open_private_replacement(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file, mode 0600, that replaces `path` once all of it is written."""
    recipient, vault = recipient_for(path), vault_around(path)
    with open_replacement_file(path) as handle:
        if recipient is None or vault is None:
            yield handle
        else:
            # A file without a name: a kill leaves no plain bytes behind.
            with tempfile.TemporaryFile(dir=room_of(vault).folder) as plain:
                yield cast("BinaryIO", plain)
                plain.seek(0)
                encrypt_stream(plain, handle, recipient)


def _copy_stream(source: IO[bytes], target: IO[bytes], recipient: str | None) -> None:
    """Copy a stream, encrypted if there is a recipient."""
    if recipient is None:
        shutil.copyfileobj(source, target)
    else:
        encrypt_stream(source, target, recipient)


@contextmanager
def _open_flushed_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file, mode 0600; all of it is on the disk when it is closed."""
    with create_private_file(path) as handle:
        yield cast("BinaryIO", handle)
        handle.flush()
        os.fsync(handle.fileno())


@contextmanager
def open_replacement_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file, mode 0600, that takes this path once all of it is on the disk."""
    aside = build_partial_path(path)
    # A killed process may have left it, and `create_private_file` refuses a file that exists.
    aside.unlink(missing_ok=True)
    try:
        with _open_flushed_file(aside) as handle:
            yield handle
        # The bytes are on the disk before the name: after a crash the file is old or new.
        os.rename(aside, path)
    except BaseException as error:
        aside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = error.filename or str(path)  # a failed write names no file
        raise
