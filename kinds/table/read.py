"""From a source to typed tables."""

import polars as pl

from anon_core.specs.demands import Demand
from kinds.table.columns import Column
from kinds.table.layout import released_columns
from tasks.source.sources import Source, read_together


def demand_column(columns: tuple[Column, ...], demand: Demand) -> Column | None:
    """The column that k is read from, typed for that."""
    if demand.source_column is None:
        return None
    found = next(column for column in columns if column.name == demand.source_column)
    return Column(name=found.name, role="keep", kind="numeric" if demand.column else "categorical")


def read_order(
    source: Source, columns: tuple[Column, ...], demand: Demand
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """The columns that may be released, and the one that k is read from, if any."""
    names = [column.name for column in columns]
    k_column = demand_column(columns, demand)
    groups = [released_columns(columns), () if k_column is None else (k_column,)]
    table, k_values = read_together(source, names, groups)
    return table, None if k_column is None else k_values
