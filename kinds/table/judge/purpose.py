"""What a plan's purpose makes of a source, computed anew: weights, and rows not released."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.weights import compute_weights
from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.judge.records import list_row_values
from crowdcover.kinds.table.plan.purpose import MILLION, Purpose, weigh_columns


def apply_purpose(
    purpose: Purpose,
    columns: tuple[Column, ...],
    frame: pl.DataFrame,
    others: pl.DataFrame | None,
    owners: pl.Series | None,
) -> tuple[tuple[Column, ...], NDArray[np.bool_]]:
    """The columns with the weights that they must have, and the rows that may be released.

    `frame` and `others` are the typed columns of the source and of the file of others, `owners` the
    people of the rows, if the plan names a column of them.
    """
    may = np.ones(frame.height, dtype=np.bool_)
    if purpose.predict is None:
        return columns, may
    if purpose.millionths:
        people = range(frame.height) if owners is None else owners.to_list()
        first: dict[object, int] = {}
        for row, who in enumerate(people):
            # A person is learnt from if the sum passes a whole million at the first row.
            # Written apart from `find_learning_rows`, so that a fault there is found here.
            begin = first.setdefault(who, row) * purpose.millionths
            may[row] = begin // MILLION == (begin + purpose.millionths) // MILLION
    learnt = frame if others is None else others
    if purpose.millionths:
        learnt = frame.filter(pl.Series(~may))
    quasi = [column.name for column in columns if column.role == "quasi"]
    weights = compute_weights(
        {name: list_values(learnt[name]) for name in quasi}, list_values(learnt[purpose.predict])
    )
    return weigh_columns(columns, weights), may


def list_values(column: pl.Series) -> NDArray[Any]:
    """The values of a column; moments and times as numbers."""
    return list_row_values(column.to_physical() if column.dtype.is_temporal() else column)
