"""Frames of other libraries: taken as polars', and given back as what they came as."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import narwhals as nw
import polars as pl
import polars.selectors as cs
from narwhals.exceptions import NarwhalsError

from anon_core.errors import InputError

GiveBack = Callable[[pl.DataFrame], Any]
Names = str | Sequence[str]  # of columns


def list_names(names: Names) -> list[str]:
    """The names of columns that an argument gives: one, or several."""
    return [names] if isinstance(names, str) else list(names)


def require_columns(frame: pl.DataFrame, names: Sequence[str], what: str) -> None:
    """Refuse a frame that lacks one of these columns; `what` it is, for the refusal."""
    if absent := [name for name in names if name not in frame.columns]:
        raise InputError(
            f"{what} has no column {', '.join(absent)}; it has {', '.join(frame.columns)}"
        )


def take_frame(data: Any) -> tuple[pl.DataFrame, GiveBack]:
    """Take a table of any library that narwhals knows; NaN is a missing number.

    Returns
    -------
    frame : polars.DataFrame
    give_back : callable
        Makes a table of the library that `data` came from of a polars frame.

    Raises
    ------
    InputError
        It is no table, or a lazy one; names of columns are no texts, or two are the same.
    """
    try:
        taken = nw.from_native(data, eager_only=True)
    except TypeError:
        lazy = "; collect it first" if isinstance(data, pl.LazyFrame) else ""
        refusal = (
            f"a table of polars, pandas or pyarrow is required, not {type(data).__name__}{lazy}"
        )
    except NarwhalsError:
        refusal = "two columns have the same name; rename one"
    else:
        if not all(isinstance(name, str) for name in taken.columns):
            raise InputError("names of columns must be texts; rename those that are none")
        try:
            # pandas knows no other mark of a missing number than NaN: so it is read everywhere.
            frame = taken.to_polars().with_columns(cs.float().fill_nan(None))
            return frame, partial(_convert, library=taken.implementation)
        except (TypeError, ValueError):  # the message may quote a value
            refusal = (
                "a column holds values of several types, such as texts and numbers; make it one"
            )
    raise InputError(refusal)


def _convert(frame: pl.DataFrame, library: nw.Implementation) -> Any:
    wrapped = nw.from_native(frame, eager_only=True)
    if library.is_pandas():
        return wrapped.to_pandas()
    return wrapped.to_arrow() if library.is_pyarrow() else frame
