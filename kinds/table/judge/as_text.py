"""Rows of data.parquet with their cells as text, for those who judge and compare releases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.cells import Labelled
from anon_core.measures.table.codebook.native import (
    CellBounds,
    texts_in_form,
    texts_of_intervals,
    texts_of_lists,
    texts_of_sets,
)
from kinds.table.forms import ABSENT, COUNTED, HI, LO, is_whole
from kinds.table.judge.coded import Coded
from kinds.table.version_files import SINCE


@dataclass(frozen=True)
class Reader:
    """Reads the cells of one quasi-identifier.

    Attributes
    ----------
    bounds : sequence of CellBounds
        Of its levels; of numbers and dates only.
    strict : bool
        Whether text must be written as levels are, too.
    """

    name: str
    column: Labelled = field(repr=False)
    bounds: Sequence[CellBounds] = field(default=(), repr=False)
    strict: bool = False

    @classmethod
    def of(cls, column: Coded, dtype: pl.DataType) -> "Reader":
        """The reader of a column that has this type in data.parquet."""
        if column.kind not in COUNTED:
            return cls(column.name, column)
        fields = _find_interval_fields(dtype)
        whole = LO in fields and is_whole(fields[LO])
        return cls(column.name, column, column.bounds(whole=whole))

    def texts(self, cells: pl.Series) -> pl.Series:
        """Each cell as text; null for one that has no valid form."""
        if not cells.dtype.is_nested():
            return self._checked(cells.cast(pl.String))
        place, distinct = number_distinct_cells(_convert_dates_to_days(cells))
        # A type that the column's kind cannot have leaves every cell unreadable.
        found: Sequence[str | None] = [None] * len(distinct)
        fields = _find_interval_fields(distinct.dtype)
        values = distinct.to_list()
        if self.column.kind not in COUNTED:
            if distinct.dtype == pl.List(pl.String):
                found = texts_of_lists(self.column, values)
        # The order of the fields counts: `_split_interval` takes them by place.
        elif isinstance(distinct.dtype, pl.Struct) and [*fields] == [LO, HI, ABSENT]:
            found = texts_of_intervals(
                self.column, self.bounds, [_split_interval(each) for each in values]
            )
        elif isinstance(distinct.dtype, pl.List) and [*fields] == [LO, HI]:
            sets = [None if each is None else [*map(_split_interval, each)] for each in values]
            found = texts_of_sets(self.column, self.bounds, sets)
        return pl.Series(found, dtype=pl.String).gather(place)

    def _checked(self, cells: pl.Series) -> pl.Series:
        if not self.strict:
            return cells
        distinct = cells.unique()
        found = texts_in_form(self.column, distinct.to_list())
        return cells.replace_strict(distinct, pl.Series(found, dtype=pl.String))


def show_as_text(rows: pl.DataFrame, readers: Sequence[Reader]) -> pl.DataFrame:
    """The rows with these columns as text, those that are there."""
    texts = [
        reader.texts(rows[reader.name].alias("")).alias(reader.name)
        for reader in readers
        if reader.name in rows.columns
    ]
    return rows.with_columns(texts)


def batches_as_text(
    rows: pl.DataFrame, readers: Mapping[int, Sequence[Reader]], names: Sequence[str]
) -> pl.DataFrame:
    """Rows of a series with cells as text; `readers` by the version in which rows were new.

    The cells of rows that are of no such version become null in the columns `names`.
    """
    numbers, place = rows[SINCE].cast(pl.Int64), pl.Series(np.arange(rows.height))
    parts, places = [], []
    unread = [pl.lit(None, dtype=pl.String).alias(name) for name in names]
    for number in numbers.unique().to_list():
        here = numbers.eq_missing(number)
        part = rows.filter(here)
        # A row of no version has no reader: none has the number -1.
        known = readers.get(-1 if number is None else number)
        parts.append(part.with_columns(unread) if known is None else show_as_text(part, known))
        places.append(place.filter(here))
    # Parts stand version by version; `places` brings rows back into their own order.
    return pl.concat(parts)[np.argsort(pl.concat(places).to_numpy())] if parts else rows


def number_distinct_cells(cells: pl.Series) -> tuple[NDArray[np.int64], pl.Series]:
    """The number of each cell, int64 (n,), among the distinct ones in order, and these."""
    groups = cells.alias("cell").to_frame().with_row_index("row")
    groups = groups.group_by("cell", maintain_order=True).agg("row")
    place = np.empty(len(cells), dtype=np.int64)
    rows = groups["row"].list.len().to_numpy()
    place[groups["row"].explode().to_numpy()] = np.repeat(np.arange(groups.height), rows)
    return place, groups["cell"]


def _convert_dates_to_days(cells: pl.Series) -> pl.Series:
    """Bounds that are dates as numbers of days."""
    fields = _find_interval_fields(cells.dtype)
    if pl.Date not in fields.values():
        return cells
    # Level bounds are numbers of days, and Python's own dates end with the year 9999.
    days = pl.Struct({name: pl.Int64() if of == pl.Date else of for name, of in fields.items()})
    return cells.cast(pl.List(days) if isinstance(cells.dtype, pl.List) else days)


def _find_interval_fields(dtype: Any) -> dict[str, Any]:
    """The fields of an interval, or of a list of them."""
    inner = dtype.inner if isinstance(dtype, pl.List) else dtype
    return dict(inner.to_schema()) if isinstance(inner, pl.Struct) else {}


def _split_interval(interval: Mapping[str, Any] | None) -> tuple[Any, ...] | None:
    return None if interval is None else tuple(interval.values())
