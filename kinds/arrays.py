"""Typed columns of a frame as the core takes them."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray


def convert_to_arrays(frame: pl.DataFrame) -> dict[str, NDArray[Any]]:
    """Return typed columns as the core takes them: float64 with nan, or str objects with None."""
    return {series.name: _convert_to_array(series.alias("")) for series in frame}


def _convert_to_array(series: pl.Series) -> NDArray[Any]:
    if series.dtype == pl.Date:
        series = series.cast(pl.Int32)
    if series.dtype.is_numeric():
        return series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if series.dtype != pl.String:
        return np.array(series.to_list(), dtype=object)
    # Equal cells share one text: one for each cell would take ten times the memory.
    texts = series.drop_nulls().unique()
    place = series.cast(pl.Enum(texts)).to_physical().cast(pl.Int64).fill_null(len(texts))
    found: NDArray[Any] = np.array([*texts.to_list(), None], dtype=object).take(place.to_numpy())
    return found
