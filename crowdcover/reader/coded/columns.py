"""One column of a release: its levels, its different cells, and the cell of each row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.errors import ReleaseError
from crowdcover.reader.coded.cells import Cells, Intervals
from crowdcover.reader.coded.levels import Levels


@dataclass(frozen=True, eq=False)
class Column:
    """A column, read.

    Attributes
    ----------
    levels : Levels
    cells : Cells
        The different cells.
    which : int64 (rows,)
        The cell of each row.
    role : str
        "quasi" for masked columns; "sensitive" or "keep" for others.
    values : polars.Series
        The value of each level, null for a missing one. In a column of groups, the number that
        stands for the group.
    """

    levels: Levels
    cells: Cells = field(repr=False)
    which: NDArray[np.int64] = field(repr=False)
    role: str
    values: pl.Series = field(repr=False)

    @property
    def name(self) -> str:
        """Its name."""
        return self.levels.name

    @property
    def masks(self) -> NDArray[np.bool_]:
        """The levels that each different cell allows, bool (cells, levels)."""
        masks = np.zeros((len(self.cells.sizes), len(self.levels)), dtype=np.bool_)
        masks[self.cells.pairs()] = True
        return masks

    @property
    def times(self) -> NDArray[np.float64]:
        """How many rows have each different cell, float64 (cells,)."""
        return np.bincount(self.which, minlength=len(self.cells.sizes)).astype(np.float64)


def find_column(columns: Mapping[str, Column], name: str) -> Column:
    """The column of this name; a refusal names those that there are."""
    if name not in columns:
        near = get_close_matches(name, columns, 1)
        hint = f"did you mean {near[0]!r}? It" if near else "it"
        raise ReleaseError(
            f"the release has no column {name!r}; {hint} has {', '.join(map(repr, columns))}"
        )
    return columns[name]


Bounds = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]


def bounds_of(column: Column) -> Bounds:
    """Least and greatest number of each cell, nan without one, and whether a value is given.

    float64 (cells,), float64 (cells,), bool (cells,).
    """
    lo, hi = column.levels.lo, column.levels.hi
    allowed = [column.cells.allowed(cell) for cell in range(len(column.cells.sizes))]
    given = [each[~column.levels.missing[each]] for each in allowed]
    return (
        np.array([lo[each].min() if len(each) else np.nan for each in given]),
        np.array([hi[each].max() if len(each) else np.nan for each in given]),
        np.array([len(some) == len(all_) for some, all_ in zip(given, allowed, strict=True)]),
    )


def take_series(table: pl.DataFrame, name: str) -> pl.Series:
    """A column of a table, without its name: polars takes one such as ^a$ for a pattern."""
    return table.to_series(table.columns.index(name)).alias("")


def list_numbers(series: pl.Series) -> NDArray[np.float64]:
    """Numbers, float64 (rows,), nan where one is missing; a date is its days since 1970-01-01."""
    days = series.cast(pl.Int32) if series.dtype == pl.Date else series
    return days.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def find_levels(column: Column, values: pl.Series) -> NDArray[np.int64]:
    """The level of each value of a plain table, int64 (rows,)."""
    levels = column.levels
    if not levels.is_counted:
        level_of = {value: level for level, value in enumerate(column.values.to_list())}
        other = next(iter(levels.others), -1)
        return np.array([level_of.get(value, other) for value in values.to_list()], dtype=np.int64)
    numbers = list_numbers(values)
    first, last = int(levels.missing.any()), len(levels) - 1
    found = np.minimum(first + np.searchsorted(levels.hi[first:], numbers), last)
    # The end of one level may be the begin of the next one, and is in the next one then.
    after = np.minimum(found + 1, last)
    found = np.where((levels.lo[after] <= numbers) & ~levels.above[after], after, found)
    return np.where(np.isnan(numbers), 0, found)


def list_level_values(levels: Levels) -> pl.Series:
    """The value of each level of a masked column: text, a date or a number."""
    if not levels.is_counted:
        texts = [
            None if gone else text for gone, text in zip(levels.missing, levels.labels, strict=True)
        ]
        return pl.Series(levels.name, texts, dtype=pl.String)
    return build_number_series(levels, levels.middles())


def build_number_series(levels: Levels, of: NDArray[np.float64]) -> pl.Series:
    """Numbers of a column in its own type: dates, whole numbers or floats; nan becomes null.

    The series has no name meanwhile: polars takes a name such as ^a$ for a pattern.
    """
    series = pl.Series("", of, dtype=pl.Float64).fill_nan(None)
    whole = levels.whole and bool((of[np.isfinite(of)] % 1 == 0).all())
    if levels.kind == "date":
        series = series.floor().cast(pl.Int32).cast(pl.Date)
    # From 2^53 on, float64 no longer holds every whole number, so the type would promise too much.
    elif whole and (np.abs(of[np.isfinite(of)]) < 2**53).all():
        series = series.cast(pl.Int64)
    return series.alias(levels.name)


_Days = Callable[[NDArray[np.datetime64]], NDArray[np.int64]]


def _last_day_of_months(number: int) -> _Days:
    return lambda first: (first.astype("M8[M]") + number).astype("M8[D]").astype(np.int64) - 1


# The last day of the step of the calendar that begins with a day, in days since 1970-01-01.
LAST_DAYS: Mapping[Any, _Days] = {
    "day": lambda first: first.astype(np.int64),
    "week": lambda first: first.astype(np.int64) + 6,
    "month": _last_day_of_months(1),
    "quarter": _last_day_of_months(3),
    "year": _last_day_of_months(12),
    "decade": _last_day_of_months(120),
}


def build_exact_column(
    series: pl.Series, role: str, coarse: Sequence[Mapping[str, float | str]] = ()
) -> Column:
    """A column that is not masked: each different value is a level.

    `coarse` has what each batch's codebook states of coarser values: step, top and bottom.
    """
    name, series = series.name, series.alias("")
    values = series.unique().sort(nulls_last=False)
    missing = values.is_null().to_numpy()
    place = pl.DataFrame({"value": values, "place": np.arange(len(values))})
    # Without maintain_order, polars promises no order of the joined rows.
    which = series.to_frame("value").join(
        place, on="value", how="left", nulls_equal=True, maintain_order="left"
    )
    count = len(values)
    lo = np.full(count, np.nan)
    kind = "categorical"
    if series.dtype.is_numeric() or series.dtype == pl.Date:
        kind = "date" if series.dtype == pl.Date else "numeric"
        lo = list_numbers(values)
    least, greatest = _widen_coarse_values(lo, coarse, whole=series.dtype.is_integer())
    levels = Levels(
        name,
        kind,
        kind != "categorical",
        tuple(_format_value(value) for value in values.to_list()),
        least,
        greatest,
        np.zeros(count, dtype=np.bool_),
        lo,
        missing,
        series.dtype.is_integer() or kind == "date",
    )
    cells = Intervals.exact(count)
    return Column(
        levels, cells, which["place"].to_numpy().astype(np.int64), role, values.alias(name)
    )


def _widen_coarse_values(
    shown: NDArray[np.float64], coarse: Sequence[Mapping[str, float | str]], *, whole: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the greatest number or day that each shown one may stand for, in any batch."""
    lo, hi = shown.copy(), shown.copy()
    for stated in coarse:
        step = stated.get("step", 0.0)
        if isinstance(step, str):
            given = ~np.isnan(shown)
            hi[given] = np.maximum(hi[given], LAST_DAYS[step](shown[given].astype("M8[D]")))
            continue
        half = step / 2
        least, greatest = shown - half, shown + half
        lo = np.minimum(lo, np.ceil(least) if whole else least)
        hi = np.maximum(hi, np.floor(greatest) if whole else greatest)
        lo[shown == stated.get("bottom", np.nan)] = -np.inf
        hi[shown == stated.get("top", np.nan)] = np.inf
    return lo, hi


def _format_value(value: Any) -> str:
    """The text of a value that is no cell."""
    return "(missing)" if value is None else str(value)
