"""Uncertain graphs whose vertices hide by degree: definitions, printed figures, drawn graphs."""

import numpy as np
import pytest

from anon_core.anonymizers import Obfuscate
from anon_core.anonymizers.uncertain_graph.degrees import Edges, column_entropies, degrees_of
from anon_core.anonymizers.uncertain_graph.hiding import Hiding
from anon_core.errors import InfeasibleError
from anon_core.graphs.records import UncertainGraph
from anon_core.specs.graphs import ONE

PRINTED = [  # Fig. 2.2 of Xiao, by vertex A..D
    [0.006, 0.092, 0.398, 0.504],
    [0.054, 0.348, 0.542, 0.056],
    [0.020, 0.260, 0.720, 0.000],
    [0.180, 0.740, 0.080, 0.000],
]


def graph(n, edges, k, **stated):
    """An uncertain graph of n vertices from {(u, v): p}, and the same k for all."""
    pairs = np.array(sorted(edges), dtype=np.int32).reshape(-1, 2)
    p = np.array([round(edges[u, v] * ONE) for u, v in pairs.tolist()], dtype=np.int32)
    return UncertainGraph(pairs[:, 0], pairs[:, 1], p, np.full(n, k, dtype=np.int32), **stated)


def figure(k=3, **stated):
    """Fig. 2.1(a): AB, AC, AD, BC, BD."""
    edges = {(0, 1): 0.7, (0, 2): 0.9, (0, 3): 0.8, (1, 2): 0.8, (1, 3): 0.1}
    return graph(4, edges, k, **stated)


def edges_of(each):
    return Edges(each.records, each.u, each.v, each.p)


def drawn(n, m, k, seed=1, power=2.0, **stated):
    """A graph of n vertices, m of whose pairs are edges; earlier vertices have more of them."""
    draws = np.random.default_rng(seed)
    rank = np.minimum((draws.random((2, 3 * m)) ** power * n).astype(np.int64), n - 1)
    pairs = {(int(u), int(v)) for u, v in np.sort(rank, axis=0).T if u != v}
    return graph(n, {pair: draws.random() for pair in sorted(pairs)[:m]}, k, **stated)


def test_degrees_and_entropies_are_those_that_the_paper_prints():
    degrees = degrees_of(edges_of(figure()))
    for v, row in enumerate(PRINTED):
        chances = degrees.chance[degrees.start[v] : degrees.start[v + 1]]
        assert chances == pytest.approx([x for x in row if x], abs=1e-12)
    assert column_entropies(degrees, 4) == pytest.approx([1.248, 1.688, 1.742, 0.469], abs=5e-4)


@pytest.mark.parametrize("knowledge", ["ceiling", "mode"])
def test_one_vertex_of_the_figure_is_not_hidden(knowledge):
    hiding = Hiding.of(figure(knowledge=knowledge))
    assert hiding.known.tolist() == [3, 2, 2, 1]
    bits = hiding.entropies(edges_of(figure()))
    assert hiding.below(bits).tolist() == [True, False, False, False]


@pytest.mark.parametrize("selection", ["degree", "uniqueness", "random"])
def test_a_drawn_graph_hides_its_vertices(selection):
    source = drawn(300, 900, 8, exempt=15)
    made = Obfuscate(selection=selection).anonymize(source)
    hiding = Hiding.of(source)
    bits = hiding.entropies(Edges(300, made.u, made.v, made.p))
    assert np.count_nonzero(hiding.below(bits)) <= 15
    assert np.count_nonzero(hiding.below(hiding.entropies(edges_of(source)))) > 15


def test_what_no_attempt_reaches_is_refused_with_the_greatest_k():
    path = graph(12, {(0, v): 1.0 for v in range(1, 8)}, 12)
    with pytest.raises(InfeasibleError, match=r"greatest k that every vertex reached is \d+"):
        Obfuscate(most_c=2.0).anonymize(path)
