"""Smooth anonymity against its definition, on drawn matrices and on real ones."""

import dataclasses
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers import Smooth
from anon_core.anonymizers.smooth.counts_kernels import ItemRows
from anon_core.anonymizers.smooth.facility_kernels import close_small
from anon_core.anonymizers.smooth.state import open_groups
from anon_core.anonymizers.smooth.state_kernels import enter_group, leave_group, widen_group
from anon_core.engines import local
from anon_core.errors import InfeasibleError, InputError, LimitError
from anon_core.matrices.records import SparseMatrix
from anon_core.steps import State
from tests import naive
from tests.observers import Seen
from tests.strategies import sparse_matrices
from tests.support.large import traced
from tests.support.matrices import crowded, sets, shuffled

MAKERS = [
    Smooth(),
    Smooth(annealing=5),
    Smooth(sweeps=0),
    Smooth(method="alg2"),
    Smooth(method="alg2", merge="arbitrary", a=0.125),
    Smooth(method="alg1"),
]
MAKER = st.sampled_from(MAKERS)


@given(sparse_matrices(), MAKER, st.randoms(use_true_random=False))
def test_groups_are_large_enough_and_rows_follow_the_rule(matrix, maker, random):
    order = np.array(random.sample(range(matrix.records), matrix.records))
    made = maker.anonymize(matrix, tie_order=order)
    size = np.bincount(made.group, minlength=len(made.indptr) - 1)
    assert (size > 0).all()
    assert (size[made.group] >= matrix.k).all()
    held = sets(matrix.indptr, matrix.indices)
    released = sets(made.indptr, made.indices)
    expected = naive.smooth_rows(held, made.group.tolist())
    assert [released[g] for g in made.group] == expected
    assert all((np.diff(made.indices[a:b]) > 0).all() for a, b in itertools.pairwise(made.indptr))
    figures = made.steps[-1].figures
    assert figures["jaccard"] == pytest.approx(naive.jaccard(held, expected)[0])
    kept = sum(len(a & b) for a, b in zip(held, expected, strict=True))
    made_up = sum(len(b - a) for a, b in zip(held, expected, strict=True))
    entries = max(1, matrix.entries)
    assert figures["suppressed"] == pytest.approx((matrix.entries - kept) / entries)
    assert figures["created"] == pytest.approx(made_up / entries)


@given(sparse_matrices())
def test_sweeps_never_lower_the_similarity(matrix):
    made = Smooth(sweeps=20).anonymize(matrix)
    similarity = [step.figures["jaccard"] for step in made.steps]
    assert similarity == sorted(similarity)
    for earlier, later in itertools.pairwise(made.steps[1:]):
        assert earlier.figures["moves"] > 0
        if later.figures["moves"]:
            assert later.figures["jaccard"] > earlier.figures["jaccard"]


@given(sparse_matrices(most_records=8, most_items=5))
def test_no_move_or_swap_is_left_where_sweeps_end(matrix):
    """Every record's neighbours are all others here, so that every move and swap was looked at."""
    made = Smooth(sweeps=100).anonymize(matrix)
    held, group = sets(matrix.indptr, matrix.indices), made.group.tolist()
    best = naive.jaccard(held, naive.smooth_rows(held, group))[0]

    def better(other):
        sizes = [other.count(g) for g in other]
        if all(size >= k for size, k in zip(sizes, matrix.k, strict=True)):
            assert naive.jaccard(held, naive.smooth_rows(held, other))[0] <= best + 1e-12

    for v, w in itertools.combinations(range(matrix.records), 2):
        swapped = group.copy()
        swapped[v], swapped[w] = group[w], group[v]
        better(swapped)
    for v, g in itertools.product(range(matrix.records), set(group)):
        better([g if u == v else other for u, other in enumerate(group)])


def partitions(n, least):
    """All groups of at least `least` of n records, as one number each."""

    def grow(group, groups):
        if len(group) == n:
            if all(group.count(g) >= least for g in range(groups)):
                yield group
            return
        for g in range(groups + 1):
            yield from grow([*group, g], max(groups, g + 1))

    yield from grow([], 0)


def test_it_comes_near_the_best_partition():
    """Brute force over all partitions of eight records into groups of at least three."""
    reached, best = 0.0, 0.0
    for seed in range(12):
        matrix = crowded(8, 10, seed, k=3)
        held = sets(matrix.indptr, matrix.indices)
        all_groups = partitions(8, 3)
        most = max(naive.jaccard(held, naive.smooth_rows(held, g))[0] for g in all_groups)
        found = Smooth().anonymize(matrix).steps[-1].figures["jaccard"]
        assert found <= most + 1e-12
        reached, best = reached + found, best + most
    assert reached >= 0.93 * best


@given(sparse_matrices(), MAKER)
def test_it_goes_on_from_every_checkpoint(matrix, maker):
    seen, order = Seen(), shuffled(matrix.records)
    whole = maker.anonymize(matrix, tie_order=order, observer=seen)
    assert len(seen.states) == len(whole.steps) <= seen.expected[0]
    for state in seen.states:
        again = maker.anonymize(matrix, tie_order=order, resume=state)
        assert again.steps == whole.steps
        assert (again.group == whole.group).all()


def test_records_that_hash_alike_are_found(monkeypatch):
    """The path of many records, on few: nearly as good as comparing all."""
    matrix = crowded(600, 60)
    exact = Smooth().anonymize(matrix).steps[-1].figures["jaccard"]
    monkeypatch.setattr("anon_core.anonymizers.smooth.neighbours.MOST_COMPARED", 100)
    hashed = Smooth().anonymize(matrix)
    assert (np.bincount(hashed.group) >= 4).all()
    assert hashed.steps[-1].figures["jaccard"] > 0.95 * exact


def test_a_group_has_as_many_records_as_its_most_demanding_member():
    matrix = crowded(300, 40)
    k = np.random.default_rng(1).choice([1, 3, 5, 40], 300).astype(np.int32)
    made = Smooth().anonymize(dataclasses.replace(matrix, k=k))
    assert (np.bincount(made.group)[made.group] >= k).all()
    alone = np.ones(300, dtype=np.int32)
    assert Smooth().anonymize(dataclasses.replace(matrix, k=alone)).steps[-1].figures[
        "jaccard"
    ] == pytest.approx(1)


def test_annealing_puts_no_record_into_a_group_below_its_k():
    """Equal records: every swap is as good as none, and many are made."""
    k = np.where(np.arange(60) % 10, 2, 9).astype(np.int32)
    indptr = np.arange(61, dtype=np.int64)
    matrix = SparseMatrix(indptr, np.zeros(60, dtype=np.int32), 1, k)
    made = Smooth(annealing=10, sweeps=0).anonymize(matrix)
    assert sum(step.figures["moves"] for step in made.steps[1:]) > 60
    assert len(set(np.bincount(made.group).tolist())) > 1
    assert (np.bincount(made.group)[made.group] >= k).all()


THREADS = """
from anon_core.engines import local
from anon_core.anonymizers import Smooth
from tests.anon_core.anonymizers.test_smooth import MAKERS
from tests.support.matrices import content, crowded, shuffled
for maker in [*MAKERS, Smooth(block=150, annealing=2)]:
    order = shuffled(700)
    made = [local.run(maker, crowded(700, 50), tie_order=order, threads=t) for t in (1, 2, 4)]
    print(len({content(one) for one in made}))
"""


@pytest.mark.slow
def test_one_two_and_four_threads_make_the_same_bytes():
    """In a process of its own: numba reads the number of threads when it starts."""
    environment = {**os.environ, "NUMBA_NUM_THREADS": "4"}
    command = [sys.executable, "-c", THREADS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1"] * (len(MAKERS) + 1)


@pytest.mark.slow
@pytest.mark.parametrize("maker", MAKERS)
def test_stated_memory_is_an_upper_bound(maker):
    maker.anonymize(crowded(100, 20))  # compiles
    for items, k in ((20, 3), (400, 12)):
        matrix = crowded(2000, items, k=k)
        _, peak = traced(lambda matrix=matrix: maker.anonymize(matrix))
        assert peak <= maker.memory(matrix) <= 12 * peak
        with pytest.raises(LimitError, match=r"2000 records need .* [KM]iB"):
            local.run(maker, matrix, memory=peak // 2)


def test_a_matrix_without_records_has_no_groups():
    none = np.zeros(0, dtype=np.int32)
    nothing = SparseMatrix(np.zeros(1, dtype=np.int64), none, 5, none)
    for maker in MAKERS[:3]:
        made = maker.anonymize(nothing)
        assert (len(made.group), len(made.indptr), len(made.indices)) == (0, 1, 0)


def test_a_group_that_holds_most_items_has_room_for_every_record():
    """Records of very different lengths join one group: nothing is written beyond the pool."""
    held = [
        range(300),
        *([300 + v] if v % 3 else range(400 + 20 * v, 420 + 20 * v) for v in range(60)),
    ]
    indptr = np.cumsum([0, *map(len, held)]).astype(np.int64)
    indices = np.concatenate([np.array(items, dtype=np.int32) for items in held])
    rows = ItemRows(indptr, indices, np.full(len(held), 2, dtype=np.int32))
    groups = open_groups(rows, 2000, (np.arange(len(held)) // 2).astype(np.int32))
    first = np.int32(0)  # as kernels call them: numba compiles each type apart
    for v in range(2, len(held)):
        leave_group(rows, groups, v)
        widen_group(groups, first, indptr[v + 1] - indptr[v])
        assert (groups.start + groups.room).max() <= groups.used[0] <= len(groups.item)
        enter_group(rows, groups, v, first)
    there = slice(groups.start[0], groups.start[0] + groups.length[0])
    assert (groups.item[there] == np.unique(indices)).all()
    assert (groups.held[there] == 1).all()


def test_numbers_beyond_64_bits_are_refused():
    n = 40_000
    indptr = np.arange(n + 1, dtype=np.int64)
    k = np.full(n, n, dtype=np.int32)
    with pytest.raises(LimitError, match=r"k = 40000 and a record of 1 items .* lower k"):
        Smooth().admit(SparseMatrix(indptr, np.zeros(n, dtype=np.int32), 1, k))


def test_methods_that_compare_all_pairs_refuse_large_matrices():
    matrix = crowded(2001, 5)
    with pytest.raises(LimitError, match="at most 2000 records, not 2001; choose 'matching'"):
        Smooth(method="alg1").admit(matrix)
    Smooth(method="alg2").admit(matrix)


@given(sparse_matrices(most_records=10))
def test_r_median_takes_no_longer_way_than_facility_location(matrix):
    """Distances to the best centre of each group, found by trying all of them."""
    matrix = dataclasses.replace(matrix, k=np.full_like(matrix.k, matrix.k.max()))
    held = sets(matrix.indptr, matrix.indices)

    def way(made):
        groups = [np.flatnonzero(made.group == g) for g in range(made.group.max() + 1)]
        return sum(min(sum(len(held[v] ^ held[c]) for v in g) for c in g) for g in groups)

    longer = Smooth(method="alg2").anonymize(matrix)
    assert way(Smooth(method="alg1").anonymize(matrix)) <= way(longer)


def test_what_cannot_be_is_refused():
    matrix = crowded(20, 5)
    with pytest.raises(InfeasibleError, match="20 records demand more than 20 rows"):
        Smooth().anonymize(dataclasses.replace(matrix, k=np.full(20, 21, dtype=np.int32)))
    words = {"method": "none", "merge": "none"}
    for name, value in {**words, "sweeps": -1, "annealing": -1, "a": 0.6}.items():
        with pytest.raises(InputError, match=name):
            Smooth(**{name: value})
    seen = Seen()
    Smooth().anonymize(matrix, observer=seen)
    steps, group = seen.states[0].steps, seen.states[0].arrays["group"]
    for arrays in ({}, {"group": group[1:]}, {"group": np.arange(20, dtype=np.int32)}):
        with pytest.raises(InputError, match="checkpoint"):
            Smooth().anonymize(matrix, resume=State(arrays, steps))


def test_small_facilities_close_together():
    """Closed one by one, the record at 10 would keep the facility at 16 open."""
    place = np.array([0, 0, 0, 10, 16, 16])
    indptr = np.concatenate([[0], np.cumsum(place)]).astype(np.int64)
    indices = np.concatenate([np.arange(each) for each in place]).astype(np.int32)
    rows = ItemRows(indptr, indices, np.full(6, 4, dtype=np.int32))
    group = np.array([0, 0, 0, 1, 2, 2], dtype=np.int32)
    for share, left in ((0.75, 0), (1.0, 0)):
        closed = group.copy()
        close_small(closed, int(share * 2**16), np.array([0, 3, 4]), 16, rows)
        assert closed.tolist() == [left] * 6
