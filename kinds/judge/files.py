"""The data files of a release, read for the audit; of any kind that releases rows."""

import gzip
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from anon_core.errors import InputError
from crowdcover.kinds.judge.audit import Finding
from crowdcover.kinds.judge.traces import find_file_traces
from crowdcover.kinds.partial_files import ColumnFile
from crowdcover.storage.shelf.layout import KEY
from crowdcover.storage.source.csv_rows import first_rows, read_csv
from crowdcover.storage.source.csv_text import MOST_FIELD_BYTES
from crowdcover.storage.source.panics import silence_panics
from crowdcover.storage.source.values import FOREIGN_ERRORS

TOLD = "headers, footers and pages tell nothing but the rows"
_AT_ONCE = 50_000  # rows whose text is held at a time
_ODD = ("\r", "\0", "\ufeff")  # readers of CSV take each of them for something else somewhere

Flat = Callable[[Any], pl.DataFrame]


@dataclass(frozen=True)
class _File:
    """What was read of one file.

    Attributes
    ----------
    rows : DataFrame
    traces : list of str
        What else the file tells.
    texts : callable
        Yields the CSV text of the rows, some of them at a time.
    """

    rows: pl.DataFrame
    traces: list[str]
    texts: Callable[[], Iterator[bytes]]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the rows as CSV; their text is never held whole."""
        found = hashlib.sha256()
        for part in self.texts():
            found.update(part)
        return found.hexdigest()


def read_rows(
    folder: Path,
    files: Mapping[str, str],
    formats: Sequence[str],
    flat: Flat | None = None,
    *,
    flattened: bool = False,
) -> tuple[pl.DataFrame | None, list[Finding]]:
    """Read the released rows, None if that fails; all formats must hold the same table.

    `files` names the file of each format. `flat` gives rows as a CSV file holds them, and then the
    CSV file must be written so; by default rows stay as they are. With `flattened`, rows are
    returned as `flat` gives them, and it is called with columns that may be read one by one.
    """
    read: list[_File] = []
    notes: list[str] = []
    for kind in formats:
        found = _read_file(folder / files[kind], kind, flat, flattened, notes, read[:1])
        read += [] if found is None else [found]
    readable = Finding(
        "readable files",
        len(read) == len(formats),
        f"{len(read)} of {len(formats)} formats are there and can be read",
    )
    if not readable.passed:
        return None, [readable]
    # A file that was compared with the first one as it was read is that one's text.
    other = [each for each in read[1:] if each.texts is not read[0].texts]
    same = all(each.digest == read[0].digest for each in other)
    traced = [trace for each in read for trace in each.traces]
    return read[0].rows, [
        readable,
        Finding("same table in every format", same, f"{len(formats)} formats compared"),
        Finding(
            "no traces in the files",
            not traced,
            "; ".join(traced or [TOLD, *notes]),
        ),
    ]


def _read_file(
    path: Path,
    kind: str,
    flat: Flat | None,
    flattened: bool,
    notes: list[str],
    first: Sequence[_File],
) -> _File | None:
    """Read one file; None if that fails. `first` has the file that was read first, if any."""
    try:
        with silence_panics():
            if kind == "parquet":
                return _read_parquet(path, flat, flattened, notes)
            if first and _is_written(path, first[0], flat, flattened):
                return _File(first[0].rows, find_file_traces(path, kind), first[0].texts)
            return _read_csv(path, flat)
    except FOREIGN_ERRORS:
        return None


def _read_parquet(path: Path, flat: Flat | None, flattened: bool, notes: list[str]) -> _File:
    columns = ColumnFile(path)
    found = find_file_traces(path, "parquet", columns, notes)
    if flattened and flat is not None:
        rows, flat = flat(columns), None
    else:
        rows = pl.read_parquet(path, glob=False)
    for _ in _list_texts(rows[:1], flat):
        pass  # values that no CSV file can hold are an error already here
    return _File(rows, found, lambda: _list_texts(rows, flat))


def _read_csv(path: Path, flat: Flat | None) -> _File:
    (names,) = first_rows(path, ",", 1)
    rows = read_csv(path, ",", header=True, names=names, needed=names)
    # CSV writes a missing value as nothing.
    rows = rows.with_columns(pl.all().replace("", None))
    found = _File(rows, find_file_traces(path, "csv"), lambda: _list_unpacked(path))
    if flat is not None:
        shown = flat(rows)
        if _File(shown, [], lambda: _list_texts(shown)).digest != found.digest:
            found.traces.append("the CSV file writes its rows in another way")
    return found


def _is_written(path: Path, first: _File, flat: Flat | None, flattened: bool) -> bool:
    """Whether a CSV file is, byte by byte, what is written of rows that were read before.

    Then nothing in it needs to be read, if readers of CSV agree about its text. False says
    nothing: the file has to be read.
    """
    rows = first.rows
    if flat is not None and not (flattened and flat(rows).equals(rows)):
        return False
    if not rows.width or rows[:, 0].null_count() or not _are_texts_plain(rows):
        return False
    with gzip.open(path) as file:
        whole = all(file.read(len(part)) == part for part in first.texts())
        return whole and not file.read(1)


def _are_texts_plain(rows: pl.DataFrame) -> bool:
    """Whether all names and texts are the same to every reader of CSV, and none is empty."""
    texts = [pl.Series(rows.columns, dtype=pl.String)]
    for column in rows:
        if isinstance(column.dtype, pl.Enum):
            texts.append(column.dtype.categories)
        elif column.dtype == pl.String:
            texts.append(column.alias(""))
        elif column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Categorical):
            return False
    return all(
        each.str.len_bytes().is_between(1, MOST_FIELD_BYTES).all()
        and not each.str.contains_any([*_ODD]).any()
        for each in texts
    )


def _list_texts(rows: pl.DataFrame, flat: Flat | None = None) -> Iterator[bytes]:
    """The rows as CSV, some at a time."""
    for first in range(0, max(1, rows.height), _AT_ONCE):
        some = rows[first : first + _AT_ONCE]
        some = some if flat is None else flat(some)
        some = some.cast({pl.Enum: pl.String})
        yield some.write_csv(include_header=first == 0).encode()


def _list_unpacked(path: Path) -> Iterator[bytes]:
    """What a gzip file holds, some of it at a time.

    The text itself, not what is read in it: other quotes or line ends are other bytes.
    """
    with gzip.open(path) as file:
        while part := file.read(2**20):
            yield part


def read_matching(path: Path) -> pl.DataFrame:
    """Read the vault's record -> key."""
    try:
        with silence_panics():
            return pl.read_parquet(path, glob=False, schema={"record": pl.Int64, KEY: pl.String})
    except FOREIGN_ERRORS:
        raise InputError(
            f"the vault's {path.name} cannot be read; "
            "restore the vault that the release was made with"
        ) from None
