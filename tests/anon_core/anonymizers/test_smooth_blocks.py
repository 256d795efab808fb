"""Smooth anonymity in blocks: its rule, and the same bytes on a farm.

A real cluster is in engines/test_farm_smooth.
"""

import dataclasses
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers import Smooth
from anon_core.anonymizers.smooth import farmed, neighbours
from anon_core.anonymizers.smooth.blocks import cut_into_blocks
from anon_core.anonymizers.smooth.counts_kernels import ItemRows
from anon_core.engines import farm as dask
from anon_core.engines import local
from anon_core.errors import InputError, LimitError
from anon_core.matrices.records import SparseMatrix
from tests import naive
from tests.observers import Seen
from tests.strategies import sparse_matrices
from tests.support.farms import LastFirst
from tests.support.large import traced
from tests.support.matrices import content, crowded, sets, shuffled

MAKER = Smooth(block=100)


@pytest.fixture(scope="module")
def matrix():
    """Seven blocks; some records demand more than others."""
    k = np.random.default_rng(1).choice([1, 3, 4, 30], 700, p=[0.2, 0.4, 0.39, 0.01])
    return dataclasses.replace(crowded(700, 50), k=k.astype(np.int32))


@given(
    sparse_matrices(),
    st.integers(1, 14),
    st.sampled_from([{}, {"annealing": 2}, {"sweeps": 0}]),
    st.randoms(use_true_random=False),
)
def test_groups_are_large_enough_and_rows_follow_the_rule(matrix, block, others, random):
    order = np.array(random.sample(range(matrix.records), matrix.records))
    made = Smooth(block=block, **others).anonymize(matrix, tie_order=order)
    size = np.bincount(made.group, minlength=len(made.indptr) - 1)
    assert (size > 0).all()
    assert (size[made.group] >= matrix.k).all()
    released = sets(made.indptr, made.indices)
    expected = naive.smooth_rows(sets(matrix.indptr, matrix.indices), made.group.tolist())
    assert [released[g] for g in made.group] == expected


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 30)), min_size=1, max_size=30),
    st.integers(1, 40),
)
def test_each_block_has_what_its_records_demand_and_none_is_needlessly_large(groups, length):
    size, need = np.array(groups).T
    need = np.minimum(need, size.sum())
    block = cut_into_blocks(size, need, length)
    assert (np.diff(block, prepend=0) >= 0).all()  # a block is a stretch of the sequence
    assert (np.diff(block, prepend=0) <= 1).all()
    records = np.bincount(block, weights=size)
    assert (records[block] >= need).all()
    if need.max() == 1:
        assert (records < length + size.max()).all()


def test_further_passes_bring_together_what_the_first_cut_apart():
    matrix = crowded(600, 60)
    whole = Smooth().anonymize(matrix).steps[-1].figures["jaccard"]
    steps = Smooth(block=60).anonymize(matrix).steps
    first, second, third = (step.figures["jaccard"] for step in steps)
    assert first < second < third
    assert third > 0.95 * whole


@pytest.mark.long
@pytest.mark.parametrize("block", [1, 100, 300, 5000])
def test_a_farm_makes_the_bytes_of_one_process(matrix, block):
    maker, farm, seen = Smooth(block=block, annealing=1), LastFirst(), Seen()
    order = shuffled(matrix.records)
    made = farmed.anonymize(maker, matrix, farm, tie_order=order, observer=seen)
    assert content(made) == content(local.run(maker, matrix, tie_order=order))
    assert max(seen.records) == matrix.records
    assert len(seen.states) == seen.expected[0] == (1 if block == 5000 else 3)
    for state in seen.states:
        again = farmed.anonymize(maker, matrix, farm, tie_order=order, resume=state)
        assert content(again) == content(made)


@pytest.mark.parametrize("most", [100, 5000])
def test_stretches_of_a_search_find_what_one_process_finds(matrix, most, monkeypatch):
    """Records that hash alike, or all."""
    monkeypatch.setattr(neighbours, "MOST_COMPARED", most)
    rows, farm = ItemRows(matrix.indptr, matrix.indices, matrix.k), LastFirst()
    each = partial(farmed.run_on_farm, farm=farm)
    whole = neighbours.list_neighbours(rows, matrix.items)
    assert (whole >= 0).sum(axis=1).min() > 5
    for length in (1, 90, 699, 900):
        before = len(farm.sent)
        assert (neighbours.list_neighbours(rows, matrix.items, each, length) == whole).all()
        stretches = -(-700 // max(length, 6))  # 128 at most
        assert len(farm.sent) - before == stretches * (2 if most == 100 else 1)


def test_what_travels_shows_nothing(matrix):
    """Dask writes what a task was given into its log when the task fails."""
    farm = LastFirst()
    farmed.anonymize(MAKER, matrix, farm)
    room, kinds = "<anon_core.anonymizers.smooth.", set()
    for travelling in map(pickle.loads, farm.sent):
        kinds.add(
            tuple(repr(each).removeprefix(room).partition(" object at")[0] for each in travelling)
        )
    assert kinds == {
        ("neighbours._Search", "neighbours.Stretch"),
        ("blocks._Ground", "blocks._Block"),
    }


@pytest.mark.long
def test_stated_memory_is_an_upper_bound():
    maker, small = Smooth(block=300), crowded(100, 20)
    maker.anonymize(small)  # compiles
    matrix = crowded(3000, 60)
    _, peak = traced(lambda: maker.anonymize(matrix))
    assert peak <= maker.memory(matrix)
    _, peak = traced(lambda: farmed.anonymize(maker, matrix, LastFirst()))
    assert peak <= farmed.memory(maker, matrix, workers=0)


def test_a_matrix_without_records_has_no_groups():
    none = np.zeros(0, dtype=np.int32)
    made = MAKER.anonymize(SparseMatrix(np.zeros(1, dtype=np.int64), none, 5, none))
    assert (len(made.group), len(made.indptr), len(made.indices)) == (0, 1, 0)


def test_all_records_at_once_run_here_only(matrix):
    assert set(Smooth().engines) == {"local"}
    with pytest.raises(LimitError, match="does not run on engine 'dask', only on 'local'"):
        dask.run(Smooth(), matrix)
    for settings in ({"block": -1}, {"block": 5, "method": "alg2"}):
        with pytest.raises(InputError, match="block must be 0, or a number of records"):
            Smooth(**settings)
