"""Values that a plan names as texts, compared with a column as the column's own type compares.

`1` names the number 1.0 of a column of reals, `2024-01-05` a day of a column of dates. In a column
of texts it names only itself.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import polars as pl

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")
NOT_A_NUMBER = re.compile(r"[+-]?nan", re.IGNORECASE)
TRUTH = {"true": True, "false": False}


def is_any_of(series: pl.Series, names: Iterable[str]) -> pl.Series:
    """Whether each value is one that these texts name; False where there is none."""
    found = pl.repeat(value=False, n=len(series), eager=True)
    for name in names:
        found |= is_named(series, name)
    return found


def is_named(series: pl.Series, name: str) -> pl.Series:
    """Whether each value is the one that a text names, bool (rows,)."""
    name = name.strip()
    if series.dtype == pl.String:
        equal = series == name
    elif (value := _value_of(name, series.dtype)) is None:
        return pl.repeat(value=False, n=len(series), eager=True)
    else:
        equal = series == value
    return equal.fill_null(value=False)


def name_values(series: pl.Series, names: Sequence[str]) -> pl.Series:
    """Values as texts: those that the plan names as it writes them."""
    texts = series.cast(pl.String)
    if series.dtype != pl.String:
        for name in names:
            texts = texts.set(is_named(series, name), name)
    return texts


def _value_of(name: str, dtype: pl.DataType) -> pl.Series | None:
    """The one value of this type that a text names, as a column of one row; None if none."""
    value: Any = None
    with suppress(ValueError, OverflowError):
        value = _parsed(name, dtype)
    if value is None:
        return None
    try:
        one = pl.Series([value], dtype=dtype)
    except (pl.exceptions.PolarsError, TypeError, OverflowError, ValueError):
        return None
    return one if dtype.is_float() or one[0] == value else None


def _parsed(name: str, dtype: pl.DataType) -> Any:
    """The value as Python holds it."""
    if dtype.is_numeric():
        return _number(name, dtype)
    if isinstance(dtype, pl.Datetime):
        moment = datetime.fromisoformat(name)
        return moment if (moment.tzinfo is None) == (dtype.time_zone is None) else None
    if dtype == pl.Boolean:
        return TRUTH.get(name.casefold())
    if dtype == pl.Date:
        return date.fromisoformat(name)
    return time.fromisoformat(name) if dtype == pl.Time else None


def _number(name: str, dtype: pl.DataType) -> int | float | Decimal | None:
    if dtype.is_float() and NOT_A_NUMBER.fullmatch(name):
        return float("nan")
    if not NUMBER.fullmatch(name):
        return None
    number = Decimal(name)
    if dtype.is_integer():
        return int(number) if number == int(number) else None
    return float(number) if dtype.is_float() else number
