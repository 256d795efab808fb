"""The entries and demands of the source as the audit computes them."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.codebook.levels import source_levels
from crowdcover.kinds.demands import demands_again
from crowdcover.kinds.matrix.layout import ITEM, RECORD
from crowdcover.kinds.matrix.pipeline.read import Read
from crowdcover.kinds.matrix.plan.sections import MatrixPlan


@dataclass(frozen=True)
class SourceMatrix:
    """Who holds what by name, and the k of each record."""

    pairs: pl.DataFrame = field(repr=False)
    k: NDArray[np.int32] = field(repr=False)

    @classmethod
    def of(cls, read: Read, plan: MatrixPlan) -> "SourceMatrix":
        """From one reading of the source."""
        k = _find_demands(read, plan)
        pairs = (
            read.pairs if read.pairs is not None else _list_level_items(read, plan, int(k.max()))
        )
        return cls(pairs, k)

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.k)


def _find_demands(read: Read, plan: MatrixPlan) -> NDArray[np.int32]:
    if isinstance(plan.k, int):
        return np.array([plan.k] * read.records, dtype=np.int32)
    assert read.users is not None
    assert read.demands is not None
    return demands_again(read.users, read.demands, "users")


def _list_level_items(read: Read, plan: MatrixPlan, least: int) -> pl.DataFrame:
    """An item for each column and level of a table; none where a value is missing."""
    assert read.table is not None
    columns = {}
    for spec in plan.specs:
        values = read.table[spec.name].alias("")  # polars takes a name such as ^a$ for a pattern
        columns[spec.name] = (
            values.cast(pl.Float64).fill_null(float("nan")).to_numpy()
            if spec.is_counted
            else np.array(values.to_list(), dtype=object)
        )
    levels, code = source_levels(plan.specs, columns, least)
    pairs: dict[str, list[object]] = {RECORD: [], ITEM: []}
    for column, held in zip(levels, code.tolist(), strict=True):
        for record, level in enumerate(held):
            # Level 0 means that the value is missing, where a column has missing values.
            if level > 0 or not column.has_missing:
                pairs[RECORD].append(record)
                pairs[ITEM].append(f"{column.name}={column.labels[level]}")
    return pl.DataFrame(pairs, schema={RECORD: pl.UInt32, ITEM: pl.String})
