"""Columns of cells that carry a type each, as workbooks and JSON have them.

A column of one type keeps it. Numbers among texts become texts, as a CSV file of the same cells
would hold them. A column that can be carried in neither way is refused by its name.
"""

import datetime
import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from anon_core.errors import InputError
from crowdcover.storage.source.values import EXACT

MIDNIGHT = datetime.time()
_PLAIN = (bool, int, float, str, datetime.date, datetime.datetime, datetime.time)


def type_column(name: str, cells: Sequence[Any]) -> pl.Series:
    """A column of Python values; None means 'not given'."""
    present = [cell for cell in cells if cell is not None]
    # type(), not isinstance: True is an int, and a datetime is a date.
    types = {type(cell) for cell in present}
    if not types:
        return pl.Series(cells, dtype=pl.Null)
    if types <= {int, float}:
        return _of_numbers(name, cells, present)
    if types <= {datetime.date, datetime.datetime}:
        return _of_dates(cells, present)
    if len(types) == 1:
        return _of_one_type(name, cells)
    if types <= {*_PLAIN}:
        texts = [None if cell is None else text_of(cell) for cell in cells]
        return pl.Series(texts, dtype=pl.String)
    raise InputError(
        f"column {name!r} holds values that cannot stand in one column, such as lists beside "
        "texts; write it with one type"
    )


def text_of(cell: Any) -> str:
    """A cell as a CSV file would hold it."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    # Excel holds 5 as 5.0; from 2**53 on the digits of a float may not be those typed.
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT:
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        return str(cell.date()) if cell.time() == MIDNIGHT else str(cell)
    return str(cell)


def _of_numbers(name: str, cells: Sequence[Any], present: Sequence[Any]) -> pl.Series:
    """Whole numbers where all of them are; else floats, if no whole number loses digits."""
    if wrong := sum(not math.isfinite(cell) for cell in present):
        raise InputError(
            f"column {name!r}: {wrong} of {len(cells)} values are no finite numbers; correct them"
        )
    whole = [cell for cell in present if cell == int(cell)]
    if len(whole) == len(present) and all(
        isinstance(cell, int) or abs(cell) < EXACT for cell in present
    ):
        numbers = [None if cell is None else int(cell) for cell in cells]
        low, high = min(whole), max(whole)
        if low >= -(2**63) and high < 2**63:
            return pl.Series(numbers, dtype=pl.Int64)
        if low >= 0 and high < 2**64:
            return pl.Series(numbers, dtype=pl.UInt64)
    if wide := sum(isinstance(cell, int) and abs(cell) >= EXACT for cell in present):
        raise InputError(
            f"column {name!r}: {wide} of {len(cells)} whole numbers would lose digits beside "
            "fractions or are beyond 64 bits; write them as texts"
        )
    return pl.Series([None if cell is None else float(cell) for cell in cells], dtype=pl.Float64)


def _of_dates(cells: Sequence[Any], present: Sequence[Any]) -> pl.Series:
    """Days where no cell has a time of day; else moments."""
    moments = [cell for cell in present if isinstance(cell, datetime.datetime)]
    if all(cell.time() == MIDNIGHT for cell in moments):
        days = [cell.date() if isinstance(cell, datetime.datetime) else cell for cell in cells]
        return pl.Series(days, dtype=pl.Date)
    full = [
        datetime.datetime.combine(cell, MIDNIGHT) if type(cell) is datetime.date else cell
        for cell in cells
    ]
    return pl.Series(full, dtype=pl.Datetime("us"))


def _of_one_type(name: str, cells: Sequence[Any]) -> pl.Series:
    try:
        return pl.Series(list(cells), strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        pass
    raise InputError(f"column {name!r} holds lists or tables of several types; write it with one")
