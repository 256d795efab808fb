"""The fast anonymizer against the literal algorithms on the complete graph."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core import encoding
from anon_core.anonymizers import Adaptive
from anon_core.errors import InputError
from anon_core.graphs.dissimilarity import Dissimilarity, bit_weights
from tests import naive
from tests.strategies import EPSILONS, bit_matrices, tables

PAPER = {"schedule": "fixed", "reclaim": False}  # Algorithm 1 as printed


def features(table):
    """bool (n, f) of packed bits."""
    return unpack(table.bits, table.codebook.features)


def unpack(words, f):
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :f].astype(bool)


def relative(table, weights):
    return np.repeat(
        [a.weight / (max(1, a.levels - 1) if weights == "columns" else 1) for a in table.codebook.attributes],
        [a.bits for a in table.codebook.attributes],
    )


def blanks(table):
    return np.repeat(table.blank.T, [a.bits for a in table.codebook.attributes], axis=1)


@settings(max_examples=150, deadline=None)
@given(bit_matrices(), EPSILONS, st.integers(1, 4), st.randoms(use_true_random=False))
def test_same_cover_as_literal_algorithm(data, epsilon, iterations, random):
    x, k = data
    table = encoding.from_bits(x, k)
    order = np.array(random.sample(range(len(x)), len(x)))
    base = np.full(x.shape[1], 2**12)
    covers = list(naive.adaptive(x[order], k[order], epsilon, base, iterations))
    utilities = [1 - stars.mean() for _, stars in covers]
    best = int(np.argmax(utilities))
    masked = Adaptive(**PAPER, epsilon=epsilon, weights="bits", max_iterations=iterations, patience=99).anonymize(
        table, order=order
    )
    assert [i.utility for i in masked.iterations] == pytest.approx(utilities[: len(masked.iterations)])
    pairs = {(min(order[u], order[v]), max(order[u], order[v])) for u, v in covers[best][0]}
    assert set(zip(masked.cover.u.tolist(), masked.cover.v.tolist(), strict=True)) == pairs
    stars = np.empty_like(covers[best][1])
    stars[order] = covers[best][1]
    assert (unpack(masked.hidden, x.shape[1]) == stars).all()


@settings(max_examples=20, deadline=None)
@given(bit_matrices(most_records=40, most_features=9), EPSILONS)
def test_same_cover_as_literal_algorithm_on_forty_records(data, epsilon):
    x, k = data
    (cover, stars), *_ = naive.adaptive(x, k, epsilon, np.full(x.shape[1], 2**12), 1)
    masked = Adaptive(**PAPER, epsilon=epsilon, weights="bits", max_iterations=1).anonymize(encoding.from_bits(x, k))
    assert set(zip(masked.cover.u.tolist(), masked.cover.v.tolist(), strict=True)) == cover
    assert (unpack(masked.hidden, x.shape[1]) == stars).all()


@settings(max_examples=100, deadline=None)
@given(tables(), EPSILONS, st.sampled_from(["bits", "cells", "columns"]), st.sampled_from(["falling", "fixed"]), st.booleans())
def test_every_encoding_hides_everyone(table, epsilon, weights, schedule, reclaim):
    masked = Adaptive(schedule=schedule, reclaim=reclaim, epsilon=epsilon, weights=weights, max_iterations=4).anonymize(table)
    x = features(table)
    stars = unpack(masked.hidden, table.codebook.features)
    assert (stars | ~blanks(table)).all()
    fit = naive.compatible(x, x, stars)
    assert (fit.sum(axis=1) >= table.k).all()
    assert (naive.matchable(fit).sum(axis=1) >= table.k).all()
    u, v = masked.cover.u, masked.cover.v
    assert (fit[u, v] & fit[v, u]).all()
    assert (np.bincount(np.concatenate([u, v]), minlength=len(x)) >= table.k - 1).all()


@settings(max_examples=60, deadline=None)
@given(tables(), EPSILONS, st.sampled_from(["bits", "columns"]))
def test_same_first_cover_for_encoded_columns(table, epsilon, weights):
    base = bit_weights(relative(table, weights))
    x = features(table)
    if table.blank.any():
        table = type(table)(table.codebook, table.codes, table.bits, table.k, np.zeros_like(table.blank))
    covers = list(naive.adaptive(x.astype(int), table.k.tolist(), epsilon, base, 3))
    for count in (1, 2, 3):
        masked = Adaptive(**PAPER, epsilon=epsilon, weights=weights, max_iterations=count, patience=9).anonymize(table)
        best = int(np.argmax([i.weighted_utility for i in masked.iterations]))
        assert (unpack(masked.hidden, x.shape[1]) == covers[best][1]).all()


@settings(max_examples=60, deadline=None)
@given(tables(), st.data())
def test_costs_of_levels_are_sums_of_bits_and_cells(table, data):
    book = table.codebook
    weights = np.arange(1, book.features + 1, dtype=np.int32) * 100
    cells = np.arange(len(book.attributes), dtype=np.int32) * 1000
    graph = Dissimilarity.of(table, weights, 2.0, cells)
    partners = data.draw(st.lists(st.tuples(*[st.integers(0, table.records - 1)] * 2), max_size=30))
    x = features(table)
    counts = np.zeros((book.features, table.records), dtype=np.uint16)
    differing = np.zeros((len(book.attributes), table.records), dtype=int)
    for i, j in partners:
        counts[:, i] += x[i] != x[j]
        differing[:, i] += table.codes[:, i] != table.codes[:, j]
    table_of_costs = graph.cost_table(counts, np.arange(table.records)).transpose(0, 2, 1).reshape(-1, book.level_offsets[-1])
    for i in range(table.records):
        for j in range(table.records):
            bits = np.round(weights * (2 / 3) ** counts[:, i].astype(int))[(x[i] != x[j]) & ~blanks(table)[i]].sum()
            other = (table.codes[:, i] != table.codes[:, j]) & ~table.blank[:, i]
            whole = bits + np.round(cells * (2 / 3) ** differing[:, i])[other].sum()
            assert table_of_costs[i, table.codes[:, j] + book.level_offsets[:-1]].sum() == whole


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_change_the_bytes(threads):
    rng = np.random.default_rng(3)
    table = encoding.from_bits(rng.integers(0, 2, (700, 70)), rng.integers(1, 30, 700))
    reference = Adaptive(weights="bits", max_iterations=3).anonymize(table)
    before = numba.get_num_threads()
    numba.set_num_threads(threads)
    try:
        again = Adaptive(weights="bits", max_iterations=3).anonymize(table)
    finally:
        numba.set_num_threads(before)
    assert (again.hidden == reference.hidden).all()
    assert again.iterations == reference.iterations


@pytest.mark.parametrize(
    ("n", "f", "k"),
    [(2, 1, 2), (2, 64, 1), (3, 65, 3), (65, 1, 65), (64, 64, 2), (130, 3, 1), (129, 128, 128)],
)
def test_shapes(n, f, k):
    x = np.random.default_rng(n + f).integers(0, 2, (n, f))
    for matrix in (x, np.zeros_like(x), np.tile(x[:1], (n, 1))):
        masked = Adaptive(weights="bits", max_iterations=2).anonymize(encoding.from_bits(matrix, np.full(n, k)))
        degree = np.bincount(masked.cover.u, minlength=n) + np.bincount(masked.cover.v, minlength=n)
        assert (degree >= k - 1).all()
        stars = unpack(masked.hidden, f)
        fit = naive.compatible(matrix, matrix, stars)
        assert (fit.sum(axis=1) >= k).all()


def test_figure_three_as_printed():
    """Khan et al., Fig. 3: six users, k = 2: groups (1,2) (3,4) (5,6), ten stars, utility 26/36."""
    x = np.array(
        [[1, 0, 1, 0, 1, 0], [1, 1, 1, 1, 1, 0], [0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 0, 1], [1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 1]]
    )
    printed = ["1*1*10", "1*1*10", "0*0*01", "0*0*01", "11000*", "11000*"]
    distances = {(0, 1): 2, (0, 2): 6, (0, 3): 4, (0, 4): 3, (0, 5): 4, (1, 2): 4, (1, 3): 6, (1, 4): 3, (1, 5): 4,
                 (2, 3): 2, (2, 4): 4, (2, 5): 2, (3, 4): 3, (3, 5): 2, (4, 5): 1}  # fmt: skip
    distances[2, 4] = 3  # printed as 4: U3 and U5 differ in f1, f4 and f6 only
    assert naive.edge_weights(x, np.full(x.shape, 0.5)) == distances
    table = encoding.from_bits(x, np.full(6, 2))
    masked = Adaptive(**PAPER, weights="bits", max_iterations=1).anonymize(table)
    assert list(zip(masked.cover.u.tolist(), masked.cover.v.tolist(), strict=True)) == [(4, 5), (0, 1), (2, 3)]
    cells = encoding.write_cells(table, masked.hidden)
    assert ["".join(row) for row in zip(*cells.values(), strict=True)] == printed
    assert masked.iterations[0].utility == pytest.approx(26 / 36)


@settings(max_examples=60, deadline=None)
@given(bit_matrices())
def test_lemma_stars_between_distance_and_its_k_th_part(data):
    """Lemma III.1 of Khan et al. on the first cover: s(G) <= h(G) <= k s(G), k the largest crowd of the cover."""
    x, k = data
    masked = Adaptive(**PAPER, weights="bits", max_iterations=1).anonymize(encoding.from_bits(x, k))
    u, v = masked.cover.u, masked.cover.v
    h = 2 * int((x[u] != x[v]).sum())
    s = int(unpack(masked.hidden, x.shape[1]).sum())
    degree = (np.bincount(u, minlength=len(x)) + np.bincount(v, minlength=len(x))).max()
    assert s <= h <= max(1, degree) * s or h == s == 0


@pytest.mark.parametrize(
    "wrong", [{"epsilon": 0}, {"epsilon": float("nan")}, {"weights": "rows"}, {"schedule": "up"}, {"patience": 0}]
)
def test_settings_are_checked_at_birth(wrong):
    with pytest.raises(InputError):
        Adaptive(**wrong)
