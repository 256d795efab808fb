"""CSV text, read once from its start: row by row, or by blocks that end where rows end.

The standard library's parser defines what a row is. A kernel finds rows that any reader takes for
the same rows; what is not plain goes through the standard library's parser, some rows at a time.
"""

import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import IO, NamedTuple, cast

import numpy as np

from anon_core.errors import InputError
from crowdcover.storage.source.file_bytes import (
    CLOSED,
    Content,
    File,
    is_packed,
    open_bytes,
    read_bytes,
    require_unchanged,
)

MOST_FIELD_BYTES = 2**24
BLOCK_BYTES = 2**22  # of text that is parsed at once
LINE_BYTES = 2**16  # of text that is split into lines at once
ROWS_AT_ONCE = 5_000  # through the standard library's parser
LEAST_BYTES = 2**22  # less text is read sooner without the kernel, which takes time to load
BOM = b"\xef\xbb\xbf"
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
GZIP_ERRORS = (EOFError, zlib.error, gzip.BadGzipFile)
RAGGED = (
    "{ragged} of {total} rows of the source have more or fewer than {fields} fields; "
    "correct them or source.separator; the first begins in line {first_ragged}"
)


class Block(NamedTuple):
    """Text of whole rows, and their number; `odd`: polars may read others, as of blank lines."""

    text: bytes
    rows: int
    odd: bool


def unpack_csv_text(file: File) -> Content:
    """Return the text of a file or of its content; refused: a file that cannot be unpacked."""
    try:
        data = read_bytes(file)
        return Content(gzip.decompress(data) if is_packed(file) else data, packed=False)
    except GZIP_ERRORS:
        refusal = BAD_GZIP
    except OSError:
        refusal = CLOSED
    raise InputError(refusal)


@contextmanager
def open_text(
    file: File, separator: str, comment: str, *, whole: bool = True
) -> Iterator["CsvText"]:
    """Open CSV text; what cannot be read ends the block and becomes a refusal of the text.

    The caller raises it by `CsvText.require_readable` behind the block: raised here, it would have
    the error behind it as its context.

    `whole`: all of it is read, so that an open file that changed is refused.
    """
    # The default limit of 131,072 characters would refuse long texts.
    csv.field_size_limit(MOST_FIELD_BYTES)
    refusal, marks = "", Counter[str]()
    text: CsvText | None = None
    try:
        with open_bytes(file) as bare:
            stream = cast("IO[bytes]", gzip.GzipFile(fileobj=bare)) if is_packed(file) else bare
            try:
                text = CsvText(stream, separator, comment, marks)
                yield text
            except csv.Error:
                refusal = BAD_QUOTES.format(**marks)
            if whole:
                while stream.read(BLOCK_BYTES):  # damage further on is named first
                    pass
                require_unchanged(file, bare)
    except GZIP_ERRORS:
        refusal = BAD_GZIP
    except OSError:
        refusal = CLOSED
    # Bytes that are no text may have broken the quotes, so they are named first.
    if marks["zeros"]:
        refusal = ZEROS.format(**marks)
    elif marks["foreign"]:
        refusal = NOT_UTF8.format(**marks)
    if text is None:
        raise InputError(refusal)
    text.refusal = refusal


class CsvText:
    """CSV text behind the place up to which its rows were taken.

    `marks` count lines (`all`), rows (`total`), lines that are no text (`foreign`, `zeros`) and
    rows with another number of fields (`ragged`). `first` is the number of the first line that is
    no text, `first_ragged` that of the first ragged row, `start` that of the line in which the row
    begins that is read. Lines that start with `comment` are no rows. `refusal` says why the text
    cannot be read; it is empty if it can, and until it was read.
    """

    def __init__(
        self, stream: IO[bytes], separator: str, comment: str, marks: Counter[str]
    ) -> None:
        self.marks, self.refusal = marks, ""
        self._stream, self._separator, self._comment = stream, separator, comment
        self._held, self._at, self._ended = b"", 0, False
        self._taken: list[bytes] = []  # lines of the rows that are parsed
        self._small: bool | None = None
        self._fill(len(BOM))
        self._at = len(BOM) if self._held.startswith(BOM) else 0

    @property
    def is_refused(self) -> bool:
        """Whether what was read so far must be refused."""
        return any(self.marks[each] for each in ("ragged", "foreign", "zeros"))

    def require_readable(self) -> None:
        """Raise the refusal of text that could not be read."""
        if self.refusal:
            raise InputError(self.refusal)

    def parse_rows(self) -> Iterator[list[str]]:
        """Take the rows that are not blank, a header among them, one by one."""
        self.marks["start"] = self.marks["all"] + 1
        for row in csv.reader(self._mark_lines(), delimiter=self._separator, strict=True):
            if row:
                yield row
            self.marks["start"] = self.marks["all"] + 1

    def take_block(self, fields: int) -> Block | None:
        """Take the next rows; None at the end."""
        return self._take_plain_rows(fields) or self.take_rows(ROWS_AT_ONCE, fields)

    def take_rows(self, number: int, fields: int) -> Block | None:
        """Take rows through the standard library's parser, and count the ragged ones."""
        marks, rows = self.marks, 0
        odd, self._taken = marks["odd"], []
        for row in islice(self.parse_rows(), number):
            rows += 1
            if len(row) != fields:
                marks["ragged"] += 1
                marks["first_ragged"] = marks["first_ragged"] or marks["start"]
        marks["total"] += rows
        text, self._taken = b"".join(self._taken), []
        return Block(text, rows, marks["odd"] > odd) if rows else None

    def _take_plain_rows(self, fields: int) -> Block | None:
        """Take the rows up to the first one that is not plain; None where that is the next."""
        size = BLOCK_BYTES
        self._fill(size)
        if self._small is None:
            self._small = self._ended and len(self._held) < LEAST_BYTES
        sign, comment = self._separator.encode(), np.array([*self._comment.encode()], np.uint8)
        if self._small or len(sign) > 1 or self._at == len(self._held):
            return None
        from crowdcover.storage.source.csv_kernels import find_plain_rows  # and numba

        while True:
            text = np.frombuffer(self._held, np.uint8, offset=self._at)
            end, rows, lines, more = find_plain_rows(
                text, sign[0], fields, comment, MOST_FIELD_BYTES, self._ended
            )
            if end or more or self._ended:
                break
            size *= 2  # the first row is longer than a block
            self._fill(size)
        block = self._held[self._at : self._at + end]
        if not rows or not _is_utf8(block):
            return None
        self._at += end
        self.marks["all"] += lines
        self.marks["total"] += rows
        return Block(block, rows, odd=False)

    def _mark_lines(self) -> Iterator[str]:
        """Take the lines and count them: all, those polars reads otherwise, those that are no text.

        A comment begins where a row may begin: in a quoted field its sign is text like any other.
        """
        marks = self.marks
        for taken in self._take_lines():
            marks["all"] += 1
            foreign = not _is_utf8(taken)
            line = taken.decode("utf-8", "surrogateescape")
            if self._comment and marks["start"] == marks["all"] and line.startswith(self._comment):
                marks["odd"] += 1
                marks["start"] += 1
                continue
            # polars may make other rows of blank lines and of lone carriage returns.
            marks["odd"] += line.isspace() or line.endswith("\r")
            if foreign or "\0" in line:
                marks["zeros" if "\0" in line else "foreign"] += 1
                marks["first"] = marks["first"] or marks["all"]
            self._taken.append(taken)
            yield line

    def _take_lines(self) -> Iterator[bytes]:
        size = LINE_BYTES
        while True:
            self._fill(size)
            part = self._held[self._at : self._at + size]
            lines = part.splitlines(keepends=True)
            if not self._ended or self._at + size < len(self._held):
                lines.pop()  # it may go on
            elif not lines:
                return
            size = LINE_BYTES if lines else 2 * size
            for line in lines:
                self._at += len(line)
                yield line

    def _fill(self, size: int) -> None:
        """Hold at least so many bytes that are not taken, or all to the end."""
        parts, lack = [], size - (len(self._held) - self._at)
        while lack > 0 and not self._ended:
            part = self._stream.read(lack)
            self._ended = not part
            parts.append(part)
            lack -= len(part)
        if parts:
            self._held, self._at = b"".join([self._held[self._at :], *parts]), 0


def parse_fields(text: bytes, separator: str) -> Iterator[list[str]]:
    """Yield the fields of rows that were counted."""
    lines = io.StringIO(text.decode(), newline="")
    return (row for row in csv.reader(lines, delimiter=separator, strict=True) if row)


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or text.decode() is not None
    except UnicodeDecodeError:
        return False
