"""Benchmarks of uncertain graphs: how lines become a graph, and that contenders count alike."""

import numpy as np
import pytest

from anon_core.specs.graphs import ONE
from benchmarks.graphs import figure
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
    mean, _, _ = sampled(Scipy(source), source, 400, 1)
    assert mean == pytest.approx(ours(source, 4000, 1)[0], rel=0.1)
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


def test_a_graph_released_as_it_is_loses_nothing():
    source = with_drawn(of_lines([[str(v), str(v * 7 % 60)] for v in range(60)], 1, 0))
    same = {"u": source.u, "v": source.v, "p": source.p}
    assert figure.judged(source, source.restore_result(same, (), 0)) == [0, 0, 0, 0]
    half = source.restore_result({**same, "p": source.p // 2}, (), 0)
    apart, error, _, added = figure.judged(source, half)
    assert apart > 0.01
    assert error == pytest.approx(source.p.sum(dtype=np.int64) / ONE / source.records, rel=1e-6)
    assert added == pytest.approx(-0.5)


def test_the_picture_shows_what_is_out_of_reach(tmp_path, monkeypatch):
    monkeypatch.setattr(figure, "CELLS", figure.CELLS[:1])
    monkeypatch.setattr(figure, "MEASURES", figure.MEASURES[:1])
    rows, empty = np.arange(8.0).reshape(2, 4), np.empty((0, 4))
    found = {(cell, method): rows for cell in figure.CELLS for method in figure.METHODS}
    figure.draw(tmp_path / "all.png", found)
    found[figure.CELLS[0], "random"] = empty
    figure.draw(tmp_path / "one.png", found)
    figure.draw(tmp_path / "again.png", found)
    drawn = [(tmp_path / f"{name}.png").read_bytes() for name in ("all", "one", "again")]
    assert drawn[0] != drawn[1] == drawn[2]
