"""Rows of data.parquet with their cells as text, for those who judge and compare releases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

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
from crowdcover.kinds.table.forms import ABSENT, COUNTED, HI, LO, is_whole
from crowdcover.kinds.table.judge.coded import Coded
from crowdcover.kinds.table.version_files import SINCE

_AT_ONCE = 2**17  # rows
_NO_VERSION = -1  # of a row that states none


class Columns(Protocol):
    """A frame, or a file whose columns are read one by one."""

    @property
    def columns(self) -> list[str]:
        """Their names."""
        ...

    def __getitem__(self, name: str, /) -> pl.Series: ...


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
        """Each cell as text, an Enum (n,); null for one that has no valid form."""
        place, distinct = number_distinct_cells(_convert_dates_to_days(cells))
        found = self.read(distinct)
        known = pl.Enum([*dict.fromkeys(text for text in found if text is not None)])
        return pl.Series(found, dtype=known).gather(place)

    def read(self, distinct: pl.Series) -> Sequence[str | None]:
        """Each of some cells as text, dates as numbers of days; None where it has no valid form."""
        fields = _find_interval_fields(distinct.dtype)
        if not distinct.dtype.is_nested():
            texts = distinct.cast(pl.String).to_list()
            return texts_in_form(self.column, texts) if self.strict else texts
        if self.column.kind not in COUNTED:
            if distinct.dtype == pl.List(pl.String):
                return texts_of_lists(self.column, distinct.to_list())
        # The order of the fields counts: `_split_interval` takes them by place.
        elif isinstance(distinct.dtype, pl.Struct) and [*fields] == [LO, HI, ABSENT]:
            intervals = [_split_interval(each) for each in distinct.to_list()]
            return texts_of_intervals(self.column, self.bounds, intervals)
        elif isinstance(distinct.dtype, pl.List) and [*fields] == [LO, HI]:
            values = distinct.to_list()
            sets = [None if each is None else [*map(_split_interval, each)] for each in values]
            return texts_of_sets(self.column, self.bounds, sets)
        # A type that the column's kind cannot have leaves every cell unreadable.
        return [None] * len(distinct)


def show_as_text(rows: Columns, readers: Sequence[Reader]) -> pl.DataFrame:
    """The rows with these columns as text, those that are there; one is read after the other."""
    of = {reader.name: reader for reader in readers}
    return pl.DataFrame(
        {
            name: of[name].texts(rows[name].alias("")) if name in of else rows[name]
            for name in rows.columns
        }
    )


def batches_as_text(
    rows: pl.DataFrame, readers: Mapping[int, Sequence[Reader]], names: Sequence[str]
) -> pl.DataFrame:
    """Rows of a series with cells as text; `readers` by the version in which rows were new.

    The cells of rows that are of no such version become null in the columns `names`.
    """
    if not rows.height:
        return rows
    since = rows[SINCE].cast(pl.Int64).fill_null(_NO_VERSION).to_numpy()
    of: dict[str, dict[int, Reader]] = {}
    for number, each in readers.items():
        for reader in each:
            of.setdefault(reader.name, {})[number] = reader
    shown = {}
    for name in rows.columns:
        if name in names or name in of:
            shown[name] = _read_batches(rows[name], since, of.get(name, {}), kept=name not in names)
        else:
            shown[name] = rows[name]
    return pl.DataFrame(shown).cast({pl.Enum: pl.String})


def _read_batches(
    cells: pl.Series, since: NDArray[np.int64], readers: Mapping[int, Reader], *, kept: bool
) -> pl.Series:
    """Each cell of a column as text, read as its version wrote it.

    A cell of a version without a reader becomes null, or is `kept` as it is.
    """
    # Distinct cells are found once for all versions: one by one, a hundred versions take seconds.
    place, distinct = number_distinct_cells(_convert_dates_to_days(cells.alias("")))
    versions, version = np.unique(since, return_inverse=True)
    pairs, pair = np.unique(version * len(distinct) + place, return_inverse=True)
    version, place = np.divmod(pairs, len(distinct))
    found: list[str | None] = []
    for at, number in enumerate(versions.tolist()):
        here = distinct.gather(place[version == at])
        reader = readers.get(number)
        if reader is not None:
            found += reader.read(here)
        else:
            found += here.cast(pl.String).to_list() if kept else [None] * len(here)
    return pl.Series(found, dtype=pl.String).gather(pair)


def number_distinct_cells(
    cells: pl.Series, at_once: int = _AT_ONCE
) -> tuple[NDArray[np.int32], pl.Series]:
    """The number of each cell, int32 (n,), among the distinct ones in order, and these.

    Cells are numbered in parts of so many rows, since the rows of a group are held as lists.
    """
    if isinstance(cells.dtype, pl.Enum) and not cells.null_count():
        return cells.to_physical().to_numpy().astype(np.int32), cells.dtype.categories
    parts = [_number_part(cells[at : at + at_once]) for at in range(0, len(cells), at_once)]
    if len(parts) < 2:
        return parts[0] if parts else (np.empty(0, dtype=np.int32), cells)
    distinct = pl.concat([part for _, part in parts])
    # Where nearly all cells differ, parts of parts would not become fewer.
    many = 2 * len(distinct) > len(cells)
    number, distinct = number_distinct_cells(distinct, len(distinct) if many else at_once)
    place, at, first = np.empty(len(cells), dtype=np.int32), 0, 0
    for within, part in parts:
        place[at : at + len(within)] = number[first : first + len(part)][within]
        at, first = at + len(within), first + len(part)
    return place, distinct


def _number_part(cells: pl.Series) -> tuple[NDArray[np.int32], pl.Series]:
    groups = cells.alias("cell").to_frame().with_row_index("row")
    groups = groups.group_by("cell", maintain_order=True).agg("row")
    place = np.empty(len(cells), dtype=np.int32)
    rows = groups["row"].list.len().to_numpy()
    place[groups["row"].explode().to_numpy()] = np.repeat(
        np.arange(groups.height, dtype=np.int32), rows
    )
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
