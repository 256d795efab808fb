"""Local suppression to k-anonymity, rows with a suppressed cell left out."""

import polars as pl


def suppressed(table, keys, k):
    """The rows whose values in the columns `keys` at least k rows have.

    sdcMicro's `localSuppression` (Templ, Kowarik and Meindl, J. Stat. Softw. 67(4), 2015) hides at
    least one key cell of each row whose combination fewer than k rows have, and none of another
    row. Where no value is missing at first and rows with a hidden cell are left out at the end,
    as in the releases "CellSuppression" of NIST's exercise, these rows remain.
    """
    return table.filter(pl.len().over(list(keys)) >= k)
