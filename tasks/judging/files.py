"""The data files of a release, read for the audit; of any kind that releases rows."""

import gzip
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl

from anon_core.errors import InputError
from tasks.judging.audit import Finding
from tasks.judging.traces import traces
from tasks.shelf.layout import KEY
from tasks.source.csv_rows import first_rows, read_csv
from tasks.source.panics import silenced_panics
from tasks.source.values import FOREIGN_ERRORS

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
    tables = [
        table
        for kind in formats
        if (table := _read(folder / files[kind], kind, flat, flattened)) is not None
    ]
    readable = Finding(
        "readable files",
        len(tables) == len(formats),
        f"{len(tables)} of {len(formats)} formats are there and can be read",
    )
    if not readable.passed:
        return None, [readable]
    same = len({text for _, text, _ in tables}) == 1
    traced = [trace for _, _, more in tables for trace in more]
    return tables[0][0], [
        readable,
        Finding("same table in every format", same, f"{len(formats)} formats compared"),
        Finding(
            "no traces in the files",
            not traced,
            "; ".join(traced) or "headers and footers tell nothing but the rows",
        ),
    ]


def _read(
    path: Path, kind: str, flat: Flat | None, flattened: bool
) -> tuple[pl.DataFrame, str, list[str]] | None:
    """The rows of one file, their text to compare formats by, and what else the file tells."""
    try:
        with silenced_panics():
            if kind == "parquet":
                rows = pl.read_parquet(path, glob=False)
                shown = rows if flat is None else flat(rows)
                found = traces(path, kind, rows)
                return shown if flattened else rows, shown.write_csv(), found
            (names,) = first_rows(path, ",", 1)
            rows = read_csv(path, ",", header=True, names=names, needed=names)
            text = gzip.decompress(path.read_bytes()).decode()
            found = traces(path, kind, rows)
            rows = rows.with_columns(pl.all().replace("", None))
            if flat is not None and flat(rows).write_csv() != text:
                found.append("the CSV file writes its rows in another way")
            return rows, text, found
    except FOREIGN_ERRORS:
        return None


def read_matching(path: Path) -> pl.DataFrame:
    """Read the vault's record -> key."""
    try:
        with silenced_panics():
            return pl.read_parquet(path, glob=False, schema={"record": pl.Int64, KEY: pl.String})
    except FOREIGN_ERRORS:
        raise InputError(
            f"the vault's {path.name} cannot be read; "
            "restore the vault that the release was made with"
        ) from None
