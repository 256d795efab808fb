"""Files of a job's folder, written aside and renamed once."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Arrays
from anon_core.errors import InputError

# What reading a damaged file may raise, and what its file system may.
DAMAGED_FILE_ERRORS = (EOFError, KeyError, TypeError, ValueError, BadZipFile)
FILE_ERRORS = (*DAMAGED_FILE_ERRORS, OSError)


def digest_of(shape: Mapping[str, Any], arrays: Arrays) -> str:
    """Return the SHA-256 of a JSON document and of arrays by name."""
    digest = hashlib.sha256(json.dumps(shape, sort_keys=True).encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()


def write_part(folder: Path, name: str, part: NDArray[Any]) -> dict[str, Any]:
    """Write a rank's part of an array; return its entry in the file that names all parts."""
    part = np.ascontiguousarray(part)
    write_array(folder / name, part)
    return {"file": name, "sha256": hashlib.sha256(part.data).hexdigest()}


def read_part(folder: Path, part: Mapping[str, Any]) -> NDArray[Any]:
    """Return a part of an array as it was written.

    Raises
    ------
    InputError
        It is another one.
    """
    array: NDArray[Any] = np.load(folder / part["file"])
    if hashlib.sha256(array.data).hexdigest() != part["sha256"]:
        raise InputError(
            "a part of a checkpoint is not as it was written; remove checkpoint.json, start anew"
        )
    return array


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array aside and rename it once."""
    with _open_replacement(path) as handle:
        np.save(handle, array)


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Write arrays by name aside and rename the file once."""
    with _open_replacement(path) as handle:
        np.savez(handle, allow_pickle=False, **arrays)


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file by name."""
    with path.open("rb") as handle, np.load(handle) as arrays:
        return {name: arrays[name] for name in arrays.files}


def write_job_file(path: Path, document: Mapping[str, Any]) -> None:
    """Write a JSON object aside and rename it once."""
    with _open_replacement(path) as handle:
        handle.write((json.dumps(document, indent=2) + "\n").encode())


@contextmanager
def _open_replacement(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file, mode 0600, that replaces this one once it is on the disk.

    Several ranks may do so at the same time.
    """
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
        yield handle
        handle.flush()
        os.fsync(handle.fileno())
    os.rename(aside, path)


def read_job_file(path: Path) -> dict[str, Any]:
    """Return a JSON object from a file; an empty one if the file is absent or damaged."""
    try:
        return dict(json.loads(path.read_text()))
    except FILE_ERRORS:
        return {}


def has_arrays(path: Path, arrays: Arrays) -> bool:
    """Return whether the file holds these arrays; one at a time is read."""
    try:
        with path.open("rb") as handle, np.load(handle) as stored:
            return all(np.array_equal(stored[name], array) for name, array in arrays.items())
    except FILE_ERRORS:
        return False
