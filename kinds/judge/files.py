"""The data files of a release, read for the audit; of any kind that releases rows."""

import gzip
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl

from anon_core.errors import InputError
from kinds.judge.audit import Finding
from kinds.judge.traces import find_file_traces
from storage.shelf.layout import KEY
from storage.source.csv_rows import first_rows, read_csv
from storage.source.panics import silence_panics
from storage.source.values import FOREIGN_ERRORS

TOLD = "headers, footers and pages tell nothing but the rows"
_AT_ONCE = 250_000  # rows whose text is held at a time

Flat = Callable[[pl.DataFrame], pl.DataFrame]


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
    returned as `flat` gives them.
    """
    first, texts, traced = None, [], []
    notes: list[str] = []
    for kind in formats:
        found = _read_file(folder / files[kind], kind, flat, flattened, notes)
        if found is not None:
            rows, text, more = found
            first = rows if first is None else first
            texts.append(text)
            traced += more
    readable = Finding(
        "readable files",
        len(texts) == len(formats),
        f"{len(texts)} of {len(formats)} formats are there and can be read",
    )
    if not readable.passed:
        return None, [readable]
    same = len(set(texts)) == 1
    return first, [
        readable,
        Finding("same table in every format", same, f"{len(formats)} formats compared"),
        Finding(
            "no traces in the files",
            not traced,
            "; ".join(traced or [TOLD, *notes]),
        ),
    ]


def _read_file(
    path: Path, kind: str, flat: Flat | None, flattened: bool, notes: list[str]
) -> tuple[pl.DataFrame, str, list[str]] | None:
    """The rows of one file, the hash of their text as CSV, and what else the file tells."""
    try:
        with silence_panics():
            if kind == "parquet":
                rows = pl.read_parquet(path, glob=False)
                shown = rows if flat is None else flat(rows)
                found = find_file_traces(path, kind, rows, notes)
                return shown if flattened else rows, _hash_of(shown), found
            (names,) = first_rows(path, ",", 1)
            rows = read_csv(path, ",", header=True, names=names, needed=names)
            # The text itself, not what is read in it: other quotes or line ends are other bytes.
            text = _hash_of_text(path)
            found = find_file_traces(path, kind, rows)
            # CSV writes a missing value as nothing.
            rows = rows.with_columns(pl.all().replace("", None))
            if flat is not None and _hash_of(flat(rows)) != text:
                found.append("the CSV file writes its rows in another way")
            return rows, text, found
    except FOREIGN_ERRORS:
        return None


def _hash_of(rows: pl.DataFrame) -> str:
    """SHA-256 of the rows as CSV; their text is never held whole."""
    parts = hashlib.sha256(rows[:0].write_csv().encode())
    for some in rows.iter_slices(_AT_ONCE):
        parts.update(some.write_csv(include_header=False).encode())
    return parts.hexdigest()


def _hash_of_text(path: Path) -> str:
    """SHA-256 of what a gzip file holds."""
    with gzip.open(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
