"""The law that a vault states, read some rows at a time."""

import numpy as np
import polars as pl
import pytest

from crowdcover.kinds.table.judge import law

KEYS = pl.Series("key", ["a", "b", "c", "d", "e"])
SOURCE_ROWS = np.array([1, 2, 4, 6, 9])
HELD = [[1, 2], [2, 1], [4, 9], [6, 6], [9, 4]]


def read(tmp_path, keys, held, kind=pl.Int64):
    path = tmp_path / "law.parquet"
    schema = {"key": pl.String, "records": pl.List(kind)}
    pl.DataFrame({"key": keys, "records": held}, schema=schema).write_parquet(path)
    return law._read_holders(path, KEYS, SOURCE_ROWS)


@pytest.mark.parametrize("at_once", [2, 100])
@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [3, 0, 4, 1, 2]])
def test_holders_are_numbered_in_the_order_of_the_rows(tmp_path, monkeypatch, order, at_once):
    monkeypatch.setattr(law, "_AT_ONCE", at_once)
    found = read(tmp_path, [KEYS[at] for at in order], [HELD[at] for at in order])
    assert found.tolist() == [[0, 1], [1, 0], [2, 4], [3, 3], [4, 2]]


@pytest.mark.parametrize(
    ("keys", "held"),
    [
        (["a", "b", "c", "d", "x"], HELD),
        (["a", "b", "c", "d", "d"], HELD),
        (["a", "b", "c", "d"], HELD[:4]),
        (KEYS, [*HELD[:4], [9]]),
        (KEYS, [*HELD[:4], None]),
        (KEYS, [*HELD[:4], [9, None]]),
        (KEYS, [*HELD[:4], [9, 3]]),
        (KEYS, [*HELD[:4], [9, -1]]),
        (KEYS, [*HELD[:4], [9, 10]]),
        (KEYS, [[]] * 5),
    ],
)
@pytest.mark.parametrize("at_once", [4, 100])
def test_what_is_no_law_of_these_rows_is_none(tmp_path, monkeypatch, keys, held, at_once):
    monkeypatch.setattr(law, "_AT_ONCE", at_once)
    assert read(tmp_path, keys, held) is None


def test_a_file_of_another_form_is_none(tmp_path):
    assert read(tmp_path, KEYS, [["x", "y"]] * 5, pl.String) is None
