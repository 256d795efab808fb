"""What a released graph shows of the source's edges.

To someone who has found two vertices, and to someone who has other data with probabilities.

For graphs whose edges exist or not, Ying and Wu, Randomizing Social Networks: a Spectrum Preserving
Approach (SDM 2008), compare the chance of a true edge given a released one with that of any pair.
Here both graphs are uncertain, so both chances are taken over their worlds.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.graph.coupling import Coupled, couple_graphs
from anon_core.measures.graph.degrees import UncertainEdges, list_probabilities
from anon_core.specs.graphs import ONE

SHOWN_WITHIN = ONE // 20  # of a probability, to which an edge is shown about as likely as it is
_MILLIONTH = ONE // 10**6
_HALF = 30  # bits: products of two probabilities have less than twice as many


@dataclass(frozen=True)
class ShownEdges:
    """Edges of source and release beside each other. Below half a millionth, an edge is none.

    Attributes
    ----------
    source, released, either : int
        Edges of the source, of the release, and of one of them or both.
    both : int
        Edges that both have, with whatever probabilities.
    same : int
        Edges that both have with the same probability, to a millionth.
    near : bool (n,)
        Vertices with an edge of both graphs whose probabilities differ by at most `SHOWN_WITHIN`.
    matched : bool (n,)
        Vertices that are found by probabilities of the source. Of one edge: it has the same
        probability in both graphs, and no other released edge has it. Of all edges: the vertex
        has some, with the same probabilities in both graphs, and no other released vertex has them.
    joined : float
        Chance that a world of the source joins two vertices, any pair being as likely; 0 without.
    joined_if_released : float
        The same chance for two vertices that a world of the release joins; the worlds are drawn
        independently. 0 without released edges.
    """

    source: int
    released: int
    either: int
    both: int
    same: int
    near: NDArray[np.bool_] = field(repr=False)
    matched: NDArray[np.bool_] = field(repr=False)
    joined: float
    joined_if_released: float


def compare_edges(before: UncertainEdges, after: UncertainEdges) -> ShownEdges:
    """Compare a source with its release; vertex i of one is vertex i of the other.

    Memory and time are linear in the edges, but for sorting them. Sums are exact: nothing depends
    on the order of vertices or edges.
    """
    pairs, n = couple_graphs(before, after), before.vertices
    p, shown = pairs.p.astype(np.int64)
    here, there = 2 * p > _MILLIONTH, 2 * shown > _MILLIONTH
    change = np.abs(p - shown)
    # Released probabilities are whole millionths: the nearest one is no change.
    same = there & (2 * change <= _MILLIONTH)
    _, number, times = np.unique(shown[there], return_inverse=True, return_counts=True)
    alone = np.zeros(len(p), dtype=np.bool_)
    alone[there] = times[number] == 1

    def list_ends(chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        ends = np.zeros(n, dtype=np.bool_)
        ends[pairs.u[chosen]] = ends[pairs.v[chosen]] = True
        return ends

    total, total_shown = int(p.sum()), int(shown.sum())
    return ShownEdges(
        source=int(here.sum()),
        released=int(there.sum()),
        either=int((here | there).sum()),
        both=int((here & there).sum()),
        same=int(same.sum()),
        near=list_ends(here & there & (change <= SHOWN_WITHIN)),
        matched=list_ends(same & alone) | _find_vertices(pairs, here, there),
        joined=total / (ONE * (n * (n - 1) // 2)) if n > 1 else 0.0,
        joined_if_released=_sum_products(p, shown) / (ONE * total_shown) if total_shown else 0.0,
    )


def _find_vertices(
    pairs: Coupled, here: NDArray[np.bool_], there: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Find vertices whose edges have equal probabilities in both graphs, unlike all others'.

    Pairs that are an edge `here`, in the source, or `there` have one.
    """
    whole = (pairs.p.astype(np.int64) + _MILLIONTH // 2) // _MILLIONTH * [here, there]
    before, after = (
        list_probabilities(UncertainEdges(pairs.u, pairs.v, p.astype(np.int32), pairs.vertices))
        for p in whole
    )
    times = Counter(after)
    found = [
        bool(one) and one == other and times[other] == 1
        for one, other in zip(before, after, strict=True)
    ]
    return np.array(found, dtype=np.bool_)


def _sum_products(p: NDArray[np.int64], q: NDArray[np.int64]) -> int:
    """The exact sum of products of probabilities in billionths, which 63 bits may not hold."""
    product = p * q  # up to 10^18, below 2^60
    high, low = product >> _HALF, product & (2**_HALF - 1)
    return (int(high.sum()) << _HALF) + int(low.sum())
