"""Covers, compared with optima and the complete graph; selection and sorting, with numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import Bounds, LinearConstraint, milp

from anon_core.covers.b_edge_cover import b_edge_cover, nearest_closure, sort_edges
from anon_core.covers.cover_kernels import count_differences
from anon_core.covers.edges import Edges
from anon_core.errors import InfeasibleError
from anon_core.search import nearest as nearest_module
from anon_core.search.dissimilarity import Dissimilarity, integer_weights, largest_sum
from anon_core.search.nearest import level_tree, nearest_neighbours
from anon_core.search.select_kernels import keep_smallest
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from tests import naive
from tests.strategies import bit_matrices, tables


@st.composite
def complete_graphs(draw):
    """The edges of a complete graph with many ties, and b."""
    n = draw(st.integers(2, 9))
    u, v = np.triu_indices(n, 1)
    weight = draw(hnp.arrays(np.int32, len(u), elements=st.integers(0, 6)))
    b = draw(hnp.arrays(np.int32, n, elements=st.integers(0, n - 1)))
    return Edges(u.astype(np.int32), v.astype(np.int32), weight), b


def optimum(edges, b):
    """The weight of a minimum b-edge cover, by a MILP solver."""
    incidence = np.zeros((len(b), len(edges)))
    incidence[edges.u, np.arange(len(edges))] = 1
    incidence[edges.v, np.arange(len(edges))] = 1
    needs = LinearConstraint(incidence, lb=b)
    solved = milp(
        edges.weight, integrality=np.ones(len(edges)), bounds=Bounds(0, 1), constraints=needs
    )
    assert solved.success
    return round(solved.fun)


@given(complete_graphs())
def test_cover_is_the_literal_one_and_at_most_twice_the_optimum(graph):
    edges, b = graph
    weights = {
        (u, v): w
        for u, v, w in zip(edges.u.tolist(), edges.v.tolist(), edges.weight.tolist(), strict=True)
    }
    least = optimum(edges, b)
    cover = b_edge_cover(edges, b)
    pairs = set(zip(cover.u.tolist(), cover.v.tolist(), strict=True))
    assert pairs == naive.mce(weights, b.tolist())
    assert cover.weight.sum() <= 2 * least
    degree = np.bincount(cover.u, minlength=len(b)) + np.bincount(cover.v, minlength=len(b))
    assert (degree >= b).all()
    keys = list(zip(cover.weight.tolist(), cover.u.tolist(), cover.v.tolist(), strict=True))
    assert keys == sorted(keys)


def test_a_graph_with_too_few_edges_is_refused():
    edges = Edges(*(np.array([value], dtype=np.int32) for value in (0, 1, 5)))
    with pytest.raises(InfeasibleError, match="1 vertices have fewer edges"):
        b_edge_cover(edges, np.array([1, 1, 1], dtype=np.int32))


@given(bit_matrices(most_records=20), st.data())
def test_nearest_neighbours_are_exact_under_any_weights(data, draw):
    x, k = data
    table = encoding.from_bits(x, k)
    base = draw.draw(
        hnp.arrays(np.int32, x.shape[1], elements=st.sampled_from([1, 300, 2**12, 2**15]))
    )
    graph = Dissimilarity.of(table, base, 2.0)
    counts = draw.draw(hnp.arrays(np.uint16, (x.shape[1], len(x)), elements=st.integers(0, 30)))
    w = np.round(base * (2 / 3) ** counts[:, graph.place].T.astype(int)).astype(int)
    weights = naive.edge_weights(x, w)
    b = table.k - np.int32(1)
    tree = level_tree(graph)
    found = nearest_neighbours(graph, tree, counts, b)
    again = nearest_neighbours(
        graph, tree, counts, b, before=nearest_neighbours(graph, tree, np.zeros_like(counts), b)
    )
    closure = set()
    for v in range(len(x)):
        others = sorted((weights[min(u, v), max(u, v)], u) for u in range(len(x)) if u != v)[: b[v]]
        listed = slice(found.indptr[v], found.indptr[v + 1])
        assert (
            list(zip(found.cost[listed].tolist(), found.vertex[listed].tolist(), strict=True))
            == others
        )
        closure |= {(min(u, v), max(u, v)) for _, u in others}
    assert (again.vertex == found.vertex).all()
    edges = nearest_closure(found)
    assert len(edges) == len(closure)
    assert set(zip(edges.u.tolist(), edges.v.tolist(), strict=True)) == closure
    assert all(
        weights[u, v] == w
        for u, v, w in zip(edges.u.tolist(), edges.v.tolist(), edges.weight.tolist(), strict=True)
    )


def brute_force(graph, counts, b):
    """The b nearest neighbours of each vertex as (cost, vertex), by all pairs."""
    coarse, fine, shift = graph.costs(counts)
    own = coarse.astype(np.int64) << shift
    if shift:
        own += fine
    own = own.transpose(0, 2, 1).reshape(-1, own.shape[1])[: graph.vertices]
    rows = graph.rows()
    one_sided = np.stack(
        [own[:, row].sum(axis=1) for row in rows], axis=1
    )  # the cost of each place and row
    key = ((one_sided + one_sided.T) << 32) + graph.layout[None, :]
    np.fill_diagonal(key, np.iinfo(np.int64).max)
    best = np.sort(key, axis=1)
    return [best[graph.place[v], : b[v]] for v in range(graph.vertices)]


@st.composite
def clustered(draw):
    """Levels of several blocks of records.

    Records range from equal to distinct; some are blank. All or some vertices have counts. Sums
    have few or many bits.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.sampled_from([63, 64, 65, 128, 300, 700]))
    sizes = draw(st.lists(st.sampled_from([2, 3, 7, 40]), min_size=1, max_size=6))
    centres = draw(st.sampled_from([1, 5, 1000]))
    noise = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    blank = draw(st.sampled_from([0.0, 0.2]))
    columns, specs = {}, []
    for index, levels in enumerate(sizes):
        middle = rng.integers(0, levels, centres)[rng.integers(0, centres, n)]
        code = np.where(rng.random(n) < noise, rng.integers(0, levels, n), middle)
        ordinal = draw(st.booleans())
        name = f"c{index}"
        columns[name] = code.astype(float) if ordinal else code.astype(str).astype(object)
        columns[name][rng.random(n) < blank] = np.nan if ordinal else None
        kind, encoding_of = ("numeric", "ordinal") if ordinal else ("categorical", "one-hot")
        specs.append(ColumnSpec(name=name, kind=kind, encoding=encoding_of, missing="all-hidden"))
    columns["sure"] = np.array(["a", "b"] + ["a"] * (n - 2), dtype=object)
    specs.append(ColumnSpec(name="sure", kind="binary"))
    b = draw(st.sampled_from([0, 1, 5, 70, n - 1]))
    demanded = rng.integers(1, min(b, n - 1) + 2, n)
    table = encoding.encode(encoding.fit(specs, columns), columns, demanded)
    weights = rng.integers(1, draw(st.sampled_from([50, 2**13])), table.codebook.features).astype(
        np.int32
    )
    hidden = draw(st.sampled_from([0, 3, 60]))
    graph = Dissimilarity.of(table, weights, draw(st.sampled_from([0.5, 2.0, 20.0])))
    touched = rng.random(n) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    counts = [
        touched * rng.integers(0, hidden + 1, (table.codebook.features, n)).astype(np.uint16)
        for _ in range(2)
    ]
    return graph, table.k - np.int32(1), counts


@pytest.mark.long
@given(clustered())
def test_nearest_neighbours_of_many_blocks_are_those_of_all_pairs(drawn):
    graph, b, states = drawn
    tree, before, told = level_tree(graph), None, []
    for counts in states:
        found = nearest_neighbours(graph, tree, counts, b, before=before, report=told.append)
        for v, expected in enumerate(brute_force(graph, counts, b)):
            listed = slice(found.indptr[v], found.indptr[v + 1])
            keys = (found.cost[listed].astype(np.int64) << 32) + found.vertex[listed]
            assert (keys == expected).all()
        before = found
    assert told[-1] == graph.vertices


def test_what_blocks_read_together_does_not_change_their_lists(monkeypatch):
    rng = np.random.default_rng(4)
    n = 64 * 70
    table = encoding.from_bits(rng.integers(0, 2, (n, 16)), rng.integers(1, 40, n))
    graph = Dissimilarity.of(table, np.full(16, 1000, dtype=np.int32), 2.0)
    counts, b = rng.integers(0, 9, (16, n)).astype(np.uint16), table.k - np.int32(1)
    alone = nearest_neighbours(graph, level_tree(graph), counts, b)
    for group, between_reports in ((3, 64), (16, 7)):
        monkeypatch.setattr(nearest_module, "BLOCKS_IN_GROUP", group)
        monkeypatch.setattr(nearest_module, "SLICE", between_reports)
        monkeypatch.setattr(nearest_module, "WORTH_GROUPING", 1)
        again = nearest_neighbours(graph, level_tree(graph), counts, b)
        assert (again.vertex == alone.vertex).all()
        assert (again.cost == alone.cost).all()


@pytest.mark.long
@given(tables(), st.sampled_from([1.0, 0.3, 1e-4]), st.booleans(), st.data())
def test_integer_weights_keep_every_sum_exact(table, lightest, whole_cells, data):
    book = table.codebook
    relative = data.draw(hnp.arrays(np.float64, book.features, elements=st.floats(lightest, 1)))
    cells = (
        data.draw(hnp.arrays(np.float64, len(book.attributes), elements=st.floats(lightest, 1)))
        * whole_cells
    )
    weights, cell_weights = integer_weights(relative, cells, book)
    assert weights.min() >= 1
    assert cell_weights.any() == whole_cells
    assert largest_sum(weights, book) + 2 * cell_weights.sum() <= 2**24 - 2**9
    assert (np.diff(weights[np.argsort(relative)]) >= 0).all()


def test_sums_of_few_bits_fill_sixteen_bits_and_those_of_many_get_precision():
    few, many = (
        encoding.from_bits(np.eye(f, dtype=int), np.ones(f, dtype=int)).codebook for f in (50, 500)
    )
    assert (
        2**16 - 250 < largest_sum(integer_weights(np.ones(50), np.zeros(50), few)[0], few) < 2**16
    )
    assert (integer_weights(np.ones(500), np.zeros(500), many)[0] == 2**12).all()


@given(
    hnp.arrays(np.int64, st.integers(1, 300), elements=st.integers(0, 2**40), unique=True),
    st.data(),
)
def test_keep_smallest(keys, data):
    keep = data.draw(st.integers(1, len(keys)))
    smallest = sorted(keys.tolist())[:keep]
    row = np.concatenate([[-5, -6], keys, [-7]])
    assert keep_smallest(row, 2, len(keys), keep) == smallest[-1]
    assert sorted(row[2 : 2 + keep].tolist()) == smallest
    assert row[[0, 1, -1]].tolist() == [-5, -6, -7]


@given(
    st.lists(st.tuples(*[st.sampled_from([0, 1, 5, 40_000, 2**30])] * 3)),
    st.sampled_from([40_000, 2**30]),
)
def test_edges_are_sorted_by_one_number_where_it_holds_them_and_by_three_elsewhere(drawn, top):
    u, v, weight = (
        np.array([edge for edge in drawn if max(edge) <= top], dtype=np.int32).reshape(-1, 3).T
    )
    u, v = np.minimum(u, v), np.maximum(u, v)
    found = sort_edges(Edges(u, v, weight))
    assert [*zip(found.weight, found.u, found.v, strict=True)] == sorted(
        zip(weight, u, v, strict=True)
    )


@pytest.mark.parametrize("ordinal", [False, True])
def test_more_neighbours_than_a_count_can_hold_are_counted_as_its_greatest(ordinal):
    edges = 70_000
    codes, offsets = (
        np.array([[0] + [1] * edges], dtype=np.int32),
        np.array([0, 1 if ordinal else 2]),
    )
    counts = np.zeros((offsets[-1], edges + 1), dtype=np.uint16)
    parents = np.full(offsets[-1], offsets[-1], dtype=np.int32)
    v = np.arange(1, edges + 1)
    count_differences(np.zeros_like(v), v, codes, offsets, np.array([ordinal]), parents, counts)
    assert (counts[:, 0] == 65535).all()
    assert (counts[:, 1:] == 1).all()
