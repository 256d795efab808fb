"""Columns of a source as the plan types them. No Prefect here, so that `plan` and `audit` start at once.

polars names cells in its own errors; here they become counts and column names. Refusals are raised after the foreign error
was let go, so that it does not travel along as their context.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec
from tasks.source.csv_rows import FOREIGN_ERRORS

Role = Literal["identifier", "quasi", "sensitive", "keep", "drop"]
Result = TypeVar("Result")
ISO_DATE = "%Y-%m-%d"
EXACT = 2**53  # whole numbers below are told apart as float64


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of the source as the plan names it; `spec` for quasi-identifiers only."""

    name: str
    role: Role
    kind: str | None = None
    date_format: str = ISO_DATE
    spec: ColumnSpec | None = None


def typed(frame: pl.DataFrame, column: Column, missing: Sequence[str]) -> pl.Series:
    """A column as its kind says; it bears no name on the way, since polars takes one such as ^a$ for a pattern."""
    series = stored(frame[column.name].alias(""))
    refusal = f"column {column.name!r} holds values that cannot be read, such as dates out of range; convert it"
    return attempt(lambda: _of_kind(series, column, missing), refusal)


def arrays(frame: pl.DataFrame) -> dict[str, NDArray[Any]]:
    """The core's view of typed columns: float64 with nan, or objects of str with None."""
    return {series.name: _array(series.alias("")) for series in frame}


def _array(series: pl.Series) -> NDArray[Any]:
    if series.dtype == pl.Date:
        series = series.cast(pl.Int32)
    if series.dtype.is_numeric():
        return series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return np.array(series.to_list(), dtype=object)


def stored(series: pl.Series) -> pl.Series:
    """Extension types, such as PostgreSQL's numeric, as what they are stored as."""
    return series.ext.storage() if isinstance(series.dtype, pl.BaseExtension) else series


def printable(dtype: pl.DataType) -> bool:
    """Whether values of this type can stand in a CSV file."""
    return not dtype.is_nested() and dtype not in (pl.Binary, pl.Duration, pl.Object, pl.Unknown)


def as_text(series: pl.Series) -> pl.Series:
    """Every value as text, one that no CSV file can hold as Python writes it."""
    if printable(series.dtype):
        return series.cast(pl.String)
    return pl.Series(
        series.name,
        [None if value is None else repr(value) for value in series.to_list()],
        dtype=pl.String,
    )


def to_dates(texts: pl.Series, date_format: str) -> pl.Series:
    """Texts as dates, none where one is no date; a year is as long as %Y writes it, so 05-01-20 is no day of the year 5."""
    frame = pl.DataFrame({"text": texts, "date": texts.str.to_date(date_format, strict=False)})
    text, date = pl.col("text"), pl.col("date")
    whole = (date.dt.year() >= 1000) | text.str.contains(date.dt.strftime("%Y"), literal=True)
    return frame.select(pl.when(whole).then(date)).to_series()


def attempt(work: Callable[[], Result], refusal: str) -> Result:
    """What the work returns; a foreign error becomes a refusal that nothing of it stays attached to."""
    try:
        return work()
    except InputError:
        raise
    except FOREIGN_ERRORS:
        pass
    raise InputError(refusal)


def _of_kind(series: pl.Series, column: Column, missing: Sequence[str]) -> pl.Series:
    if series.dtype in (pl.Null, pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if not printable(series.dtype):
        if column.role == "drop":  # a starter plan looks at every column
            return series
        raise InputError(
            f"column {column.name!r} holds {_type(series)}; convert it or give it role = 'drop'"
        )
    series = _given(series, missing)
    if column.kind == "numeric":
        return _numbers(series, column)
    if column.kind == "date":
        return _dates(series, column)
    return series if column.kind is None else series.cast(pl.String)


def _type(series: pl.Series) -> str:
    return series.dtype.base_type().__name__


def _given(series: pl.Series, missing: Sequence[str]) -> pl.Series:
    """Without the values that mean 'not given': as text, or as numbers where the column is one of numbers."""
    if series.dtype == pl.String:
        series = series.str.strip_chars()
    absent = series.cast(pl.String).is_in(["", *(text.strip() for text in missing)])
    if series.dtype.is_numeric():
        numbers = (
            pl.Series(list(missing), dtype=pl.String)
            .str.strip_chars()
            .cast(pl.Float64, strict=False)
            .drop_nulls()
        )
        if not series.dtype.is_float():
            numbers = numbers.filter(
                numbers.abs() < EXACT
            )  # past that a neighbour is the same float64; its text has told
        absent |= series.cast(pl.Float64).is_in(numbers.to_list())
    return series.to_frame().select(pl.when(~absent).then(pl.first())).to_series()


def _numbers(series: pl.Series, column: Column) -> pl.Series:
    if series.dtype.is_temporal():
        raise InputError(
            f"column {column.name!r} holds {_type(series)}, not numbers; make it a date or categorical"
        )
    if series.dtype == pl.Float32:
        series = series.cast(pl.String).cast(
            pl.Float64
        )  # 0.1, which the nearest float32 no longer is as a float64
    numbers = series if series.dtype.is_integer() else series.cast(pl.Float64, strict=False)
    if series.dtype == pl.String:
        whole = series.cast(pl.Int64, strict=False)
        numbers = whole if whole.null_count() == series.null_count() else numbers
    wrong = numbers.null_count() - series.null_count() + int((~numbers.is_finite()).sum())
    if wrong:
        raise InputError(
            f"column {column.name!r}: {wrong} of {len(series)} values are no finite numbers; "
            "name their text in source.missing or make the column categorical"
        )
    wide = numbers.cast(pl.Float64).abs() >= EXACT
    if series.dtype == pl.String and not numbers.dtype.is_integer():
        wide &= series.str.contains(
            r"^[+-]?\d+(\.\d*)?$"
        )  # 1e20 states no more digits than it keeps
    elif series.dtype.is_float() or (numbers.dtype.is_integer() and column.spec is None):
        return numbers
    if wide.any():
        raise InputError(
            f"column {column.name!r}: {int(wide.sum())} of {len(series)} numbers reach 2**53 and would lose digits; "
            "make the column categorical or an identifier"
        )
    return numbers


def _dates(series: pl.Series, column: Column) -> pl.Series:
    if series.dtype == pl.Date or isinstance(series.dtype, pl.Datetime):
        return series.dt.date()
    if series.dtype != pl.String:
        raise InputError(
            f"column {column.name!r} holds {_type(series)}, not dates; give it another kind"
        )
    unknown = f"columns.{column.name}.format is no format of dates; give one such as '%m/%d/%Y'"
    dates = attempt(lambda: to_dates(series, column.date_format), unknown)
    wrong = int((dates.is_null() & series.is_not_null()).sum())
    if wrong:
        raise InputError(
            f"column {column.name!r}: {wrong} of {len(series)} values are no dates of the stated format; "
            f"set columns.{column.name}.format, e.g. '%m/%d/%Y'"
        )
    return dates
