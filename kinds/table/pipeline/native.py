"""Released cells as typed values, and the codebook that describes them: the makers' side."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from anon_core.specs.coarse import Ends
from anon_core.tables.bounds import (
    LevelEnd,
    LevelEnds,
    excludes_lower,
    list_level_ends,
    list_level_members,
)
from anon_core.tables.codebook import codebook_to_json
from anon_core.tables.records import Attribute, Codebook
from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.forms import (
    ABSENT,
    COUNTED,
    EXCLUDED,
    FORMAT,
    HI,
    INCLUDED,
    INTERVAL,
    LIST,
    LO,
    describe_coarse_columns,
    describe_codebook_columns,
    find_stored_type,
    is_whole,
    name_form,
)


def native_cells(
    attribute: Attribute,
    column: Column,
    shown: Sequence[tuple[int, ...] | None],
    dtype: pl.DataType,
) -> pl.Series:
    """Typed values for cells, given as the levels that they allow; None for `*`.

    `dtype` is the type of the column's values in the source.
    """
    assert column.spec is not None
    form = name_form(column.spec)
    if form == LIST:
        return _list_members(attribute, shown).cast(find_stored_type(form, dtype))
    bounds = list_level_ends(attribute, whole=is_whole(dtype))
    missing = attribute.has_missing
    cell = _build_interval if form == INTERVAL else _build_interval_list
    cells = [None if levels is None else cell(bounds, missing, levels) for levels in shown]
    # Dates are whole numbers of days here; Python's own dates end with the year 9999.
    plain = pl.Int64() if dtype == pl.Date else dtype
    return pl.Series(cells, dtype=find_stored_type(form, plain)).cast(find_stored_type(form, dtype))


def _list_members(attribute: Attribute, shown: Sequence[tuple[int, ...] | None]) -> pl.Series:
    """The names of the levels of each cell, as lists."""
    # Out of Python's lists polars makes a column of each, of kilobytes: there are many cells.
    names = pl.Series(list_level_members(attribute), dtype=pl.String)
    sizes = [0 if levels is None else len(levels) for levels in shown]
    of = np.repeat(np.arange(len(shown)), sizes)
    members = np.fromiter(chain.from_iterable(filter(None, shown)), np.int64, len(of))
    listed = pl.DataFrame({"cell": of, "name": names[members]})
    lists = listed.group_by("cell", maintain_order=True).agg("name")
    cells = pl.DataFrame({"cell": np.arange(len(shown))})
    return cells.join(lists, on="cell", how="left", maintain_order="left")["name"]


def build_published_codebook(
    codebook: Codebook,
    columns: tuple[Column, ...],
    source: Mapping[str, pl.DataType],
    ends: Mapping[str, Ends] | None = None,
) -> dict[str, Any]:
    """The codebook as a release publishes it, for both files.

    `source` has the types of the columns, `ends` the open groups of coarser ones.
    """
    document = codebook_to_json(codebook)
    for entry, attribute in zip(document["attributes"], codebook.attributes, strict=True):
        entry.update(_describe_attribute(attribute, source[attribute.name]))
    document |= describe_coarse_columns(columns, ends or {})
    return {"format": FORMAT, "columns": describe_codebook_columns(columns, source), **document}


def _describe_attribute(attribute: Attribute, dtype: pl.DataType) -> dict[str, Any]:
    counted = attribute.kind in COUNTED
    stated = "hidden" if attribute.hide_missing else "level"
    entry: dict[str, Any] = {
        "ordered": counted or (attribute.ordinal and attribute.kind != "binary"),
        "missing": stated if attribute.has_missing else "never",
    }
    if counted:
        whole = is_whole(dtype)
        bounds = list_level_ends(attribute, whole=whole)
        entry["lower"] = EXCLUDED if excludes_lower(attribute, whole=whole) else INCLUDED
        entry["bounds"] = [[_format_bound(side, dtype) for side in pair] for pair in bounds]
    return entry


def _format_bound(side: LevelEnd, dtype: pl.DataType) -> float | str | None:
    """A bound in the codebook: a date as ISO text."""
    if side is None or dtype != pl.Date:
        return side
    # numpy has years past 9999, where Python's dates end.
    return str(np.datetime64(int(side), "D"))


def _build_interval(
    bounds: Sequence[LevelEnds], missing: bool, levels: Sequence[int]
) -> dict[str, Any]:
    # Levels of an interval are consecutive. -1 stands for the missing level.
    first, last = levels[0] - missing, levels[-1] - missing
    if last < 0:
        return {LO: None, HI: None, ABSENT: True}
    # ABSENT is True: missing; None: missing or a number; False: a number.
    absent = None if first < 0 else False
    return {LO: bounds[max(first, 0)][0], HI: bounds[last][1], ABSENT: absent}


def _build_interval_list(
    bounds: Sequence[LevelEnds], missing: bool, levels: Sequence[int]
) -> list[dict[str, Any] | None]:
    return [
        None
        if level < missing
        else {LO: bounds[level - missing][0], HI: bounds[level - missing][1]}
        for level in levels
    ]
