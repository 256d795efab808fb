"""Q(v): how much of the uncertainty each vertex is to get."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.degrees import Edges
from anon_core.anonymizers.uncertain_graph.selection_kernels import commonness
from anon_core.specs.graphs import ONE

Selection = Literal["degree", "uniqueness", "random"]


def weights(edges: Edges, selection: Selection) -> NDArray[np.float64]:
    """Return Q(v) of each vertex, float64 (n,), not negative.

    "degree": the expected degree. "uniqueness": U(v), as Boldi et al. "random": all alike.
    """
    if selection == "random":
        return np.ones(edges.vertices)
    if selection == "degree":
        return edges.expected_billionths() / ONE
    return uniqueness(edges)


def uniqueness(edges: Edges) -> NDArray[np.float64]:
    """Return U(v) = 1 / sum over u of the normal density of theta at P(u) - P(v), float64 (n,).

    P is the expected degree and theta = sigma_G its standard deviation over the vertices.

    References
    ----------
    Xiao, Definition 5.
    """
    expected = edges.expected_billionths() / ONE
    theta = float(expected.std())
    if theta == 0:
        return np.ones(edges.vertices)
    value, times = np.unique(expected, return_counts=True)
    common = np.empty(len(value))
    commonness(value / theta, times.astype(np.float64), common)
    return 1 / common[np.searchsorted(value, expected)] * theta
