"""Suppression: which rows remain, by counting and by local suppression itself."""

import numpy as np
import polars as pl
import pytest

from benchmarks.baselines.suppression import suppressed


def drawn(rows, seed, levels=(6, 3, 2)):
    generator = np.random.default_rng(seed)
    columns = {f"c{at}": generator.integers(0, each, rows) for at, each in enumerate(levels)}
    return pl.DataFrame(columns | {"row": np.arange(rows)})


def untouched(table, keys, k):
    """Rows without a hidden cell after local suppression; None stands for a hidden cell.

    In each round every row that fewer than k rows agree with loses the cell whose column has most
    values among those in which another row differs. A hidden cell agrees with everything.
    """
    rows = [list(row) for row in table.select(keys).iter_rows()]
    order = sorted(range(len(keys)), key=lambda at: -table[keys[at]].n_unique())

    def agree(a, b):
        return all(x == y or x is None or y is None for x, y in zip(a, b, strict=True))

    while weak := [row for row in rows if sum(agree(row, each) for each in rows) < k]:
        for row in weak:
            shown = [at for at in order if row[at] is not None]
            differ = [at for at in shown if any(each[at] != row[at] for each in rows)]
            row[(differ or shown)[0]] = None
    return [at for at, row in enumerate(rows) if None not in row]


@pytest.mark.parametrize("seed", range(4))
def test_the_rows_left_are_those_that_local_suppression_does_not_touch(seed):
    table, keys = drawn(60, seed), ["c0", "c1", "c2"]
    assert suppressed(table, keys, 3)["row"].to_list() == untouched(table, keys, 3)


def test_each_combination_left_has_k_rows_and_no_such_row_is_left_out():
    table, keys = drawn(300, 5), ["c0", "c1"]
    combinations = list(table.select(keys).iter_rows())
    expected = [at for at, each in enumerate(combinations) if combinations.count(each) >= 20]
    assert 0 < len(expected) < 300
    assert suppressed(table, keys, 20)["row"].to_list() == expected
