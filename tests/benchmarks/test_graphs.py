"""Benchmarks of uncertain graphs: how lines become a graph, and that contenders count alike."""

import numpy as np
import pytest

from anon_core.specs.graphs import ONE
from benchmarks.graphs.sets import MILLIONTH, of_lines, with_drawn
from benchmarks.graphs.worlds import Scipy, ours, pairs_in, sampled


def graph():
    lines = [["b", "a", "0.5"], ["a", "b", "0.5"], ["c", "c", "0.9"], ["c", "d", "1"], ["a", "d"]]
    return of_lines(lines, 2, 0.5)


def test_lines_become_a_graph():
    graph().check()
    assert list(zip(graph().u.tolist(), graph().v.tolist(), strict=True)) == [
        (0, 1),
        (0, 3),
        (2, 3),
    ]
    assert graph().p.tolist() == [3 * ONE // 4, 0, ONE]
    assert (graph().records, graph().exempt, graph().k.tolist()) == (4, 2, [2] * 4)


def test_drawn_probabilities_are_whole_millionths():
    drawn = with_drawn(of_lines([[str(v), str(v + 1)] for v in range(1000)], 1, 0))
    drawn.check()
    assert (drawn.p % MILLIONTH == 0).all()
    assert drawn.p.min() >= MILLIONTH
    assert drawn.p.mean() / ONE == pytest.approx(0.5, abs=0.05)
    assert (with_drawn(drawn).p == drawn.p).all()


def test_contenders_count_the_same_pairs():
    source = with_drawn(of_lines([[str(v), str(v * 7 % 60)] for v in range(60)], 1, 0))
    mean, _, _ = sampled(Scipy(source), source, 2000, 1)
    assert mean == pytest.approx(ours(source, 2000, 1)[0], rel=0.05)
    every = np.ones(source.edges, dtype=bool)
    assert pairs_in(Scipy(source).sizes(Scipy(source).build(every))) == sum(
        len(part) * (len(part) - 1) // 2 for part in parts(source)
    )


def parts(graph):
    """Components of the graph with all its edges."""
    of = {v: {v} for v in range(graph.records)}
    for a, b in zip(graph.u.tolist(), graph.v.tolist(), strict=True):
        joined = of[a] | of[b]
        of.update(dict.fromkeys(joined, joined))
    return {id(part): part for part in of.values()}.values()
