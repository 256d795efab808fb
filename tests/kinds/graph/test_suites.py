"""The suites of graphs: what passes, and which expectation each fault breaks."""

import numpy as np
import pytest

from anon_core.specs.graphs import ONE
from crowdcover.kinds.graph.suites import checked, encoded, released
from crowdcover.validations.run import validate_columns


class Folder:
    """A stage with edges only."""

    def __init__(self, path, edges, shape):
        self.path, self.shape = path, shape
        np.savez(path / "edges.npz", **edges)

    def file(self, name):
        return self.path / name


EDGES = {"u": np.array([0, 0, 2]), "v": np.array([1, 3, 3]), "p": np.array([ONE, 0, 5])}


def failures(suite, columns):
    return {outcome.words for outcome in validate_columns(suite, columns).failures}


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({}, set()),
        ({"u": np.array([0, 0, 0])}, {"No pair of vertices has two edges."}),
        ({"u": np.array([0, 0, 3])}, {"No edge joins a vertex with itself."}),
        ({"v": np.array([1, 3, 4])}, {"Every end of an edge is one of 4 vertices."}),
        ({"p": np.array([ONE, -1, 5])}, {"Every probability is from 0 to 1."}),
        ({"p": np.array([ONE + 1, 0, 5])}, {"Every probability is from 0 to 1."}),
        ({"name": np.array(["a", "b", "c"])},
         {"Numbers only: the names of the vertices are gone."}),
    ],
)  # fmt: skip
def test_edges_as_they_were_read(tmp_path, change, broken):
    stored = Folder(tmp_path, {**EDGES, **change}, (4, 3))
    assert failures(*checked.build_ingested_suite(stored)) == broken


def test_an_edge_that_is_lost(tmp_path):
    assert failures(*checked.build_ingested_suite(Folder(tmp_path, EDGES, (4, 4)))) == {
        "Exactly 4 edges."
    }


GOOD = {
    "k": np.array([2, 2, 3]),
    "least": np.array([1, np.nan, np.nan]),
    "greatest": np.array([2, np.nan, np.nan]),
    "ascending": np.array([True, True, True]),
    "least_p": np.array([0.0, np.nan, np.nan]),
    "greatest_p": np.array([float(ONE), np.nan, np.nan]),
}


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({}, set()),
        ({"k": np.array([0, 2, 3])}, {"Every demand is from 1 to 3 vertices."}),
        ({"k": np.array([4, 2, 3])}, {"Every demand is from 1 to 3 vertices."}),
        ({"least": np.array([0, np.nan, 1])}, {"The other end of an edge comes later."}),
        ({"greatest": np.array([3, np.nan, 1])}, {"Every end of an edge is one of 3 vertices."}),
        ({"ascending": np.array([True, False, True])},
         {"The edges of each vertex are ascending, each once."}),
        ({"least_p": np.array([-1.0, 0, 0])}, {"No probability is below 0."}),
        ({"greatest_p": np.array([ONE + 1.0, 0, 0])}, {"No probability is above 1."}),
    ],
)  # fmt: skip
def test_the_uncertain_graph(change, broken):
    assert failures(encoded.build_suite(3), {**GOOD, **change}) == broken


ROWS = {
    "key": np.array(["0" * 16, "1" * 16, "2" * 16], dtype=object),
    "below": np.array([0, 1, 0]),
    "edges": np.array([1, 1, 0]),
    "least_p": np.array([1e-6, 1e-6, np.nan]),
    "greatest_p": np.array([1.0, 1.0, np.nan]),
}


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({}, set()),
        ({"key": np.array(["0" * 16] * 3, dtype=object)}, {"No key occurs twice."}),
        ({"below": np.array([1, 1, 0])},
         {"At most 1 vertices hide among fewer than they demand."}),
        ({"edges": np.array([3, 1, 0])},
         {"No vertex has more edges than there are other vertices."}),
        ({"least_p": np.array([0.0, 1, 1])}, {"No probability is below a millionth."}),
        ({"greatest_p": np.array([1.1, 1, 1])}, {"No probability is above 1."}),
    ],
)  # fmt: skip
def test_the_graph_to_be_published(change, broken):
    assert failures(released.build_suite(3, 1, 1), {**ROWS, **change}) == broken
