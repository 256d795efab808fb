"""The profile of a table that later runs are compared with; it stays in the vault."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.drift import (
    Profile,
    add_earlier_categories,
    measure_drift,
    summarize_column,
)
from anon_core.specs.columns import ColumnSpec
from crowdcover.kinds.arrays import convert_to_arrays
from crowdcover.kinds.columns import Column
from crowdcover.kinds.judge.drift import Changes
from crowdcover.kinds.table.layout import CARRIED


def build_table_profile(table: pl.DataFrame, columns: tuple[Column, ...]) -> dict[str, Any]:
    """Categories, percentiles and counts of quasi-identifiers, and the types of carried columns."""
    specs = [column.spec for column in columns if column.spec is not None]
    return {
        "rows": table.height,
        "columns": {
            spec.name: asdict(summarize_column(spec.kind, _build_array(table, spec)))
            for spec in specs
        },
        "types": _list_carried_types(table, columns),
    }


def compare_profiles(
    version: str,
    before: Mapping[str, Any],
    table: pl.DataFrame,
    columns: tuple[Column, ...],
    earlier: Sequence[Mapping[str, Any]] = (),
) -> Changes:
    """A table against what is remembered of the last one, and of the categories of those before.

    Columns with another role or kind in the plan of then are passed over.
    """
    profiles = {name: Profile(**column) for name, column in before["columns"].items()}
    # A category that any earlier release knew is not new, even if the last one lacked it.
    for each in earlier:
        profiles |= {
            name: add_earlier_categories(profiles[name], Profile(**column))
            for name, column in each["columns"].items()
            if name in profiles
        }
    same = [
        c.spec
        for c in columns
        if c.spec and c.name in profiles and profiles[c.name].kind == c.spec.kind
    ]
    types = _list_carried_types(table, columns)
    return Changes(
        version=version,
        rows_before=before["rows"],
        rows=table.height,
        columns={
            spec.name: measure_drift(profiles[spec.name], _build_array(table, spec))
            for spec in same
        },
        types={
            name: (before["types"][name], types[name]) for name in types if name in before["types"]
        },
    )


def _build_array(table: pl.DataFrame, spec: ColumnSpec) -> NDArray[Any]:
    """One column as the core takes it; the others need not be held meanwhile.

    Of points the widest boxes are compared: each next table has new ones of the finest.
    """
    values, tree = table[spec.name], spec.hierarchy
    if tree is not None and tree.grid:
        boxes = values.drop_nulls().unique()
        widest = [(tree.path_of(box) or (box,))[0] for box in boxes.to_list()]
        values = values.replace_strict(boxes, widest, default=None, return_dtype=pl.String)
    return convert_to_arrays(pl.DataFrame({spec.name: values}))[spec.name]


def _list_carried_types(table: pl.DataFrame, columns: tuple[Column, ...]) -> dict[str, str]:
    """Without what some types carry, such as the categories of an Enum."""
    carried = [column.name for column in columns if column.role in CARRIED]
    return {name: table[name].dtype.base_type().__name__ for name in carried}
