"""Uncertain graphs as arrays: what is refused, and that packing loses nothing."""

import numpy as np
import pytest

from anon_core.errors import InfeasibleError, InputError
from anon_core.graphs.records import ObfuscatedGraph, UncertainGraph
from anon_core.specs.graphs import ONE


def graph(u=(0, 0, 1), v=(1, 2, 2), p=(ONE, ONE // 2, 0), k=(2, 2, 1, 1), **stated):
    arrays = (np.array(values, dtype=np.int32) for values in (u, v, p, k))
    return UncertainGraph(*arrays, **stated)


def test_a_vertex_without_edges_is_a_record():
    graph().check()
    assert (graph().records, graph().edges) == (4, 3)
    graph((), (), (), ()).check()


@pytest.mark.parametrize(
    "wrong",
    [
        {"u": (0, 0, 2), "v": (1, 2, 2)},
        {"u": (0, 0, 2), "v": (1, 2, 1)},
        {"u": (0, 1, 0), "v": (1, 2, 2)},
        {"u": (0, 0, 0), "v": (1, 2, 2)},
        {"v": (1, 2, 4)},
        {"u": (-1, 0, 1)},
        {"p": (ONE, -1, 0)},
        {"p": (ONE, 0)},
        {"k": (2, 2, 1, 0)},
        {"exempt": 5},
        {"exempt": -1},
    ],
)
def test_arrays_that_are_no_graph_are_refused(wrong):
    with pytest.raises(InputError):
        graph(**wrong).check()


def test_more_vertices_than_there_are_cannot_be_demanded():
    graph(k=(4, 4, 4, 4)).refuse_impossible_demands()
    with pytest.raises(InfeasibleError, match="1 records demand more than 4 rows"):
        graph(k=(5, 4, 4, 4)).refuse_impossible_demands()


def test_packing_loses_nothing():
    given = graph(knowledge="mode", exempt=1)
    again = UncertainGraph.unpack_arrays(*given.pack_arrays())
    assert (again.knowledge, again.exempt) == ("mode", 1)
    made = ObfuscatedGraph(given, given.u, given.v, given.p)
    for other in (again, again.restore_result(made.arrays(), (), 0)):
        for name in ("u", "v", "p"):
            assert (getattr(other, name) == getattr(given, name)).all()
