"""The cells of a release as frames: sets, bounds, memberships, levels."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from crowdcover.reader.coded.cells import Floats
from crowdcover.reader.coded.columns import Column, bounds_of


def levels_of(column: Column) -> pl.DataFrame:
    """The levels of a column, a row for each."""
    frame = pl.DataFrame({"level": column.levels.texts, "value": column.values})
    if not column.levels.is_counted:
        return frame
    return frame.with_columns(
        _build_bound_series(column, column.levels.lo, "lo"),
        _build_bound_series(column, column.levels.hi, "hi"),
    )


def sets_of(column: Column) -> pl.Series:
    """The levels that the cell of each row allows, List(String)."""
    labels = np.array(column.levels.texts, dtype=object)
    cells = [labels[column.cells.allowed(cell)].tolist() for cell in range(len(column.cells.sizes))]
    # Lists are built for the different cells only and gathered for the rows.
    sets = pl.Series("", cells, dtype=pl.List(pl.String)).gather(column.which)
    return sets.alias(column.name)  # not before: polars takes a name such as ^a$ for a pattern


def bounds_frame(columns: Iterable[Column]) -> list[pl.Series]:
    """`<col>.lo` and `<col>.hi` of each column of numbers or dates."""
    ends: list[pl.Series] = []
    for column in columns:
        if column.levels.is_counted:
            lo, hi, _ = bounds_of(column)
            ends.append(_build_bound_series(column, lo[column.which], f"{column.name}.lo"))
            ends.append(_build_bound_series(column, hi[column.which], f"{column.name}.hi"))
    return ends


def members_of(column: Column) -> list[pl.Series]:
    """A column for each level: 1/s in the rows whose cell allows it and s levels in all."""
    shares = column.masks / column.cells.sizes[:, None]
    return [
        pl.Series(f"{column.name}={label}", shares[column.which, level])
        for level, label in enumerate(column.levels.texts)
    ]


def _build_bound_series(column: Column, of: Floats, name: str) -> pl.Series:
    """Bounds in the column's type, null where open; noon of a day counts as the day."""
    series = pl.Series(name, np.where(np.isfinite(of), of, np.nan)).fill_nan(None)
    if column.levels.kind == "date":
        return series.floor().cast(pl.Int32).cast(pl.Date)
    return series.cast(pl.Int64) if column.levels.whole else series


def describe_release(manifest: Mapping[str, Any], rows: int, columns: Iterable[Column]) -> str:
    """Its name, version, size and k in one line, then a line for each column."""
    privacy = manifest.get("privacy", {})
    least, most = privacy.get("k_min", "?"), privacy.get("k_max", "?")
    k = least if least == most else f"{least} to {most}"
    name, version = manifest.get("name", "?"), manifest.get("version", "?")
    lines = [f"<Release {name} {version}: {rows} rows, k = {k}>"]
    for each in columns:
        role = "masked" if each.role == "quasi" else each.role
        lines.append(f"  {each.name}: {role}, {each.levels.kind}, {len(each.levels)} levels")
    return "\n".join(lines)
