"""Files of the versions of a table. All are in the vault only, but for the column `SINCE`."""

import polars as pl

SINCE = "since"  # released: number of the version in which the row is new
BATCHES = "batches"  # of the codebook: how to read the rows of each version
BATCH = "batch.parquet"  # split: source rows of the batch, as the source gives them
JOINED = "joined.parquet"  # split: chain, person and digests of each row of the batch
ROWS = "rows.parquet"  # split, assembled: every row ever published, one line each
MEMBERS = "members.parquet"  # split, assembled: who has a row now, with the values of the source
PASTS = "pasts.npz"  # split: histories so far of the records of the batch
SHORT = "short.npy"  # versions: chains of records with fewer than k histories
HELD = "held.parquet"  # split, assembled: records that wait, if later sources lack them

# Columns of the files.
CHAIN, PERSON, BORN, DIED, DEMANDED_K = "#chain", "#person", "#born", "#died", "#k"
ROW_SEAL, CONSTANT = "#seal", "#constant"
RECORD_DIGEST, OWNER, VALUES, ROW_KEY = "#record", "#owner", "#values", "#key"
AT, GOES = "#at", "#goes"  # beside them while changed records are counted
# No source column that a plan uses has one of these names.
RESERVED = frozenset({CHAIN, PERSON, BORN, DIED, DEMANDED_K, ROW_SEAL, CONSTANT, AT, GOES})
RESERVED |= {RECORD_DIGEST, OWNER, VALUES, ROW_KEY}


def is_in_version(number: int) -> pl.Expr:
    """Whether a version shows a row of `ROWS`."""
    return (pl.col(BORN) <= number) & (pl.col(DIED).is_null() | (pl.col(DIED) > number))
