"""Released edges as a CSV file holds them: probabilities with six digits."""

import polars as pl

from crowdcover.kinds.graph.layout import P

_MILLION = 1_000_000


def flatten_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Write each probability in millionths; of a text the number that is read in it."""
    if P not in rows.columns or not (rows[P].dtype == pl.String or rows[P].dtype.is_numeric()):
        return rows
    number = pl.col(P).cast(pl.Float64, strict=False)
    # Other values become null, so that the cast to Int64 cannot overflow.
    readable = number.is_finite() & (number.abs() <= 1)
    whole = (pl.when(readable).then(number) * _MILLION).round().cast(pl.Int64)
    # Digits of whole numbers: a float is written as 1e-6.
    digits = (whole % _MILLION).cast(pl.String).str.zfill(6)
    return rows.with_columns(pl.format("{}.{}", whole // _MILLION, digits).alias(P))
