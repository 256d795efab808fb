"""Released rows as a CSV file holds them: the items of a row in one text."""

import polars as pl

from kinds.matrix.layout import ITEMS

BETWEEN = " "  # two items of a row


def flat(rows: pl.DataFrame) -> pl.DataFrame:
    """Write each list of items as a text."""
    if not isinstance(rows.schema.get(ITEMS), pl.List):
        return rows
    return rows.with_columns(pl.col(ITEMS).cast(pl.List(pl.String)).list.join(BETWEEN))
