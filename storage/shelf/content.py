"""The files of a version, and whether they are the ones that are meant."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdcover.storage.places.place import Place
from crowdcover.storage.shelf.layout import ASIDE, VERSION


def hash_released_file(file: Place) -> str:
    """Hash of the bytes of a released file."""
    if not isinstance(file, Path):
        return file.sha256()
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def has_version_files(folder: Place, files: Mapping[str, str]) -> bool:
    """Whether a version has these files with these hashes."""
    return all(
        (folder / name).is_file() and hash_released_file(folder / name) == files[name]
        for name in files
    )


def in_order(names: set[str]) -> list[str]:
    """Those that name versions, the oldest first."""
    return sorted(filter(VERSION.fullmatch, names), key=lambda name: (len(name), name))


def name_aside(name: str) -> str:
    """The name of a version once it is put aside."""
    return name if name.endswith(ASIDE) else name + ASIDE


def read_document(file: Place) -> dict[str, Any]:
    """Read a JSON object from a released file; ValueError or TypeError where it is none."""
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except RecursionError:  # lists in lists: nothing that a release holds
        raise ValueError(file.name) from None
