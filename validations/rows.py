"""Columns of one length that are read in parts, so that no check needs a whole table in memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError

Columns = Mapping[str, NDArray[Any]]
ROWS_AT_ONCE = 262_144  # rows of all columns that are in a frame at the same time


class Column(Protocol):
    """A column of which rows are read when they are asked for."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, alone in a tuple."""
        ...

    def __getitem__(self, rows: slice) -> pl.Series: ...


@dataclass(frozen=True)
class Rows:
    """Columns by name, of `count` rows each.

    `read(names, first, end)` returns rows first .. end - 1 of some columns. Values of an `ordered`
    column ascend, so equal ones are neighbours; it then need not stand beside the others row by
    row.
    """

    names: Sequence[str]
    count: int
    read: Callable[[Iterable[str], int, int], Columns]
    ordered: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        columns: Mapping[str, NDArray[Any] | pl.Series | Column],
        ordered: frozenset[str] = frozenset(),
    ) -> "Rows":
        """Return whole columns as rows, a Series as objects; refused if lengths differ."""
        shapes = {column.shape for column in columns.values()}
        if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
            raise InputError(
                f"columns of shapes {sorted(shapes)}; give one-dimensional arrays of one length"
            )

        def read(names: Iterable[str], first: int, end: int) -> Columns:
            return {name: _to_array(columns[name][first:end]) for name in names}

        return cls(tuple(columns), max((size for (size,) in shapes), default=0), read, ordered)


def _to_array(values: NDArray[Any] | pl.Series) -> NDArray[Any]:
    return np.array(values.to_list(), dtype=object) if isinstance(values, pl.Series) else values
