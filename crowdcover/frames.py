"""Frames of other libraries: taken as polars', and given back as what they came as."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import narwhals as nw
import polars as pl

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
    """Take a table of any library that narwhals knows.

    Returns
    -------
    frame : polars.DataFrame
    give_back : callable
        Makes a table of the library that `data` came from of a polars frame.

    Raises
    ------
    InputError
        It is no table, or a lazy one.
    """
    try:
        taken = nw.from_native(data, eager_only=True)
    except TypeError:
        refusal = f"a table of polars, pandas or pyarrow is required, not {type(data).__name__}"
    else:
        try:
            return taken.to_polars(), partial(_convert, library=taken.implementation)
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
