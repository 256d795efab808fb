"""The fast anonymizer against the literal algorithms on the complete graph."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive
from anon_core.errors import InputError
from anon_core.search.dissimilarity import Dissimilarity, integer_weights
from anon_core.specs.columns import ColumnSpec
from anon_core.steps import State, Step
from anon_core.tables import encoding
from anon_core.tables.cells import write_cells
from tests import naive
from tests.observers import Seen
from tests.strategies import EPSILONS, bit_matrices, tables
from tests.support.masked import (
    PAPER,
    blanks,
    features,
    goes_on_anywhere,
    kept,
    made,
    unpack,
    utilities_of,
)


def relative(table, weights):
    return np.repeat(
        [
            a.weight / (max(1, a.levels - 1) if weights == "columns" else 1)
            for a in table.codebook.attributes
        ],
        [a.bits for a in table.codebook.attributes],
    )


def pairs_of(ends):
    return set(zip(*ends.tolist(), strict=True))


@given(bit_matrices(), EPSILONS, st.integers(1, 4), st.randoms(use_true_random=False))
def test_same_cover_as_literal_algorithm(data, epsilon, iterations, random):
    x, k = data
    table = encoding.from_bits(x, k)
    order = np.array(random.sample(range(len(x)), len(x)))
    base, _ = integer_weights(np.ones(x.shape[1]), np.zeros(x.shape[1]), table.codebook)
    covers = list(naive.adaptive(x[order], k[order], epsilon, base, iterations))
    utilities = [1 - stars.mean() for _, stars in covers]
    best = int(np.argmax(utilities))
    maker = Adaptive(
        **PAPER, epsilon=epsilon, weights="bits", max_iterations=iterations, patience=99
    )
    masked, ends = made(maker, table, tie_order=order)
    assert utilities_of(masked) == pytest.approx(utilities[: len(masked.steps)])
    assert masked.result_step == best + 1
    pairs = {(min(order[u], order[v]), max(order[u], order[v])) for u, v in covers[best][0]}
    assert pairs_of(ends) == pairs
    stars = np.empty_like(covers[best][1])
    stars[order] = covers[best][1]
    assert (unpack(masked.hidden, x.shape[1]) == stars).all()


@pytest.mark.long
@given(bit_matrices(most_records=40, most_features=9), EPSILONS)
def test_same_cover_as_literal_algorithm_on_forty_records(data, epsilon):
    x, k = data
    table = encoding.from_bits(x, k)
    base, _ = integer_weights(np.ones(x.shape[1]), np.zeros(x.shape[1]), table.codebook)
    (cover, stars), *_ = naive.adaptive(x, k, epsilon, base, 1)
    maker = Adaptive(**PAPER, epsilon=epsilon, weights="bits", max_iterations=1)
    masked, ends = made(maker, table)
    assert pairs_of(ends) == cover
    assert (unpack(masked.hidden, x.shape[1]) == stars).all()


@given(
    tables(),
    EPSILONS,
    st.sampled_from(["bits", "cells", "columns"]),
    st.sampled_from(["falling", "fixed"]),
    st.booleans(),
)
def test_every_encoding_hides_everyone(table, epsilon, weights, schedule, reclaim):
    maker = Adaptive(
        schedule=schedule, reclaim=reclaim, epsilon=epsilon, weights=weights, max_iterations=4
    )
    masked, (u, v) = made(maker, table)
    x = features(table)
    stars = unpack(masked.hidden, table.codebook.features)
    assert (stars | ~blanks(table)).all()
    fit = naive.compatible(x, x, stars)
    assert (fit.sum(axis=1) >= table.k).all()
    assert (naive.matchable(fit).sum(axis=1) >= table.k).all()
    assert reclaim or (fit[u, v] & fit[v, u]).all()
    assert (np.bincount(np.concatenate([u, v]), minlength=len(x)) >= table.k - 1).all()


@given(tables(trees=False), EPSILONS, st.sampled_from(["bits", "columns"]))
def test_same_first_cover_for_encoded_columns(table, epsilon, weights):
    base, _ = integer_weights(relative(table, weights), np.zeros(len(table.codes)), table.codebook)
    x = features(table)
    if table.blank.any():
        table = replace(table, blank=np.zeros_like(table.blank))
    covers = list(naive.adaptive(x.astype(int), table.k.tolist(), epsilon, base, 3))
    for count in (1, 2, 3):
        masked = Adaptive(
            **PAPER, epsilon=epsilon, weights=weights, max_iterations=count, patience=9
        ).anonymize(table)
        best = int(np.argmax(utilities_of(masked, "weighted_utility")))
        assert (unpack(masked.hidden, x.shape[1]) == covers[best][1]).all()


@given(tables(), st.data())
def test_costs_of_levels_are_sums_of_bits_and_cells(table, data):
    book = table.codebook
    weights = np.arange(1, book.features + 1, dtype=np.int32) * data.draw(
        st.sampled_from([10, 10000])
    )
    cells = np.arange(len(book.attributes), dtype=np.int32) * 1000
    graph = Dissimilarity.of(table, weights, 2.0, cells)
    partners = data.draw(st.lists(st.tuples(*[st.integers(0, table.records - 1)] * 2), max_size=30))
    x = features(table)
    counts = np.zeros((book.features, table.records), dtype=np.uint16)
    differing = np.zeros((len(book.attributes), table.records), dtype=int)
    for i, j in partners:
        counts[:, i] += x[i] != x[j]
        differing[:, i] += table.codes[:, i] != table.codes[:, j]
    coarse, fine, shift = graph.costs(np.take(counts, graph.layout, axis=1))
    costs = coarse.astype(int) << shift
    if shift:
        costs += fine
    costs = costs.transpose(0, 2, 1).reshape(-1, book.level_offsets[-1])[graph.place]
    for i in range(table.records):
        for j in range(table.records):
            bits = np.round(weights * (2 / 3) ** counts[:, i].astype(int))[
                (x[i] != x[j]) & ~blanks(table)[i]
            ].sum()
            other = (table.codes[:, i] != table.codes[:, j]) & ~table.blank[:, i]
            whole = bits + np.round(cells * (2 / 3) ** differing[:, i])[other].sum()
            assert costs[i, table.codes[:, j] + book.level_offsets[:-1]].sum() == whole


THREADS = """
import hashlib, numba, numpy as np
from anon_core.tables import encoding
from anon_core.anonymizers import Adaptive
from anon_core.engines import local
rng = np.random.default_rng(3)
table = encoding.from_bits(rng.integers(0, 2, (3000, 70)), rng.integers(1, 30, 3000))
for threads in (1, 2, 4):
    masked = local.run(Adaptive(weights="bits", max_iterations=3), table, threads=threads)
    print(hashlib.sha256(masked.hidden.tobytes()).hexdigest(), masked.steps, masked.result_step)
"""


@pytest.mark.long
def test_one_two_and_four_threads_give_the_same_bytes():
    """In a process of its own: how many threads numba may have is settled when it starts."""
    environment = {**os.environ, "NUMBA_NUM_THREADS": "4"}
    done = subprocess.run(
        [sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert len(set(lines)) == 1


@pytest.mark.parametrize(
    ("n", "f", "k"),
    [(2, 1, 2), (2, 64, 1), (3, 65, 3), (65, 1, 65), (64, 64, 2), (130, 3, 1), (129, 128, 128)],
)
def test_shapes(n, f, k):
    x = np.random.default_rng(n + f).integers(0, 2, (n, f))
    for matrix in (x, np.zeros_like(x), np.tile(x[:1], (n, 1))):
        table = encoding.from_bits(matrix, np.full(n, k))
        masked, ends = made(Adaptive(weights="bits", max_iterations=2), table)
        degree = np.bincount(ends.reshape(-1), minlength=n)
        assert (degree >= k - 1).all()
        stars = unpack(masked.hidden, f)
        fit = naive.compatible(matrix, matrix, stars)
        assert (fit.sum(axis=1) >= k).all()


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e15, 1e17, 1e308])
def test_an_epsilon_past_all_digits_decides_as_a_small_or_a_great_one(epsilon):
    rng = np.random.default_rng(3)
    table = encoding.from_bits(rng.integers(0, 2, (40, 9)), np.full(40, 4))
    usual = 1e-5 if epsilon < 1 else 1e9
    assert kept(Adaptive(**PAPER, epsilon=epsilon).anonymize(table)) == kept(
        Adaptive(**PAPER, epsilon=usual).anonymize(table)
    )


@pytest.mark.parametrize("weights", ["columns", "cells", "bits"])
@pytest.mark.parametrize(
    ("extreme", "usual"),
    [
        ((5e-324, 5e-324), (1, 1)),
        ((1e308, 1e308), (1, 1)),
        ((1e-310, 3e-310), (1, 3)),
        ((1e308, 1), (1e30, 1)),
        ((5e-324, 1), (1e-30, 1)),
        ((1e308, 5e-324), (1e30, 1)),
    ],
)
def test_column_weights_at_the_ends_of_float64_count_by_their_ratio(extreme, usual, weights):
    values = np.random.default_rng(5).integers(0, 5, (2, 30)).astype(float)

    def masked(own):
        specs = [
            ColumnSpec(name=f"c{a}", kind="numeric", weight=weight) for a, weight in enumerate(own)
        ]
        columns = {spec.name: column for spec, column in zip(specs, values, strict=True)}
        return Adaptive(weights=weights).anonymize(
            encoding.encode(encoding.fit(specs, columns), columns, np.full(30, 4))
        )

    assert kept(masked(extreme)) == kept(masked(usual))


def test_figure_three_as_printed():
    """Khan et al., Fig. 3: six users, k = 2: groups (1,2) (3,4) (5,6), ten stars, utility 26/36."""
    x = np.array(
        [
            [1, 0, 1, 0, 1, 0],
            [1, 1, 1, 1, 1, 0],
            [0, 1, 0, 1, 0, 1],
            [0, 0, 0, 0, 0, 1],
            [1, 1, 0, 0, 0, 0],
            [1, 1, 0, 0, 0, 1],
        ]
    )
    printed = ["1*1*10", "1*1*10", "0*0*01", "0*0*01", "11000*", "11000*"]
    distances = {
        (0, 1): 2, (0, 2): 6, (0, 3): 4, (0, 4): 3, (0, 5): 4, (1, 2): 4, (1, 3): 6, (1, 4): 3,
        (1, 5): 4, (2, 3): 2, (2, 4): 4, (2, 5): 2, (3, 4): 3, (3, 5): 2, (4, 5): 1,
    }  # fmt: skip
    distances[2, 4] = 3  # printed as 4: U3 and U5 differ in f1, f4 and f6 only
    assert naive.edge_weights(x, np.full(x.shape, 0.5)) == distances
    table = encoding.from_bits(x, np.full(6, 2))
    masked, ends = made(Adaptive(**PAPER, weights="bits", max_iterations=1), table)
    assert ends.T.tolist() == [[4, 5], [0, 1], [2, 3]]
    cells = write_cells(table, masked.hidden)
    assert ["".join(row) for row in zip(*cells.values(), strict=True)] == printed
    assert utilities_of(masked) == [pytest.approx(26 / 36)]


@given(bit_matrices())
def test_lemma_stars_between_distance_and_its_k_th_part(data):
    """Lemma III.1 of Khan et al. on the first cover: s <= h <= k s, k its largest crowd."""
    x, k = data
    maker = Adaptive(**PAPER, weights="bits", max_iterations=1)
    masked, (u, v) = made(maker, encoding.from_bits(x, k))
    h = 2 * int((x[u] != x[v]).sum())
    s = int(unpack(masked.hidden, x.shape[1]).sum())
    degree = (np.bincount(u, minlength=len(x)) + np.bincount(v, minlength=len(x))).max()
    assert s <= h <= max(1, degree) * s or h == s == 0


# ---------------------------------------------------------------- stopped and gone on


@given(tables(), EPSILONS, st.integers(1, 5), st.integers(1, 3), st.randoms(use_true_random=False))
def test_a_run_goes_on_from_any_iteration(table, epsilon, iterations, patience, random):
    order = np.array(random.sample(range(table.records), table.records))
    goes_on_anywhere(
        Adaptive(epsilon=epsilon, max_iterations=iterations, patience=patience), table, order
    )


@pytest.mark.parametrize("iterations", [9, 20])
def test_a_run_that_gets_worse_goes_on_from_any_iteration(iterations):
    rng = np.random.default_rng(8)
    table = encoding.from_bits(rng.integers(0, 2, (200, 20)), rng.integers(1, 20, 200))
    states = goes_on_anywhere(
        Adaptive(**PAPER, epsilon=5, max_iterations=iterations), table, rng.permutation(200)
    )
    assert {each.arrays["best"] is each.arrays["latest"] for each in states} == {True, False}


def test_a_run_without_edges_ends_and_goes_on():
    assert (
        len(
            goes_on_anywhere(
                Adaptive(), encoding.from_bits(np.eye(3, dtype=int), np.ones(3, dtype=int))
            )
        )
        == 1
    )


def spoilt(state, **arrays):
    return State({**state.arrays, **arrays}, state.steps)


def ends_of(pairs):
    return np.array(pairs, dtype=np.int32).reshape(-1, 2).T


def moved(ends, u=0, v=0):
    return ends + np.array([[u], [v]], dtype=np.int32)


def without(state, name):
    arrays = {other: array for other, array in state.arrays.items() if other != name}
    return State(arrays, state.steps)


EVERY_PAIR = [(u, v) for u in range(40) for v in range(u + 1, 40)]
SPOILT = {
    "no iteration": lambda s: State(s.arrays, ()),
    "an iteration is missing": lambda s: State(s.arrays, s.steps[1:]),
    "a figure is missing": lambda s: State(s.arrays, (*s.steps[:-1], Step(s.steps[-1].number, {}))),
    "an array is missing": lambda s: without(s, "best"),
    "another dtype": lambda s: spoilt(s, latest=s.arrays["latest"].astype(np.int64)),
    "another shape": lambda s: spoilt(s, latest=s.arrays["latest"].reshape(-1)),
    "a vertex out of range": lambda s: spoilt(s, latest=moved(s.arrays["latest"], v=40)),
    "a negative vertex": lambda s: spoilt(s, best=moved(s.arrays["best"], u=-40)),
    "a loop": lambda s: spoilt(s, latest=s.arrays["latest"][[0, 0]]),
    "one pair again and again": lambda s: spoilt(
        s, latest=ends_of([(0, 1)] * s.arrays["latest"].shape[1])
    ),
    "an edge too few": lambda s: spoilt(s, best=s.arrays["best"][:, 1:]),
    "no edge": lambda s: spoilt(s, latest=ends_of([])),
    "another cover": lambda s: spoilt(s, best=ends_of(EVERY_PAIR)),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT.keys())
def test_a_checkpoint_that_does_not_fit_is_refused(spoil):
    rng = np.random.default_rng(1)
    table = encoding.from_bits(rng.integers(0, 2, (40, 12)), rng.integers(1, 9, 40))
    maker, seen = Adaptive(), Seen()
    maker.anonymize(table, observer=seen)
    with pytest.raises(InputError, match="checkpoint"):
        maker.anonymize(table, resume=spoil(seen.states[2]))


def test_a_cover_that_is_too_thin_is_refused():
    rng = np.random.default_rng(1)
    x, seen = rng.integers(0, 2, (40, 12)), Seen()
    Adaptive().anonymize(encoding.from_bits(x, np.full(40, 4)), observer=seen)
    with pytest.raises(InputError, match="no cover of this table"):
        Adaptive().anonymize(encoding.from_bits(x, np.full(40, 12)), resume=seen.states[0])


def test_a_checkpoint_past_the_end_is_refused():
    rng = np.random.default_rng(1)
    table, seen = encoding.from_bits(rng.integers(0, 2, (40, 12)), np.full(40, 4)), Seen()
    Adaptive(patience=99, schedule="fixed").anonymize(table, observer=seen)
    with pytest.raises(InputError, match="goes on where these settings stop"):
        Adaptive(max_iterations=9, schedule="fixed").anonymize(table, resume=seen.states[-1])


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": float("nan")},
        {"weights": "rows"},
        {"schedule": "up"},
        {"patience": 0},
    ],
)
def test_settings_are_checked_at_birth(wrong):
    with pytest.raises(InputError):
        Adaptive(**wrong)
