"""Two published tables beside each other: categories, and drift as far as their cells tell it."""

import json
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.shown_drift import (
    ShownInterval,
    Spans,
    find_share_bounds,
    shift_of_categories,
    shift_of_numbers,
)
from crowdcover.kinds.table.forms import COUNTED
from crowdcover.kinds.table.judge.as_text import Reader, show_as_text
from crowdcover.kinds.table.judge.coded import OPEN_ENDS, Coded
from crowdcover.kinds.table.layout import CODEBOOK, CSV, FILES, KEY, PARQUET
from crowdcover.storage.shelf.layout import MANIFEST
from crowdcover.storage.source.csv_rows import first_rows, read_csv
from crowdcover.storage.source.values import FOREIGN_ERRORS


@dataclass(frozen=True)
class PublishedTable:
    """A published table: its codebook, its rows and whether each cell holds the true value."""

    coded: Mapping[str, Coded]
    rows: pl.DataFrame
    truthful: bool

    @classmethod
    def read(cls, folder: Path, file: str) -> "PublishedTable":
        """Read a folder; its data from this file."""
        codebook = json.loads((folder / CODEBOOK).read_text(encoding="utf-8"))
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        rows = _read_rows(folder / file)
        coded = {entry["name"]: Coded.of(entry) for entry in codebook["attributes"]}
        readers = [Reader.of(each, rows.schema[name]) for name, each in coded.items()]
        rows = show_as_text(rows, readers)
        return cls(coded, rows, manifest["privacy"].get("untruthful_rows") == 0)


def compare_published_tables(earlier: Path, later: Path) -> dict[str, dict[str, Any]] | None:
    """New and gone categories and the bounds of the shift, by column that both tables show.

    A column whose cells cannot be read truthfully has no shift. None where the tables have no file
    of the same format, or one that cannot be read.
    """
    both = [name for name in FILES.values() if all((f / name).exists() for f in (earlier, later))]
    if not both:
        return None
    file = PARQUET if PARQUET in both else CSV
    try:
        was, now = PublishedTable.read(earlier, file), PublishedTable.read(later, file)
    except FOREIGN_ERRORS:
        return None
    if not (was.rows.height and now.rows.height):
        return {}
    shown = [name for name in now.rows.columns if name in was.rows.columns and name != KEY]
    return {name: _of_column(name, was, now) for name in shown}


def _read_rows(path: Path) -> pl.DataFrame:
    if path.name == PARQUET:
        return pl.read_parquet(path, glob=False)
    (names,) = first_rows(path, ",", 1)
    return read_csv(path, ",", header=True, names=names, needed=names)


def _of_column(name: str, was: PublishedTable, now: PublishedTable) -> dict[str, Any]:
    if (name in was.coded) != (name in now.coded):
        return {}
    if name not in was.coded:
        return _of_carried(was.rows[name], now.rows[name])
    before, after = was.coded[name], now.coded[name]
    if (before.kind in COUNTED) != (after.kind in COUNTED):
        return {}
    found: dict[str, Any] = {}
    if before.kind not in COUNTED:
        found |= _compare_categories(before.categories, after.categories)
    # Bounds rest on truth: a cell that may be false allows every value.
    if not (was.truthful and now.truthful):
        return found
    texts = was.rows[name], now.rows[name]
    if before.kind in COUNTED:
        return found | _round_shift_bounds(
            shift_of_numbers(_read_spans(before, texts[0]), _read_spans(after, texts[1]))
        )
    return found | _round_shift_bounds(
        shift_of_categories(*_pair_share_bounds(before, after, *texts))
    )


def _of_carried(was: pl.Series, now: pl.Series) -> dict[str, Any]:
    """Of a column that is published as it is: exact shares."""
    if was.dtype.is_numeric() and now.dtype.is_numeric():
        return _round_shift_bounds(
            shift_of_numbers(_build_exact_spans(was), _build_exact_spans(now))
        )
    counted = [Counter(series.cast(pl.String).to_list()) for series in (was, now)]
    held = [
        {value: (number / len(series), number / len(series)) for value, number in counts.items()}
        for counts, series in zip(counted, (was, now), strict=True)
    ]
    names = [{value for value in counts if value is not None} for counts in counted]
    return {**_compare_categories(*names), **_round_shift_bounds(shift_of_categories(*held))}


def _build_exact_spans(series: pl.Series) -> Spans:
    # Missing is -inf here, as in the spans of masked cells.
    numbers = series.cast(pl.Float64).fill_nan(None).fill_null(-inf).to_numpy()
    return Spans(numbers, numbers, np.zeros(len(numbers), dtype=np.bool_))


def _compare_categories(was: set[str], now: set[str]) -> dict[str, Any]:
    return {"new": sorted(now - was), "gone": sorted(was - now)}


def _round_shift_bounds(shift: ShownInterval) -> dict[str, Any]:
    return {"at_least": round(shift[0], 6), "at_most": round(shift[1], 6)}


def _read_spans(column: Coded, cells: pl.Series) -> Spans:
    """The numbers that each cell allows; every number for a cell that cannot be read."""
    cell, levels = read_cells(column, cells.to_list())
    low, high, excludes = (np.array(side) for side in zip(*column.spans, strict=True))
    ends = []
    for allowed in levels:
        if not allowed.any() or (column.hide_missing and allowed.all()):
            ends.append((*OPEN_ENDS, False))
            continue
        lowest = np.min(low[allowed])
        at_lowest = allowed & (low == lowest)
        # The low end is out only if every level that begins there leaves it out.
        ends.append((lowest, np.max(high[allowed]), bool(excludes[at_lowest].all())))
    of_cell = [np.array(side) for side in zip(*ends, strict=True)]
    return Spans(of_cell[0][cell], of_cell[1][cell], of_cell[2][cell].astype(np.bool_))


def _pair_share_bounds(
    before: Coded, after: Coded, was: pl.Series, now: pl.Series
) -> tuple[dict[Hashable, ShownInterval], dict[Hashable, ShownInterval]]:
    """The bounds of each category's share; one that is pooled in a table may be any of the pool."""
    names = before.categories | after.categories
    return _bound_category_shares(before, was, names), _bound_category_shares(after, now, names)


def _bound_category_shares(
    column: Coded, cells: pl.Series, names: set[str]
) -> dict[Hashable, ShownInterval]:
    cell, levels = read_cells(column, cells.to_list())
    least, greatest = find_share_bounds(cell, levels)
    whole, empty = np.all(levels, axis=1)[cell], ~np.any(levels, axis=1)[cell]
    if column.hide_missing and len(column.labels) == 1:
        least = np.zeros_like(least)  # the only level is also how a missing value is shown
    hidden = float(np.mean(whole)) if column.hide_missing else 0.0
    # A cell that cannot be read may hold any category, so it adds to each upper bound.
    unread = float(np.mean(empty))
    pooled = float(greatest[-1]) if column.has_other else 0.0
    named = range(int(column.has_missing), len(column.labels) - column.has_other)
    place = {column.labels[at]: at for at in named}
    found: dict[Hashable, ShownInterval] = {}
    for name in names:
        if (at := place.get(name)) is not None:
            found[name] = float(least[at]), float(greatest[at]) + unread
        else:
            # Without a level here, all of the pool may be this category, or none of it.
            found[name] = 0.0, pooled + unread
    if column.has_missing:
        found[None] = float(least[0]), float(greatest[0]) + unread
    else:
        found[None] = 0.0, hidden + unread
    return found
