"""Rows of CSV text, counted before they are believed. No Prefect here, so that `plan` and `audit` start at once.

The standard library's parser decides what a row is; polars, which is faster and laxer, reads what both see alike.
"""

import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import IO

import polars as pl

from anon_core.errors import InputError

MOST_FIELD_BYTES = 2**24
ROWS_AT_ONCE = 50_000
NO_TEXT = re.compile(r"[\udc80-\udcff]")  # bytes that were no UTF-8
NOT_UTF8 = (
    "{foreign} of the {all} lines read of the source are not UTF-8 text; "
    "convert it (e.g. iconv -f LATIN1 -t UTF-8); a compressed file must be named .gz"
)
BAD_GZIP = (
    "the source is named .gz, but its gzip stream is damaged, breaks off or is none; write it anew"
)
BAD_QUOTES = "a quoted field of the source does not end, ends before its separator or is over 16 MiB; mend the quotes"
FOREIGN_ERRORS = (Exception, pl.exceptions.PanicException)  # polars panics on some damaged files


def first_rows(path: Path, separator: str, number: int) -> list[list[str]]:
    """The fields of the first rows, be they names or cells; fewer where all other lines are blank."""
    marks: Counter[str] = Counter()
    with closing(_rows(path, separator, marks)) as rows:
        first = list(islice(rows, number))
    if marks["foreign"]:
        raise InputError(NOT_UTF8.format(**marks))
    return first


def read_csv(
    path: Path, separator: str, header: bool, names: Sequence[str], needed: Sequence[str]
) -> pl.DataFrame:
    """The needed ones of the named columns as text; refused unless every row has a field for each name."""
    marks: Counter[str] = Counter()
    rows = _count_rows(path, separator, len(names), marks) - header
    places = sorted(names.index(name) for name in needed)
    frame = None if marks["odd"] else _parse_plain(path, separator, header, places)
    if frame is None or frame.height != rows:
        frame = _parse(path, separator, header, places)
    frame.columns = [names[place] for place in places]
    return frame


def _open_text(path: Path) -> IO[str]:
    opened: Callable[..., IO[str]] = gzip.open if path.suffix.lower() == ".gz" else open
    return opened(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="")


def _rows(path: Path, separator: str, marks: Counter[str]) -> Generator[list[str], None, None]:
    """Rows that are not blank, a header among them; what cannot be read becomes a refusal without the error behind it."""
    csv.field_size_limit(MOST_FIELD_BYTES)
    refusal = ""
    try:
        with _open_text(path) as handle:
            yield from filter(
                None, csv.reader(_marked(handle, marks), delimiter=separator, strict=True)
            )
    except (EOFError, zlib.error, gzip.BadGzipFile):
        refusal = BAD_GZIP
    except OSError:
        refusal = "the source file cannot be read; check its permissions"
    except csv.Error:
        refusal = BAD_QUOTES
    if marks["foreign"]:
        refusal = NOT_UTF8.format(**marks)
    if refusal:
        raise InputError(refusal)


def _marked(handle: IO[str], marks: Counter[str]) -> Iterator[str]:
    """The lines; counts all, those that polars takes for something else, and those that are no UTF-8 text."""
    for line in handle:
        marks["all"] += 1
        marks["odd"] += line.isspace() or line.endswith("\r")
        marks["foreign"] += "\0" in line or (
            not line.isascii() and NO_TEXT.search(line) is not None
        )
        yield line


def _count_rows(path: Path, separator: str, fields: int, marks: Counter[str]) -> int:
    """Number of rows; polars fills up short rows in silence, so every row is counted through once."""
    total = ragged = 0
    for row in _rows(path, separator, marks):
        total += 1
        ragged += len(row) != fields
    if ragged:
        raise InputError(
            f"{ragged} of {total} rows of the source have more or fewer than {fields} fields; mend them or source.separator"
        )
    return total


def _parse_plain(
    path: Path, separator: str, header: bool, places: Sequence[int]
) -> pl.DataFrame | None:
    """Some columns by polars; None where it takes the text for no CSV."""
    try:
        return pl.read_csv(
            path,
            has_header=header,
            columns=list(places),
            separator=separator,
            infer_schema=False,
            raise_if_empty=False,
            glob=False,
        )
    except FOREIGN_ERRORS:
        return None


def _parse(path: Path, separator: str, header: bool, places: Sequence[int]) -> pl.DataFrame:
    """Some columns by the rules that the rows were counted by."""
    blocks = [pl.DataFrame(schema={str(place): pl.String for place in places})]
    with closing(_rows(path, separator, Counter())) as rows:
        if header:
            next(rows)
        while block := list(islice(rows, ROWS_AT_ONCE)):
            blocks.append(
                pl.DataFrame({str(place): [row[place] for row in block] for place in places})
            )
    return pl.concat(blocks)
