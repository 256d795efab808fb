"""Which released row belongs to which record, and what keys and row order tell."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.row_order import BEYOND_CHANCE, order_hits
from crowdcover.kinds.judge.audit import Finding
from crowdcover.storage.shelf.layout import KEY

KEY_FORM = r"^[0-9a-f]{16}\z"


def find_row_seats(
    rows: pl.DataFrame, source_rows: NDArray[np.int64], matching: pl.DataFrame
) -> tuple[NDArray[np.int64], list[Finding]]:
    """Row of each record (-1: none), and whether rows and records pair up (the last two)."""
    keys = rows[KEY]
    records = len(source_rows)
    distinct = keys.drop_nulls().n_unique()
    claim = matching if matching["record"].is_sorted() else matching.sort("record")
    # A claim about other records is no map: then nobody has a row.
    whole = np.array_equal(claim["record"].to_numpy(), source_rows)
    seat = np.full(records, -1, dtype=np.int64)
    if whole:
        seat = _seat_records(claim[KEY], keys, distinct)
    homeless = int((seat < 0).sum())
    taken = np.zeros(rows.height, dtype=np.bool_)
    taken[seat[seat >= 0]] = True
    doubled = records - homeless - int(taken.sum())
    odd = int((~keys.cast(pl.String).fill_null("").str.contains(KEY_FORM)).sum())
    hits = max(int(right.sum()) for right in order_hits(seat).values())
    return seat, [
        Finding(
            "rows ordered by key", keys.is_sorted(), "row order tells nothing but the random keys"
        ),
        Finding(
            "keys of 16 hexadecimal digits",
            odd == 0,
            f"{odd} of {rows.height} keys have another form",
        ),
        Finding(
            "order tells nothing",
            hits < BEYOND_CHANCE,
            f"a guess by the source's order is right for {hits} of {records} records; "
            f"{BEYOND_CHANCE} are beyond chance",
        ),
        Finding(
            "one row a record",
            rows.height == records == distinct,
            f"{rows.height} rows with {distinct} distinct keys for {records} records",
        ),
        Finding(
            "known keys",
            homeless + doubled == 0,
            f"{homeless} of {records} records have no row under their key, and {doubled} have the "
            "key of another",
        ),
    ]


def _seat_records(claimed: pl.Series, keys: pl.Series, distinct: int) -> NDArray[np.int64]:
    """The row with the key of each record, int64 (records,); -1: none."""
    # In a release that is as it should be, sorted claims are the keys in their order. Numbers sort
    # faster than their digits, and what is no number is found to differ.
    order = claimed.str.to_integer(base=16, dtype=pl.UInt64, strict=False).arg_sort()
    unique = claimed.dtype == keys.dtype and distinct == len(claimed)
    if unique and claimed.gather(order).equals(keys):
        seat = np.empty(len(claimed), dtype=np.int64)
        seat[order.to_numpy()] = np.arange(len(claimed))
        return seat
    # Each key once, since a repeated one would multiply rows in the join. A null joins nothing.
    at = pl.DataFrame({KEY: keys, "row": np.arange(len(keys))}).unique(KEY, keep="first")
    joined = claimed.alias(KEY).to_frame().join(at, on=KEY, how="left", maintain_order="left")
    return joined["row"].fill_null(-1).to_numpy().astype(np.int64)
