"""The checks of a matrix in Great Expectations: each suite with the columns that it is about."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.kinds.matrix.judge.measured import Measured
from crowdcover.kinds.matrix.layout import ENTRIES, ITEM, KEY, PARQUET, RECORD
from crowdcover.kinds.matrix.pipeline.encode import load_encoded
from crowdcover.kinds.matrix.suites import encoded as of_encoded
from crowdcover.kinds.matrix.suites import ingested as of_ingested
from crowdcover.kinds.matrix.suites import released as of_released
from crowdcover.storage.vault.run import Stored

Suite = tuple[Any, Mapping[str, NDArray[Any]]]


def build_ingested_suite(stored: Stored) -> Suite:
    """The entries as they were read, counted by user."""
    pairs = pl.read_parquet(stored.file(ENTRIES), glob=False)
    item = pl.col(ITEM)
    counted = pairs.group_by(RECORD).agg(
        pl.len().alias(of_ingested.ENTRIES_HELD),
        item.n_unique().alias(of_ingested.DISTINCT_ITEMS),
        item.null_count().alias(of_ingested.MISSING_ITEMS),
    )
    columns = {each.name: each.to_numpy().astype(np.int64) for each in counted}
    others = set(pairs.columns) - {RECORD, ITEM}
    # A stray column must reach the suite by name; its values stay unseen.
    columns |= {name: np.zeros(counted.height, dtype=np.int64) for name in others}
    return of_ingested.build_suite(stored.shape[0]), columns


def build_encoded_suite(stored: Stored) -> Suite:
    """The sparse matrix, a row for each user; a user without items has no least and greatest."""
    matrix = load_encoded(stored)
    held = np.diff(matrix.indptr)
    some = held > 0
    least, greatest = (np.full(matrix.records, np.nan) for _ in range(2))
    # reduceat cuts at the next given start. Users without items are left out, so it cuts at rows.
    least[some] = np.minimum.reduceat(matrix.indices, matrix.indptr[:-1][some])
    greatest[some] = np.maximum.reduceat(matrix.indices, matrix.indptr[:-1][some])
    row = np.repeat(np.arange(matrix.records), held)
    falls = (np.diff(matrix.indices) <= 0) & (np.diff(row) == 0)
    ascending = np.ones(matrix.records, dtype=np.bool_)
    # Only falls within a row count; the first item of a row may be any.
    ascending[row[1:][falls]] = False
    columns = {
        of_encoded.USER_K: matrix.k.astype(np.int64),
        of_encoded.ITEMS_HELD: held,
        of_encoded.LEAST_ITEM: least,
        of_encoded.GREATEST_ITEM: greatest,
        of_encoded.ITEMS_ASCEND: ascending,
    }
    return of_encoded.build_suite(matrix.records, matrix.items), columns


def build_released_suite(measured: Measured, anonymized: Stored) -> Suite:
    """The rows to be published, as counts instead of items."""
    keys = pl.read_parquet(anonymized.file(PARQUET), glob=False)[KEY]
    classes, smooth = measured.classes, measured.smooth
    minority = 2 * smooth.holders < smooth.members
    wrong = np.bincount(classes.of_pair[minority], minlength=classes.number)
    columns = {
        of_released.KEY: np.array(keys.to_list(), dtype=object),
        of_released.CLASS_SIZE: measured.size_of,
        of_released.DEMANDED_SIZE: measured.k.astype(np.int64),
        of_released.MINORITIES: wrong[classes.of_row],
    }
    return of_released.build_suite(len(measured.k)), columns
