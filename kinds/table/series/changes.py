"""Which columns changed in records whose rows are re-issued: what a series costs."""

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.kinds.columns import type_source_column
from crowdcover.kinds.table.layout import CARRIED, list_released_columns
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.kinds.table.series.present import Present
from crowdcover.kinds.table.version_files import AT, GOES, RECORD_DIGEST, VALUES

_MOSTLY = 0.5  # of the values of a column


def count_changed_records(
    plan: TablePlan, members: pl.DataFrame, found: Present, going: NDArray[np.bool_]
) -> Mapping[str, int]:
    """Count, for each released column, the records whose value there is another one.

    Counted are records with a row in the version before that are in the source and must get
    another row. A record in which two columns changed counts for both.
    """
    if not members.height:
        return {}
    place = pl.DataFrame(
        {RECORD_DIGEST: found.known[RECORD_DIGEST], AT: np.arange(found.known.height)}
    )
    of_members = members.with_columns(pl.Series(GOES, going)).drop(VALUES)
    # An inner join: a record that left has no value to compare with.
    both = of_members.join(place, on=RECORD_DIGEST, how="inner", maintain_order="left")
    both = both.filter(pl.col(GOES))  # others have equal values, pulled or not
    now = found.table[both[AT].to_numpy()]
    return {
        column.name: int(
            type_source_column(both, column, plan.source.missing).ne_missing(now[column.name]).sum()
        )
        for column in list_released_columns(plan.columns)
    }


def describe_telling_columns(plan: TablePlan, table: pl.DataFrame) -> list[str]:
    """A sentence for each carried column most of whose values differ: nearly an identifier."""
    return [
        f"column {column.name!r} is carried as it is, and {share:.0%} of its values differ. If it "
        "changes for most people from version to version, nearly all rows are re-issued each time, "
        "and who recognises a value connects the rows of a person. Group it in the source, or drop "
        "it, before the series begins"
        for column in list_released_columns(plan.columns)
        if column.role in CARRIED
        and column.coarse is None
        and (share := table[column.name].n_unique() / max(table.height, 1)) > _MOSTLY
    ]
