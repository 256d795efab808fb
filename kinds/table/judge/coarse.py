"""Numbers as coarse as the plan wants them, computed anew for the audit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.codebook.coarse import coarsen_distinct
from anon_core.specs.coarse import Ends
from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.judge.as_text import number_distinct_cells


def coarsen_columns(
    frame: pl.DataFrame,
    columns: Sequence[Column],
    least: int,
    person: NDArray[np.integer[Any]] | None,
) -> tuple[pl.DataFrame, dict[str, Ends]]:
    """The records with coarser numbers, and where the open groups of these columns begin.

    `least` people are in an open group by "k"; `person` int (n,) says whose the records are.
    """
    shown, ends = {name: frame[name] for name in frame.columns}, {}
    for column in columns:
        if column.coarse is not None:
            place, distinct = number_distinct_cells(shown[column.name].alias(""))
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
