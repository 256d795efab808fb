"""Whether the sensitive and kept values of a row are those of its record."""

import numpy as np
import polars as pl
from numpy.typing import NDArray


def find_equal_values(people: pl.Series, rows: pl.Series) -> NDArray[np.bool_]:
    """Compare values in pairs; missing equals missing.

    Where one side is text and the other is not, both are compared as a CSV file writes them.
    """
    if people.dtype != rows.dtype:
        people, rows = _format_as_csv(people), _format_as_csv(rows)
    people = people.alias("")  # polars takes a name such as ^a$ for a pattern
    return np.asarray(people.eq_missing(rows).to_numpy(), dtype=np.bool_)


def _format_as_csv(series: pl.Series) -> pl.Series:
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        return series.cast(pl.String)
    # The second column keeps a row without a value apart from a blank line.
    text = series.alias("value").to_frame().with_columns(row=pl.lit(0)).write_csv()
    return pl.read_csv(text.encode(), infer_schema=False).to_series()
