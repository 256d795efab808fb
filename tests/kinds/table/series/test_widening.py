"""Who goes with those who must, and how many others give a new batch room."""

from unittest import mock

import numpy as np
import polars as pl
import pytest

from anon_core.series.fits import Fits
from crowdcover.kinds.table.series.earlier import Earlier
from crowdcover.kinds.table.series.widening import find_gone_rows
from crowdcover.kinds.table.version_files import (
    BORN,
    CHAIN,
    CONSTANT,
    DEMANDED_K,
    DIED,
    PERSON,
    RECORD_DIGEST,
    ROW_KEY,
)

K, CLASS, RECORDS, BATCHES = 4, 8, 40, 5


@pytest.fixture
def earlier():
    """Standing batches, each of classes of equal records."""
    n = RECORDS * BATCHES
    rows = pl.DataFrame(
        {
            CHAIN: np.arange(n),
            PERSON: np.arange(n),
            BORN: pl.Series(np.repeat(np.arange(1, BATCHES + 1), RECORDS), dtype=pl.Int32),
            DIED: pl.Series([None] * n, dtype=pl.Int32),
            DEMANDED_K: pl.Series([K] * n, dtype=pl.Int32),
            ROW_KEY: [f"{each:04}" for each in range(n)],
            CONSTANT: [b""] * n,
            RECORD_DIGEST: pl.Series([None] * n, dtype=pl.Binary),
        }
    )
    of_class = np.arange(RECORDS) // CLASS
    record, row = np.nonzero(of_class[:, None] == of_class)
    fits = Fits.of_pairs(record, row, RECORDS)
    with mock.patch.object(Earlier, "fits", return_value=fits):
        yield Earlier(BATCHES, rows=rows, members=rows.select(ROW_KEY, CHAIN, PERSON))


def withdrawn(earlier, going, least):
    """By batch, how many rows are withdrawn if these members go; checked: crowds stay and go."""
    must = np.isin(np.arange(RECORDS * BATCHES), going)
    gone = find_gone_rows(earlier, must, least, None)
    assert gone[going].all()
    by_class = gone.reshape(-1, CLASS).sum(axis=1)
    assert np.isin(by_class, [0, *range(K, CLASS - K + 1), CLASS]).all()
    return gone.reshape(BATCHES, RECORDS).sum(axis=1).tolist()


def test_a_batch_in_which_nobody_goes_is_left_alone(earlier):
    assert withdrawn(earlier, [RECORDS], 0) == [0, K, 0, 0, 0]


def test_room_is_wanted_once_however_many_batches_stand(earlier):
    by_batch = withdrawn(earlier, [RECORDS], 3 * K)
    assert [bool(each) for each in by_batch] == [False, True, False, False, False]
    assert 3 * K < sum(by_batch) <= 3 * K + CLASS


def test_what_hides_those_who_go_counts_as_room(earlier):
    assert withdrawn(earlier, [0, RECORDS], 2 * (K - 1)) == [K, K, 0, 0, 0]


def test_room_beyond_a_batch_comes_from_the_next(earlier):
    by_batch = withdrawn(earlier, [RECORDS], RECORDS + K)
    assert by_batch[1] == RECORDS
    assert K <= by_batch[0] <= 2 * CLASS
    assert by_batch[2:] == [0, 0, 0]


def test_everybody_goes_if_as_many_as_there_are_are_wanted(earlier):
    assert withdrawn(earlier, [3, 99], RECORDS * BATCHES) == [RECORDS] * BATCHES
