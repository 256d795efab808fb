"""Values that a plan names as texts, compared with a column as the column's own type compares.

`1` names the number 1.0 of a column of reals, `2024-01-05` a day of a column of dates. In a column
of texts it names only itself, without blanks around it and with accents composed or apart.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import polars as pl

from anon_core.errors import InputError

# Four digits of exponent at most: int() of 1e999999999 would have a billion digits.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")
NOT_A_NUMBER = re.compile(r"[+-]?nan", re.IGNORECASE)
TRUTH = {"true": True, "false": False}
Cell = Callable[[str], pl.Series]  # reads a text as a cell of the column, in one row; or refuses it


def is_any_of(series: pl.Series, names: Iterable[str]) -> pl.Series:
    """Whether each value is one that these texts name; False where there is none."""
    found = pl.repeat(value=False, n=len(series), eager=True)
    for name in names:
        found |= is_named(series, name)
    return found


def is_named(series: pl.Series, name: str, cell: Cell | None = None) -> pl.Series:
    """Whether each value is the one that a text names, bool (rows,).

    A text is read as a `cell` of the column where that is given and it is one.
    """
    name = unicodedata.normalize("NFC", name.strip())
    if series.dtype == pl.String:
        # Most names are ASCII, and then the column is compared without a normalized copy.
        equal = (series if name.isascii() else series.str.normalize("NFC")) == name
    elif (value := _value_of(name, series.dtype, cell)) is None:
        return pl.repeat(value=False, n=len(series), eager=True)
    else:
        equal = series == value
    return equal.fill_null(value=False)


def name_values(
    series: pl.Series, names: Sequence[str], where: str, cell: Cell | None = None
) -> pl.Series:
    """Values as texts: those that the plan names as it writes them.

    Refused: two names of one value. `where` is the key that names them.
    """
    texts = series.cast(pl.String)
    first = pl.repeat(-1, len(series), dtype=pl.Int32, eager=True)  # which name it has
    for at, name in enumerate(names):
        named = is_named(series, name, cell)
        if (twice := named & (first >= 0)).any():
            both = f"{first.filter(twice)[0] + 1} and {at + 1} of the {len(names)} values"
            raise InputError(
                f"{both} in {where} name one value of the column, as 1 and 1.0 do in a column of "
                "numbers; leave one of them"
            )
        first, texts = first.set(named, at), texts.set(named, name)
    # 1.234 may name 1234, so that it must not stand for another value, too.
    return texts.set((first < 0) & texts.is_in(names), None)


def _value_of(name: str, dtype: pl.DataType, cell: Cell | None) -> pl.Series | None:
    """The one value of this type that a text names, as a column of one row; None if none.

    1.234 is 1234 where the column writes it so. Dates are those of ISO 8601 first.
    """
    # The column's own way of writing counts last for numbers, where 1.234 may be 1234.
    ways = (_of_program(name, dtype), _of_cell(name, dtype, cell))
    found = [value for value in ways if value is not None]
    return None if not found else found[-1 if dtype.is_numeric() else 0]


def _of_cell(name: str, dtype: pl.DataType, cell: Cell | None) -> pl.Series | None:
    """The value of a cell with this text."""
    if cell is None:
        return None
    with suppress(InputError):
        read = cell(name).drop_nulls()
        if len(read) and dtype.is_numeric():
            return _of_program(read.cast(pl.String)[0], dtype)
        return read if len(read) and read.dtype == dtype else None
    return None


def _of_program(name: str, dtype: pl.DataType) -> pl.Series | None:
    """The value of a text as programs write values of this type."""
    value: Any = None
    with suppress(ValueError, OverflowError):
        value = _parse_value(name, dtype)
    if value is None:
        return None
    try:
        one = pl.Series([value], dtype=dtype)
    except (pl.exceptions.PolarsError, TypeError, OverflowError, ValueError):
        return None
    # polars may cut a value to the type, as a moment to its unit: then it names another one.
    return one if dtype.is_float() or one[0] == value else None


def _parse_value(name: str, dtype: pl.DataType) -> Any:
    """The value as Python holds it."""
    if dtype.is_numeric():
        return _parse_number(name, dtype)
    if isinstance(dtype, pl.Datetime):
        moment = datetime.fromisoformat(name)
        # A column without a zone holds no moment with an offset, nor the other way round.
        return moment if (moment.tzinfo is None) == (dtype.time_zone is None) else None
    if dtype == pl.Boolean:
        return TRUTH.get(name.casefold())
    if dtype == pl.Date:
        return date.fromisoformat(name)
    return time.fromisoformat(name) if dtype == pl.Time else None


def _parse_number(name: str, dtype: pl.DataType) -> int | float | Decimal | None:
    if dtype.is_float() and NOT_A_NUMBER.fullmatch(name):
        return float("nan")
    if not NUMBER.fullmatch(name):
        return None
    number = Decimal(name)
    if dtype.is_integer():
        return int(number) if number == int(number) else None
    return float(number) if dtype.is_float() else number
