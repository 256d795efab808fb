"""A table in many Parquet files: a folder or a pattern, local or in object storage.

Columns of names such as `year=2024/month=3/part-0.parquet` are read as columns, where the files
themselves lack them. The order in which a folder is listed decides nothing: files are taken in the
order of their names, and the fingerprint is of names and bytes.
"""

import hashlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import unquote

import polars as pl
import polars.selectors as cs

from anon_core.errors import InputError
from crowdcover.storage.places.objects import ObjectPath
from crowdcover.storage.places.place import Place
from crowdcover.storage.source.file_bytes import CHANGED_MEANWHILE, CLOSED
from crowdcover.storage.source.formats.columnar import Parquet
from crowdcover.storage.source.snapshot.pieces import Pieces
from crowdcover.storage.source.values import call_or_refuse

HIVE_MISSING = "__HIVE_DEFAULT_PARTITION__"  # how Hive and Spark write a missing value
NO_PARQUET = "a file of the source is no readable Parquet; write it anew"
WILDCARDS = re.compile(r"[*?]")
# 18 digits fit an int64; a leading zero makes the label a text.
WHOLE_LABEL = re.compile(r"-?(0|[1-9][0-9]{0,17})")


class Parts:
    """Names and bytes of the files, by name: in memory, then in one file.

    Memory: all bytes until `move_to_disk`, then those of a file at a time.

    Attributes
    ----------
    names : list of str
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._pieces = Pieces()

    def add_file(self, name: str, data: bytes) -> None:
        """Hold the bytes of one more file."""
        self.names.append(name)
        self._pieces.add_piece(data)

    @property
    def sha256(self) -> str:
        """Hash of all names and bytes."""
        # A name holds no NUL and a hash has 64 digits: no two lists of files give one text.
        hashes = zip(self.names, self._pieces.hashes, strict=True)
        lines = (f"{name}\0{sha256.hex()}\n" for name, sha256 in hashes)
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    @cached_property
    def schema(self) -> dict[str, pl.DataType]:
        """Columns and types of the files; refused where they differ."""
        schemas = [
            call_or_refuse(lambda: dict(scan.collect_schema()), NO_PARQUET)  # noqa: B023
            for scan in self.scan_files()
        ]
        if other := sum(schema != schemas[0] for schema in schemas):
            raise InputError(
                f"{other} of {len(schemas)} files of the source have other columns or types than "
                "the first; write them with one schema"
            )
        return schemas[0]

    def scan_files(self) -> Iterator[pl.LazyFrame]:
        """Scan file by file; refused: a snapshot with other bytes than were written."""
        for data in self._pieces:
            yield pl.scan_parquet(io.BytesIO(data), glob=False, hive_partitioning=False)

    def move_to_disk(self, disk: IO[bytes]) -> None:
        """Write all files into an empty one and give the memory back."""
        self._pieces.move_to_disk(disk)

    def read_from(self, disk: IO[bytes]) -> "Parts":
        """Return the files by a duplicate of the one that holds them."""
        parts = copy(self)
        parts._pieces = self._pieces.read_from(disk)
        return parts


def is_pattern(path: Place) -> bool:
    """Whether a path is a pattern; a local file of that very name is none."""
    named = WILDCARDS.search(str(path)) is not None
    return named and not (isinstance(path, Path) and path.exists())


def in_parts(path: Place) -> bool:
    """Whether a path is a pattern or a folder."""
    if is_pattern(path):
        return True
    if isinstance(path, Path):
        return path.is_dir()
    return not path.is_file() and path.is_dir()


def read_parts(path: Place, key: str) -> Parts:
    """Read all files at one moment; `key` is the plan's key that names them.

    Refused: no file, files that are no Parquet, files that change meanwhile.
    """
    folder, pattern = _separate_pattern(path)
    before = _list_files(folder, pattern)
    strange = sum(not name.endswith(Parquet.ends) for name in before)
    if strange:
        raise InputError(
            f"{strange} of {len(before)} files at {key} are no Parquet by their names; name only "
            "Parquet files, such as people/**/*.parquet"
        )
    if not before:
        raise InputError(f"no Parquet file was found at {key}; name a file, a folder or a pattern")
    parts = Parts()
    try:
        for name in before:
            parts.add_file(name, (folder / name).read_bytes())
    except FileNotFoundError:
        raise InputError(CHANGED_MEANWHILE) from None
    except PermissionError:
        raise InputError(CLOSED) from None
    # Files are read one after another; equal stamps before and after make it one moment.
    if _list_files(folder, pattern) != before:
        raise InputError(CHANGED_MEANWHILE)
    return parts


def read_object(path: ObjectPath, key: str) -> bytes:
    """Read one object; refused if it is not there, is empty, or changes meanwhile."""
    try:
        before = path.stamp()
        content = path.read_in_blocks()
        after = path.stamp()
    except FileNotFoundError:
        raise InputError(f"the source {path.name} was not found; correct {key}") from None
    if before != after:
        raise InputError(CHANGED_MEANWHILE)
    return content


def part_names(parts: Parts) -> list[str]:
    """Names of the columns: those of the files, then those of their names."""
    keys = _list_partition_keys(parts)
    return [*parts.schema, *(name for name in keys if name not in parts.schema)]


def part_columns(parts: Parts, needed: Sequence[str]) -> pl.DataFrame:
    """The needed columns of all files, in the order of the files' names."""
    added = [values for name, values in _of_names(parts).items() if name not in parts.schema]
    frames = []
    for number, scan in enumerate(parts.scan_files()):
        stated = [pl.lit(each[number], dtype=each.dtype).alias(each.name) for each in added]
        # by_name: a plain select takes a name such as ^a$ for a pattern.
        frame = scan.with_columns(stated).select(cs.by_name(*needed))
        frames.append(call_or_refuse(frame.collect, NO_PARQUET))
    return pl.concat(frames)


def _separate_pattern(path: Place) -> tuple[Place, re.Pattern[str] | None]:
    """The folder before a pattern, and the pattern."""
    if not is_pattern(path):
        return path, None
    parts = str(path).split("/")
    first = next(number for number, part in enumerate(parts) if WILDCARDS.search(part))
    # Of /*.parquet the text before is empty, of *.parquet there is none.
    start = "/".join(parts[:first]) or ("/" if first else ".")
    folder = ObjectPath(start) if isinstance(path, ObjectPath) else Path(start)
    return folder, _compile_pattern("/".join(parts[first:]))


def _compile_pattern(text: str) -> re.Pattern[str]:
    """`*` and `?` match within a name, `**/` any folders."""
    signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    # The longest sign first: else ** would be read as two *.
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", text)
    return re.compile("".join(signs.get(part, re.escape(part)) for part in parts))


def _list_files(folder: Place, pattern: re.Pattern[str] | None) -> dict[str, tuple[str, ...]]:
    """The files by their names: what tells their contents apart. Marks of other tools are none."""
    found = folder.below() if isinstance(folder, ObjectPath) else _list_local_files(folder)
    return {
        name: stamp
        for name, stamp in sorted(found.items())
        if not any(part.startswith(("_", ".")) for part in PurePosixPath(name).parts)
        and (pattern is None or pattern.fullmatch(name))
    }


def _list_local_files(folder: Path) -> dict[str, tuple[str, ...]]:
    stamps = {}
    try:
        for path in folder.rglob("*"):
            if path.is_file():
                about = path.stat()
                # The inode tells a file that was replaced by one of equal size and time.
                now = (about.st_size, about.st_mtime_ns, about.st_ino)
                stamps[path.relative_to(folder).as_posix()] = tuple(map(str, now))
    except FileNotFoundError:
        raise InputError(CHANGED_MEANWHILE) from None
    except PermissionError:
        raise InputError(CLOSED) from None
    return stamps


def _list_partition_keys(parts: Parts) -> list[str]:
    """Columns that all names state, in their order; refused where they differ."""
    stated = [list(_parse_partition_pairs(name)) for name in parts.names]
    if other := sum(keys != stated[0] for keys in stated):
        raise InputError(
            f"{other} of {len(stated)} files of the source state other columns in their names than "
            "the first; write all of them below the same keys"
        )
    return stated[0]


def _parse_partition_pairs(name: str) -> Mapping[str, str]:
    folders = PurePosixPath(name).parts[:-1]
    return {
        unquote(key): unquote(value)
        for key, equals, value in (folder.partition("=") for folder in folders)
        if equals
    }


def _of_names(parts: Parts) -> dict[str, pl.Series]:
    """The columns that names state, a value for each file: whole numbers, or else texts."""
    columns = {}
    for key in _list_partition_keys(parts):
        values = [_parse_partition_pairs(name)[key] for name in parts.names]
        given = [None if value == HIVE_MISSING else value for value in values]
        whole = all(value is None or WHOLE_LABEL.fullmatch(value) for value in given)
        texts = pl.Series(key, given, dtype=pl.String)
        columns[key] = texts.cast(pl.Int64) if whole else texts
    return columns
