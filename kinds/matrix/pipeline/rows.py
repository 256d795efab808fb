"""Released rows as a CSV file holds them: the items of a row in one text."""

import polars as pl

from crowdcover.kinds.matrix.layout import ITEMS

BETWEEN = " "  # two items of a row


def flatten_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Write each list of items as a text; of a text the numbers that are read in it."""
    held = rows.schema.get(ITEMS)
    lists = pl.col(ITEMS)
    if held == pl.String:
        lists = lists.fill_null("").str.split(BETWEEN)
        # What is no number is left out, so the text differs from the file's and the audit says so.
        lists = lists.list.eval(pl.element().cast(pl.Int64, strict=False).drop_nulls())
    elif not isinstance(held, pl.List):
        return rows
    return rows.with_columns(lists.cast(pl.List(pl.String)).list.join(BETWEEN))
