"""The agreement graph against its definition on all pairs, and what reclaiming leaves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_core.anonymizers import Adaptive
from anon_core.anonymizers.adaptive import agreement
from anon_core.anonymizers.adaptive.agreement_kernels import keep_agreeing
from anon_core.anonymizers.adaptive.showing_kernels import count_partners, price_features
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import level_tree
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from anon_core.tables.records import pack_levels
from benchmarks.covers.agreement import agreement_cover
from tests.strategies import EPSILONS, tables
from tests.support.masked import utilities_of


def bits_of(words, f):
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :f].astype(bool)


def agreeing_with(v, x, hidden):
    """bool (n,): u and v differ only in what is hidden at both; never v itself."""
    return (~(x ^ x[v]) | (hidden & hidden[v])).all(axis=1) & (np.arange(len(x)) != v)


def agreeing(x, hidden):
    """bool (n, n): the same for every v."""
    return np.array([agreeing_with(v, x, hidden) for v in range(len(x))])


def needs(x, fit):
    """int (n, f): agreeing vertices that differ in each feature."""
    return (fit[:, :, None] & (x[:, None] ^ x[None])).sum(axis=1)


@st.composite
def hidden_tables(draw):
    """A table, its graph and tree, counts that hide anything, and b that agreeing vertices meet."""
    table = draw(tables())
    f, n = table.codebook.features, table.records
    graph = Dissimilarity.of(table, np.ones(f, dtype=np.int32), 1.0)
    counts = draw(hnp.arrays(np.uint16, (f, n), elements=st.sampled_from([0, 1, 1, 1, 9])))
    hidden = agreement.find_hidden_features(graph, counts)
    degree = agreeing(bits_of(table.bits, f), bits_of(hidden, f)).sum(axis=1)
    b = np.minimum(draw(hnp.arrays(np.int32, n, elements=st.integers(0, n - 1))), degree).astype(
        np.int32
    )
    return table, (graph, level_tree(graph)), counts, hidden, b


def reclaimed(drawn, room, cell):
    """Reclaim with lists of `room` times the need.

    Returns the partners left, and what is settled and spare in the end.
    """
    table, drawn_graph, _, hidden, b = drawn
    weights = np.arange(1, table.codebook.features + 1, dtype=np.int32)
    cells = np.full(len(table.codebook.attributes), cell, dtype=np.int32)
    show, seen = agreement.show_offered, []

    def shown(*arguments):
        show(*arguments)
        _, _, settled, _, _, _, spare, _, _ = arguments
        seen.append((settled, spare))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement, "LISTED_PER_NEED", room)
        patch.setattr(agreement, "show_offered", shown)
        left = agreement.reclaim_features(
            table, *drawn_graph, weights, cells, b, hidden, agreement.Together()
        )
    return left, seen[-1]


def assert_first_are_listed(table, graph, tree, hidden, room, vertices, *, twins):
    """The lists of some vertices by definition; all of them are returned."""
    f = table.codebook.features
    indptr, listed, size = agreement.first_agreeing(table, graph, tree, hidden, room, twins=twins)
    x, hides = bits_of(table.bits, f), bits_of(hidden, f)
    for v in vertices:
        fits = agreeing_with(v, x, hides) & (twins | (x != x[v]).any(axis=1))
        assert (
            listed[indptr[v] : indptr[v] + size[v]].tolist()
            == np.flatnonzero(fits)[: room[v]].tolist()
        )
    return indptr, listed, size


@given(hidden_tables(), st.integers(0, 14), st.booleans())
def test_the_first_who_agree_are_listed(drawn, room, twins):
    table, (graph, tree), _, hidden, _ = drawn
    n = table.records
    assert_first_are_listed(table, graph, tree, hidden, np.full(n, room), range(n), twins=twins)


def test_the_first_who_agree_are_found_in_maps_of_several_chunks():
    n, rng = 5000, np.random.default_rng(3)
    specs = [
        ColumnSpec(name="kind", kind="categorical"),
        ColumnSpec(name="size", kind="numeric", encoding="ordinal"),
    ]
    columns = {
        "kind": rng.choice(list("abcdefgh"), n).astype(object),
        "size": rng.integers(0, 40, n).astype(float),
    }
    table = encoding.encode(encoding.fit(specs, columns), columns, np.full(n, 2))
    graph = Dissimilarity.of(table, np.ones(table.codebook.features, dtype=np.int32), 1.0)
    hidden = pack_levels(table.codebook, rng.permuted(table.codes, axis=1)) & pack_levels(
        table.codebook, table.codes[:, ::-1]
    )
    hidden |= table.bits & rng.integers(0, 2**63, table.bits.shape).astype(np.uint64)
    room = rng.integers(0, 200, n)
    indptr, listed, size = assert_first_are_listed(
        table, graph, level_tree(graph), hidden, room, range(0, n, 25), twins=True
    )
    assert (size < room).any()
    assert max(listed[indptr[v]] for v in range(n) if size[v]) > 2048


@given(hidden_tables(), st.sampled_from([1, 3, 99]), st.sampled_from([0, 5]))
def test_reclaiming_keeps_every_need_and_hides_nothing_new(drawn, room, cell):
    table, drawn_graph, counts, hidden, b = drawn
    f = table.codebook.features
    x, before = bits_of(table.bits, f), bits_of(hidden, f)
    left, _ = reclaimed(drawn, room, cell)
    graph, _ = drawn_graph
    count_partners(
        table.bits, hidden, graph.layout, left.start, left.other, left.size, 65535, counts
    )
    after = bits_of(agreement.find_hidden_features(graph, counts), f)
    fit = agreeing(x, after)
    assert (before | ~after).all()
    assert (fit.sum(axis=1) >= b).all()
    assert (needs(x, fit) >= np.take(counts, graph.place, axis=1).T).all()


@given(hidden_tables(), st.sampled_from([1, 3, 99]))
def test_what_is_refused_once_can_never_be_shown(drawn, room):
    table, _, _, hidden, _ = drawn
    left, (settled, spare) = reclaimed(drawn, room, cell=0)
    x, refused, after = (
        bits_of(words, table.codebook.features) for words in (table.bits, settled, hidden)
    )
    fit = agreeing(x, after)
    assert not (refused & ~after).any()
    for v, feature in zip(*np.nonzero(refused), strict=True):
        partners = left.other[left.start[v] : left.start[v] + left.size[v]]
        lost = partners[fit[v, partners] & (x[partners, feature] != x[v, feature])]
        assert len(lost) > spare[v] or (spare[lost] <= 0).any()


@given(st.integers(1, 7), st.integers(1, 40), st.integers(0, 2**32))
def test_partners_that_agree_are_kept_whatever_the_length_of_rows(words, n, seed):
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**64, (n, words), dtype=np.uint64)
    hidden = np.full(
        (n, words), ~np.uint64(0)
    )  # all but a bit of each row: of two rows every fourth pair agrees, or more
    hidden[np.arange(n), rng.integers(0, words, n)] ^= np.uint64(1) << rng.integers(
        0, 64, n, dtype=np.uint64
    )
    f = 64 * words
    x, fit = bits_of(bits, f), agreeing(bits_of(bits, f), bits_of(hidden, f))
    partner = np.concatenate([np.delete(np.arange(n, dtype=np.int32), v) for v in range(n)])
    size, counts = np.full(n, n - 1), np.zeros((f, n), dtype=np.uint16)
    start = np.arange(n + 1) * (n - 1)
    count_partners(bits, hidden, np.arange(n), start, partner, size, 65535, counts)
    assert (size == fit.sum(axis=1)).all()
    assert all(
        (partner[start[v] : start[v] + size[v]] == np.flatnonzero(fit[v])).all() for v in range(n)
    )
    assert (needs(x, fit) == counts.T).all()


@given(hidden_tables())
def test_the_agreement_cover_holds_agreeing_pairs_enough_of_them(drawn):
    table, drawn_graph, _, hidden, b = drawn
    f = table.codebook.features
    fit = agreeing(bits_of(table.bits, f), bits_of(hidden, f))
    cover = agreement_cover(table, *drawn_graph, hidden, b)
    assert fit[cover.u, cover.v].all()
    assert (cover.u < cover.v).all()
    assert len({*zip(cover.u.tolist(), cover.v.tolist(), strict=True)}) == len(cover)
    assert (np.bincount(np.concatenate([cover.u, cover.v]), minlength=table.records) >= b).all()


@given(tables(), EPSILONS, st.sampled_from(["bits", "cells", "columns"]))
def test_an_iteration_with_reclaiming_hides_a_subset(table, epsilon, weights):
    plain, reclaimed = (
        Adaptive(epsilon=epsilon, weights=weights, max_iterations=1, reclaim=reclaim).anonymize(
            table
        )
        for reclaim in (False, True)
    )
    assert not (reclaimed.hidden & ~plain.hidden).any()
    better, worse = (utilities_of(each, "weighted_utility")[0] for each in (reclaimed, plain))
    assert better >= worse


def test_more_partners_than_a_count_can_hold_are_counted_as_its_greatest():
    others = 70_000
    bits = np.array([[0]] + [[1]] * others, dtype=np.uint64)
    hidden = np.ones_like(bits)
    size = np.array([others] + [1] * others)
    partner = np.concatenate([np.arange(1, others + 1), np.zeros(others)]).astype(np.int32)
    start = np.concatenate([[0], np.cumsum(size)])
    counts = np.zeros((1, others + 1), dtype=np.uint16)
    count_partners(bits, hidden, np.arange(others + 1), start, partner, size, 65535, counts)
    assert counts[0, 0] == 65535
    assert (counts[0, 1:] == 1).all()


@given(tables(), st.integers(1, 16), st.sampled_from([1.0, 4.0, np.inf]), st.booleans())
def test_of_all_features_that_could_be_shown_the_cheapest_are_offered(table, most, limit, cells):
    n, book = table.records, table.codebook
    others = np.concatenate([np.delete(np.arange(n, dtype=np.int32), v) for v in range(n)])
    everything = np.full_like(table.bits, ~np.uint64(0))
    everything[:, -1] >>= np.uint64(64 * book.words - book.features)
    weights = np.arange(1, book.features + 1, dtype=np.int32) % 7 + 1

    def offered(room):
        found = np.empty((n, room), dtype=np.int32)
        price_features(
            table.bits, everything.copy(), np.zeros_like(table.bits), table.codes, table.blank,
            weights, np.full(len(book.attributes), int(cells), dtype=np.int32), book.bit_offsets,
            book.ordinal, limit, np.arange(n + 1) * (n - 1), others.copy(), np.full(n, n - 1),
            np.ones(n, dtype=np.int64), np.zeros(n), found, np.empty(len(others), dtype=np.uint16),
        )  # fmt: skip
        return [
            row[: np.argmax(row < 0)].tolist() if (row < 0).any() else row.tolist() for row in found
        ]

    assert offered(most) == [row[:most] for row in offered(book.features + 1)]


@pytest.mark.parametrize("words", range(1, 6))
def test_partners_that_agree_stay(words):
    draw, rows = np.random.default_rng(7), 40
    bits = draw.integers(0, 4, (rows, words), dtype=np.uint64)
    hidden = draw.integers(0, 4, (rows, words), dtype=np.uint64) | np.uint64(2)
    partner = draw.integers(0, rows, rows + 2).astype(np.int32)
    partner[7::9] = 0  # a row agrees with itself
    differs = bits[0] ^ bits[partner[2:]]
    agrees = ~(differs & ~(hidden[0] & hidden[partner[2:]])).any(axis=1)
    expected, differing = partner[2:][agrees], np.empty((words, rows + 1), dtype=np.uint64)
    kept = keep_agreeing(bits, hidden, 0, partner, 1, 2, rows, differing)
    assert 0 < kept == agrees.sum() < rows
    assert (partner[1 : 1 + kept] == expected).all()
    assert (differing[:, :kept] == differs[agrees].T).all()
