"""Rows of CSV text: every row is counted before a cell is used.

The standard library's parser defines what a row is. polars parses faster but accepts more, so its
result counts only where both agree on the number of rows.
"""

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple, cast

import polars as pl

from anon_core.errors import InputError
from storage.places.place import Place
from storage.source.panics import silence_panics
from storage.source.values import FOREIGN_ERRORS

MOST_FIELD_BYTES = 2**24
ROWS_AT_ONCE = 50_000
NO_TEXT = re.compile(r"[\udc80-\udcff]")  # bytes that are not UTF-8, as surrogateescape reads them
NOT_UTF8 = (
    "{foreign} of the {all} lines read of the source are not UTF-8 text; convert it "
    "(e.g. iconv -f LATIN1 -t UTF-8); the first is line {first}"
)
ZEROS = (
    "{zeros} of the {all} lines read of the source hold NUL bytes, the first is line {first}: it "
    "is no text, or damaged; write it anew as CSV or Parquet"
)
BAD_GZIP = (
    "the source is named .gz, but its gzip stream is damaged, breaks off or is none; write it anew"
)
BAD_QUOTES = (
    "a quoted field of the source does not end, ends before its separator or is over 16 MiB, in "
    "the row that begins in line {start}; correct its quotes"
)
CLOSED = "the source file cannot be read; check its permissions"
GZIP_ERRORS = (EOFError, zlib.error, gzip.BadGzipFile)


class Content(NamedTuple):
    """The bytes of a CSV file, and whether they are gzip's."""

    data: bytes
    packed: bool


def is_packed(file: Place | Content) -> bool:
    """Whether a file is gzip's by its name."""
    return file.packed if isinstance(file, Content) else file.suffix.lower() == ".gz"


def first_rows(
    file: Path | Content, separator: str, number: int, comment: str = ""
) -> list[list[str]]:
    """Return the fields of the first rows, or of fewer if all other lines are blank.

    The first row may hold names or cells. Nothing behind these rows is read. Lines that start with
    `comment` are no rows.
    """
    marks: Counter[str] = Counter()
    with closing(_stream_rows(file, separator, marks, comment)) as rows:
        first = list(islice(rows, number))
    # A generator that is closed early does not reach its own look at the marks.
    if refusal := _no_text(marks):
        raise InputError(refusal)
    return first


def read_csv(
    file: Path | Content,
    separator: str,
    header: bool,
    names: Sequence[str],
    needed: Sequence[str],
    comment: str = "",
) -> pl.DataFrame:
    """Return the needed columns as text; `names` are those of all columns.

    The file is read and unpacked once. Lines that start with `comment` are no rows. Refused: a row
    that has not one field for each name, text that is not UTF-8, broken quotes or gzip.
    """
    text = unpack_csv_text(file)
    marks: Counter[str] = Counter()
    rows = _count_rows(text, separator, len(names), marks, comment) - header
    places = sorted(names.index(name) for name in needed)
    frame = None if marks["odd"] else _parse_plain(text, separator, header, places)
    if frame is None or frame.height != rows:
        frame = _parse_columns(text, separator, header, places, comment)
    frame.columns = [names[place] for place in places]
    return frame


def unpack_csv_text(file: Path | Content) -> Content:
    """Return the text of a file or of its content; refused: a file that cannot be unpacked."""
    try:
        content = Content(file.read_bytes(), is_packed(file)) if isinstance(file, Path) else file
        return Content(gzip.decompress(content.data), packed=False) if content.packed else content
    except GZIP_ERRORS:
        refusal = BAD_GZIP
    except OSError:
        refusal = CLOSED
    raise InputError(refusal)


def _open_text(file: Path | Content) -> IO[str]:
    raw = io.BytesIO(file.data) if isinstance(file, Content) else file
    if is_packed(file):
        handle = cast("IO[bytes]", gzip.open(raw))  # noqa: SIM115 - the text closes it
    else:
        handle = raw.open("rb") if isinstance(raw, Path) else raw
    # newline="": the csv module itself must see whether a line end is in quotes.
    return io.TextIOWrapper(handle, encoding="utf-8-sig", errors="surrogateescape", newline="")


def _stream_rows(
    file: Path | Content, separator: str, marks: Counter[str], comment: str = ""
) -> Generator[list[str], None, None]:
    """Yield the rows that are not blank, a header among them.

    Text that cannot be read becomes a refusal without the error behind it.
    """
    # The default limit of 131,072 characters would refuse long texts.
    csv.field_size_limit(MOST_FIELD_BYTES)
    refusal = ""
    try:
        with _open_text(file) as handle:
            lines = _mark_lines(handle, marks, comment)
            marks["start"] = 1
            for row in csv.reader(lines, delimiter=separator, strict=True):
                if row:
                    yield row
                marks["start"] = marks["all"] + 1
    except GZIP_ERRORS:
        refusal = BAD_GZIP
    except OSError:
        refusal = CLOSED
    except csv.Error:
        refusal = BAD_QUOTES.format(**marks)
    # Bytes that are no text may have broken the quotes, so they are named first.
    if refusal := _no_text(marks) or refusal:
        raise InputError(refusal)


def _mark_lines(handle: IO[str], marks: Counter[str], comment: str = "") -> Iterator[str]:
    """Yield the lines and count them: all, those polars reads otherwise, those that are no text.

    A comment begins where a row may begin: in a quoted field its sign is text like any other.
    `first` is the number of the first line that is no text, `start` that of the line in which the
    row begins that is read.
    """
    for line in handle:
        marks["all"] += 1
        if comment and marks["start"] == marks["all"] and line.startswith(comment):
            marks["odd"] += 1
            marks["start"] += 1
            continue
        # polars may make other rows of blank lines and of lone carriage returns.
        marks["odd"] += line.isspace() or line.endswith("\r")
        if "\0" in line or (not line.isascii() and NO_TEXT.search(line) is not None):
            marks["zeros" if "\0" in line else "foreign"] += 1
            marks["first"] = marks["first"] or marks["all"]
        yield line


def _no_text(marks: Counter[str]) -> str:
    """The refusal of a file with lines that are no text; empty if there are none."""
    if marks["zeros"]:
        return ZEROS.format(**marks)
    return NOT_UTF8.format(**marks) if marks["foreign"] else ""


def _count_rows(
    text: Content, separator: str, fields: int, marks: Counter[str], comment: str
) -> int:
    """Return the number of rows; every row is checked, because polars fills short rows up."""
    total = ragged = first = 0
    for row in _stream_rows(text, separator, marks, comment):
        total += 1
        if len(row) != fields:
            ragged += 1
            first = first or marks["start"]
    if ragged:
        raise InputError(
            f"{ragged} of {total} rows of the source have more or fewer than {fields} fields; "
            f"correct them or source.separator; the first begins in line {first}"
        )
    return total


def _parse_plain(
    text: Content, separator: str, header: bool, places: Sequence[int]
) -> pl.DataFrame | None:
    """Parse some columns by polars; None if polars refuses the text."""
    try:
        with silence_panics():
            return pl.read_csv(
                text.data,
                has_header=header,
                columns=list(places),
                separator=separator,
                # Texts: a plan decides types, and an identifier such as 007 keeps its zeros.
                infer_schema=False,
                raise_if_empty=False,
                glob=False,
            )
    except FOREIGN_ERRORS:
        return None


def _parse_columns(
    text: Content, separator: str, header: bool, places: Sequence[int], comment: str
) -> pl.DataFrame:
    """Parse some columns by the rules that counted the rows."""
    blocks = [pl.DataFrame(schema={str(place): pl.String for place in places})]
    with closing(_stream_rows(text, separator, Counter(), comment)) as rows:
        if header:
            next(rows)
        while block := list(islice(rows, ROWS_AT_ONCE)):
            blocks.append(
                pl.DataFrame({str(place): [row[place] for row in block] for place in places})
            )
    return pl.concat(blocks)
