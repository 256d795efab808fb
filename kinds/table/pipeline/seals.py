"""Keyed digests of released rows: whether a row is the one that was published before."""

from collections.abc import Sequence

import polars as pl

from crowdcover.storage.ledger.digests import row_digests


def seals_of(rows: pl.DataFrame, key: bytes) -> pl.Series:
    """A digest of each whole row, binary (rows,)."""
    return pl.Series(row_digests(key, "released row", rows), dtype=pl.Binary)


def constants_of(rows: pl.DataFrame, constant: Sequence[str], key: bytes) -> pl.Series:
    """A digest of what each row carries in these columns, binary (rows,)."""
    if not constant:
        # One value for all rows: without such columns nothing links them.
        return pl.Series([b""] * rows.height, dtype=pl.Binary)
    return pl.Series(row_digests(key, "carried", rows.select(constant)), dtype=pl.Binary)
