"""Whether the first row of a file holds names or cells.

A plan quotes the names of columns. So a row of cells taken for names would carry one person's
values into the plan, the codebook and the release.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from anon_core.errors import InputError
from crowdcover.kinds.numerals import find_numerals
from crowdcover.kinds.table.starter.markers import is_marker
from crowdcover.kinds.table.starter.moments import formats_of
from crowdcover.kinds.table.starter.names import Name
from crowdcover.kinds.table.starter.values import is_numeral
from crowdcover.storage.source.sources import Source, read_leading_rows

LOOKED_AT = 5_000  # rows that are compared with the first
WORDS_AT = 500  # rows whose words are looked up
CHANCE = 0.01  # that a row of cells looks as new as the first row
_MOSTLY = 0.9  # of the cells; others may be markers of missing values
FEW_HEADERS = 3
SHARE_OF_HEADERS = 0.01  # of the rows, in a file of files with a header each
_SEPARATORS = ",;\t|"


class Header(NamedTuple):
    """What speaks for names and for cells in the first row; `named` is None if nothing does."""

    named: bool | None
    cells: int
    fields: int


def separator_of(source: Source) -> str:
    """The separator that cuts the first two rows into equally many fields, and into the most."""
    # `max` takes the first of equals: a comma, where no sign cuts.
    return max(
        _SEPARATORS, key=lambda sign: len(_read_leading_rows(replace(source, separator=sign), 2)[0])
    )


def compare_first_row(source: Source) -> Header:
    """Compare the first row of a local file with those below it.

    A field is a cell if it is a number or a date, or occurs again in its column. It is a name if
    its column holds numbers or dates instead. Else it is as surprising as it would be for a cell of
    its column to be new there, or to be a word that tables use for names.
    """
    first, *rest = _read_leading_rows(source, LOOKED_AT + 1)
    if not any(first):  # too few rows, or a fault: reading the file says so
        return Header(named=True, cells=0, fields=len(first))
    rest = _without_first(first, [row for row in rest if len(row) == len(first)])
    cells = names = 0
    surprise = 1.0
    for place, field in enumerate(name.strip() for name in first):
        column = [row[place].strip() for row in rest]
        if not field:
            continue
        if _is_cell(field) or field in column:
            cells += 1
        elif _has_numbers_or_dates([cell for cell in column if cell]) and not is_marker(field):
            names += 1
        else:
            chance = min(_chance_of_a_new_one(column), _chance_of_a_name(field, column))
            names += chance <= CHANCE
            # Fields are taken as independent: some that are rather new prove as much as one.
            surprise *= chance
    # Beside a cell the product of chances proves nothing: count single names against cells.
    if cells:
        return Header(names > cells, cells, len(first))
    return Header(True if names or surprise <= CHANCE else None, cells, len(first))


def _without_first(first: Sequence[str], rest: list[list[str]]) -> list[list[str]]:
    """The rows below the first, without a header that stands twice.

    Rows that equal the first in all fields are few then, and hold no number and no date.
    """
    others = [row for row in rest if row != first]
    few = len(rest) - len(others) <= max(FEW_HEADERS, SHARE_OF_HEADERS * len(rest))
    texts = len(first) > 1 and not any(map(_is_cell, first))
    return others if few and texts and others else rest


def _is_cell(field: str) -> bool:
    return _is_number(field.strip()) or bool(formats_of(pl.Series([field.strip()])))


def _chance_of_a_new_one(column: Sequence[str]) -> float:
    """How likely a further row brings a value that the column lacks (Good and Turing)."""
    if not column:
        return 1.0
    counts = pl.Series(column).unique_counts()
    # The field itself is one more value that occurs once, hence + 1 on both sides.
    return (int((counts == 1).sum()) + 1) / (len(column) + 1)


def _chance_of_a_name(field: str, column: Sequence[str]) -> float:
    """How likely a further cell holds a word that tables use for names, if the field does."""
    if not Name(field).known:
        return 1.0
    some = Counter(column[:WORDS_AT])  # each text is looked up once
    known = sum(cells for cell, cells in some.items() if Name(cell).known)
    return (known + 1) / (some.total() + 1)


def _is_number(field: str) -> bool:
    """Whether one text is a number, as programs or as people write it."""
    return is_numeral(field) or find_numerals(pl.Series([field])) is not None


def _has_numbers_or_dates(cells: Sequence[str]) -> bool:
    """Whether nearly all cells are numbers or dates."""
    numbers = sum(map(is_numeral, cells))
    if not cells or numbers >= _MOSTLY * len(cells):
        return bool(cells)
    texts = pl.Series(cells).unique()
    return bool(formats_of(texts)) or find_numerals(texts) is not None


def _read_leading_rows(source: Source, number: int) -> list[list[str]]:
    """The first rows if two are equally long. Other faults are reported when the file is read."""
    try:
        rows = read_leading_rows(source, number) or []
    except (InputError, ValueError):
        return [[""]]
    return rows if len(rows) > 1 and len(rows[0]) == len(rows[1]) else [[""]]
