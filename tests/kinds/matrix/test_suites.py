"""The suites of matrices: what passes, and which expectation each fault breaks."""

import numpy as np
import polars as pl
import pytest

from crowdcover.kinds.matrix.suites import checked, encoded, released
from crowdcover.validations.run import validate_columns


class Folder:
    """A stage with entries only."""

    shape = (4, 2)

    def __init__(self, path, pairs):
        self.path = path
        pairs.write_parquet(path / "entries.parquet")

    def file(self, name):
        return self.path / name


PAIRS = pl.DataFrame(
    {"record": [0, 0, 2], "item": ["a", "b", "a"]},
    schema={"record": pl.UInt32, "item": pl.String},
)


def failures(suite, columns):
    return {outcome.words for outcome in validate_columns(suite, columns).failures}


@pytest.mark.parametrize(
    ("pairs", "broken"),
    [
        (PAIRS, set()),
        (pl.concat([PAIRS, PAIRS[:1]]), {"No user holds an item twice."}),
        (PAIRS.with_columns(item=pl.lit(None, dtype=pl.String)), {"Every entry has an item."}),
        (PAIRS.with_columns(record=pl.col("record") + 2), {"Every entry is of one of 4 users."}),
        (PAIRS[:0], {"At least one user holds an item."}),
        (PAIRS.with_columns(name=pl.lit("x")), {"Numbers of users and names of items only: the "
                                                "users' names are gone."}),
    ],
)  # fmt: skip
def test_entries_as_they_were_read(tmp_path, pairs, broken):
    found = failures(*checked.build_ingested_suite(Folder(tmp_path, pairs)))
    assert broken <= found
    assert bool(found) == bool(broken)


GOOD = {
    "k": np.array([2, 2, 3]),
    "held": np.array([1, 0, 2]),
    "least": np.array([0, np.nan, 0]),
    "greatest": np.array([0, np.nan, 1]),
    "ascending": np.array([True, True, True]),
}


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({}, set()),
        ({"k": np.array([0, 2, 3])}, {"Every demand is from 1 to 3 rows."}),
        ({"k": np.array([4, 2, 3])}, {"Every demand is from 1 to 3 rows."}),
        ({"held": np.array([1, 0, 3])}, {"Every user holds at most 2 items."}),
        ({"least": np.array([-1, np.nan, 0])}, {"No item has a number below 0."}),
        ({"greatest": np.array([0, np.nan, 2])}, {"Every item is one of 2."}),
        (
            {"ascending": np.array([True, False, True])},
            {"The items of each user are ascending, each once."},
        ),
    ],
)
def test_the_sparse_matrix(change, broken):
    assert failures(encoded.build_suite(3, 2), {**GOOD, **change}) == broken


ROWS = {
    "key": np.array(["0" * 16, "1" * 16], dtype=object),
    "class": np.array([2, 2]),
    "demanded": np.array([2, 2]),
    "minorities": np.array([0, 0]),
}


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({}, set()),
        ({"key": np.array(["0" * 16] * 2, dtype=object)}, {"No key occurs twice."}),
        (
            {"class": np.array([2, 1])},
            {"Every record's crowd has at least as many rows as it demands."},
        ),
        (
            {"minorities": np.array([0, 1])},
            {"Every item of a row is held by at least half of the row's class."},
        ),
    ],
)
def test_the_rows_to_be_published(change, broken):
    assert failures(released.build_suite(2), {**ROWS, **change}) == broken


def test_rows_that_lack_one():
    short = {name: column[:1] for name, column in ROWS.items()}
    assert failures(released.build_suite(2), short) == {"Exactly 2 rows, one for each user."}
