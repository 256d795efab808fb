"""Values as polars reads them, and errors that tell none of them.

polars and database drivers quote cells in their errors. Here such an error becomes a refusal with
counts and column names. The refusal is raised after the foreign error was dropped, so that it does
not carry the error as its context.
"""

from collections.abc import Callable
from typing import TypeVar

import polars as pl

from anon_core.errors import InputError
from tasks.source.panics import silenced_panics

FOREIGN_ERRORS = (Exception, pl.exceptions.PanicException)  # polars panics on some damaged files
Result = TypeVar("Result")


def attempt(work: Callable[[], Result], refusal: str) -> Result:
    """Return what the work returns; a foreign error becomes an InputError with this message."""
    try:
        with silenced_panics():
            return work()
    except InputError:
        raise
    except FOREIGN_ERRORS:
        pass
    raise InputError(refusal)


def stored(series: pl.Series) -> pl.Series:
    """Extension types, such as PostgreSQL's numeric, as the type that stores them."""
    return series.ext.storage() if isinstance(series.dtype, pl.BaseExtension) else series


def printable(dtype: pl.DataType) -> bool:
    """Whether values of this type can stand in a CSV file."""
    return not dtype.is_nested() and dtype not in (pl.Binary, pl.Duration, pl.Object, pl.Unknown)


def as_text(series: pl.Series) -> pl.Series:
    """Every value as text; values that no CSV file can hold as Python writes them."""
    if printable(series.dtype):
        return series.cast(pl.String)
    texts = [None if value is None else repr(value) for value in series.to_list()]
    return pl.Series(series.name, texts, dtype=pl.String)
