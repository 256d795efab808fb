"""Columns of CSV text: every row is counted before a cell is used.

polars parses faster than the standard library but accepts more, so its result counts only where
both agree on the number of rows.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import polars as pl

from anon_core.errors import InputError
from crowdcover.storage.source.csv_text import RAGGED, Block, open_text, parse_fields
from crowdcover.storage.source.file_bytes import File
from crowdcover.storage.source.panics import silence_panics
from crowdcover.storage.source.values import FOREIGN_ERRORS, map_texts

INLINE_BYTES = 12  # longer texts lie outside of the cells, so that equal cells can share one


def first_rows(file: File, separator: str, number: int, comment: str = "") -> list[list[str]]:
    """Return the fields of the first rows, or of fewer if all other lines are blank.

    The first row may hold names or cells. Nothing behind these rows is parsed. Lines that start
    with `comment` are no rows.
    """
    rows: list[list[str]] = []
    with open_text(file, separator, comment, whole=False) as text:
        rows += islice(text.parse_rows(), number)
    text.require_readable()
    return rows


def read_csv(
    file: File,
    separator: str,
    header: bool,
    names: Sequence[str],
    needed: Sequence[str],
    comment: str = "",
) -> pl.DataFrame:
    """Return the needed columns as text; `names` are those of all columns.

    The file is read and unpacked once, by blocks. Lines that start with `comment` are no rows.
    Refused: a row that has not one field for each name, text that is not UTF-8, broken quotes or
    gzip.
    """
    places = sorted(names.index(name) for name in needed)
    parts: list[list[pl.Series]] = [[pl.Series(dtype=pl.String)] for _ in places]
    with open_text(file, separator, comment) as text:
        if header:
            text.take_rows(1, len(names))
        while block := text.take_block(len(names)):
            if text.is_refused:  # the rest is only counted
                continue
            for part, column in zip(parts, _parse_block(block, separator, places), strict=True):
                part.append(_share_texts(column))
    text.require_readable()
    marks = text.marks
    if marks["ragged"]:
        raise InputError(RAGGED.format(fields=len(names), **marks))
    # Not joined to one chunk: freed parts would stay with the allocator for a while.
    columns = {
        names[place]: pl.concat(part, rechunk=False)
        for place, part in zip(places, parts, strict=True)
    }
    return pl.DataFrame({name: columns[name] for name in needed})


def _parse_block(block: Block, separator: str, places: Sequence[int]) -> Iterator[pl.Series]:
    """Parse some columns by polars, else by the rules that counted the rows."""
    frame = None
    if not block.odd:
        try:
            with silence_panics():
                frame = pl.read_csv(
                    block.text,
                    has_header=False,
                    columns=list(places),
                    separator=separator,
                    # Texts: a plan decides types, and an identifier such as 007 keeps its zeros.
                    infer_schema=False,
                    raise_if_empty=False,
                    glob=False,
                )
        except FOREIGN_ERRORS:
            pass
    if frame is not None and frame.height == block.rows:
        yield from frame
        return
    fields = list(parse_fields(block.text, separator))
    for place in places:
        yield pl.Series([row[place] for row in fields], dtype=pl.String)


def _share_texts(column: pl.Series) -> pl.Series:
    """The column with one text for all cells that are equal, where that takes less memory."""
    if not (column.str.len_bytes() > INLINE_BYTES).any():
        return column.alias("")
    return map_texts(column, lambda texts: texts)
