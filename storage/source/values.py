"""Values as polars reads them, and errors that tell none of them.

polars and database drivers quote cells in their errors. Here such an error becomes a refusal with
counts and column names. The refusal is raised after the foreign error was dropped, so that it does
not carry the error as its context.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

import polars as pl

from anon_core.errors import InputError
from crowdcover.storage.source.panics import silence_panics

# Of readings: how values of a source become columns. Vaults note it: what a release or a series was
# begun with stays. 1 is what 0.1.0 knew, which lost times of day, zones and spellings of numbers.
FORM = 2
EXACT = 2**53  # smaller whole numbers are distinct as float64
DECIMAL_DIGITS = 38  # that a decimal has at most
# Types that are carried by way of another one that holds all their values.
EXACTLY_AS: Mapping[type[pl.DataType], type[pl.DataType]] = {pl.Float16: pl.Float32}
_CARRIED = (
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
    *(pl.Float32, pl.Float64, pl.Decimal, pl.Boolean, pl.String, pl.Date, pl.Datetime, pl.Time),
)
_MANY = 100_000
FOREIGN_ERRORS = (Exception, pl.exceptions.PanicException)  # polars panics on some damaged files
_Result = TypeVar("_Result")


def call_or_refuse(work: Callable[[], _Result], refusal: str) -> _Result:
    """Return what the work returns; a foreign error becomes an InputError with this message."""
    try:
        with silence_panics():
            return work()
    except InputError:
        raise
    except FOREIGN_ERRORS:
        pass
    raise InputError(refusal)


def unwrap_extension(series: pl.Series) -> pl.Series:
    """Extension types, such as PostgreSQL's numeric, as the type that stores them."""
    return series.ext.storage() if isinstance(series.dtype, pl.BaseExtension) else series


def is_csv_type(dtype: pl.DataType) -> bool:
    """Whether values of this type can stand in a CSV file."""
    return not dtype.is_nested() and dtype not in (pl.Binary, pl.Duration, pl.Object, pl.Unknown)


def is_carried(dtype: pl.DataType) -> bool:
    """Whether released files hold values of this type as they are."""
    return dtype.base_type() in _CARRIED


def drop_nan_payloads(series: pl.Series) -> pl.Series:
    """Floats with one form of NaN: in others lie bits that no reader shows, but a release would."""
    return series.fill_nan(float("nan")) if series.dtype.is_float() else series


def map_texts(texts: pl.Series, change: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Change each text alone, missing ones included; equal texts are changed once and share memory.

    Texts that hardly repeat are changed one by one.
    """
    given = texts.alias("")
    # Of many rows the distinct texts are estimated first: to list them takes more memory.
    if len(given) > _MANY:
        estimated = given.to_frame().select(pl.first().approx_n_unique()).item()
        if 2 * estimated > len(given):
            return change(given)
    distinct = given.drop_nulls().unique()
    if 2 * len(distinct) > len(given):
        return change(given)
    places = given.cast(pl.Enum(distinct)).to_physical().rechunk()
    # Made anew: what `unique` gives still holds all the text. The last place is of missing texts.
    changed = change(pl.Series([*distinct.to_list(), None], dtype=pl.String))
    return changed.gather(places.cast(pl.UInt32).fill_null(len(distinct)))


def as_text(series: pl.Series) -> pl.Series:
    """Every value as text; values that no CSV file can hold as Python writes them."""
    if is_csv_type(series.dtype):
        return series.cast(pl.String)
    texts = [None if value is None else repr(value) for value in series.to_list()]
    return pl.Series(series.name, texts, dtype=pl.String)
