"""Numbers and dates as coarse as the plan wants them, computed anew for the audit."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.codebook.coarse import coarsen_distinct
from anon_core.measures.table.codebook.steps import find_first_day_of_step
from anon_core.specs.coarse import Ends
from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.judge.as_text import number_distinct_cells

_EPOCH = date(1970, 1, 1)
_FIRST = (date.min - _EPOCH).days


def coarsen_columns(
    frame: pl.DataFrame,
    columns: Sequence[Column],
    least: int,
    person: NDArray[np.integer[Any]] | None,
) -> tuple[pl.DataFrame, dict[str, Ends]]:
    """The records with coarser values, and where the open groups of these columns begin.

    `least` people are in an open group by "k"; `person` int (n,) says whose the records are.
    """
    shown, ends = {name: frame[name] for name in frame.columns}, {}
    for column in columns:
        if column.coarse is not None:
            place, distinct = number_distinct_cells(shown[column.name].alias(""))
            if isinstance(column.coarse.step, str):
                days = _list_first_days(distinct, column.coarse.step)
                shown[column.name], ends[column.name] = days.gather(place), Ends()
                continue
            whole = distinct.dtype.is_integer() and column.coarse.is_whole
            numbers = [
                None if text is None else float(text) for text in distinct.cast(pl.String).to_list()
            ]
            coarser, ends[column.name] = coarsen_distinct(
                numbers, place, column.coarse, least, person, whole=whole
            )
            series = pl.Series(coarser, dtype=pl.Float64)
            shown[column.name] = (series.cast(pl.Int64) if whole else series).gather(place)
    return pl.DataFrame(shown), ends


def _list_first_days(values: pl.Series, step: str) -> pl.Series:
    """The first day of each date's step; of a moment with a zone, of its day there.

    The first decade begins with year 1, the first that there is.
    """
    days = [
        None if each is None else date(each.year, each.month, each.day) for each in values.to_list()
    ]
    numbers = [
        None if each is None else max(_FIRST, find_first_day_of_step((each - _EPOCH).days, step))
        for each in days
    ]
    return pl.Series(numbers, dtype=pl.Int32).cast(pl.Date)
