"""How the probabilities of candidates change: lines 21 to 30 of Algorithm 7."""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.degrees import GraphEdges
from anon_core.anonymizers.uncertain_graph.settings import Perturbation
from anon_core.specs.graphs import ONE

GRAIN = 1000  # billionths: released probabilities are whole millionths
_COARSEST = 10_000_000  # of two decimals: with one, too few probabilities are left


def grain_of(p: NDArray[np.int32]) -> int:
    """Return the grain of released probabilities, in billionths: the decimals of the source.

    The greatest power of ten from `GRAIN` to `_COARSEST` that divides every p. So no changed or
    added edge has more decimals than the source's edges have. `GRAIN` if all edges are certain:
    then no probability between 0 and 1 looks like one of the source.
    """
    between = p[(p > 0) & (p < ONE)]
    grain = _COARSEST if len(between) else GRAIN
    while grain > GRAIN and (between % grain).any():
        grain //= 10
    return grain


def round_to_grain(p: NDArray[np.float64], grain: int) -> NDArray[np.int32]:
    """Return probabilities, float64 in billionths, as whole grains, int32 in billionths."""
    rounded: NDArray[np.int32] = (np.rint(np.clip(p, 0, ONE) / grain) * grain).astype(np.int32)
    return rounded


def round_source_chances(p: NDArray[np.int32]) -> NDArray[np.int32]:
    """Round the source's probabilities; one that is not 0 stays at least a millionth."""
    rounded = (p.astype(np.int64) + GRAIN // 2) // GRAIN * GRAIN
    rounded = np.maximum(rounded, GRAIN) * (p > 0)
    return rounded.astype(np.int32)


def spread_of(edges: GraphEdges, weight: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """Return sigma(e) in proportion to Q(e) = (Q(u) + Q(v)) / 2, on average sigma."""
    of_edge = (weight[edges.u] + weight[edges.v]) / 2
    total = float(of_edge.sum())
    share: NDArray[np.float64] = of_edge * (len(of_edge) / total) if total else of_edge + 1
    return sigma * share


def draw_truncated_normal(
    sigma: NDArray[np.float64], stream: np.random.Generator
) -> NDArray[np.float64]:
    """Draw from normal distributions around 0 with these deviations, limited to [0, 1]."""
    from scipy.special import ndtr, ndtri  # takes a third of a second to import

    uniform = stream.random(len(sigma))
    some = np.maximum(sigma, 1e-300)
    # By the inverse of the distribution function between 0 and 1: no draw is rejected.
    drawn = some * ndtri(0.5 + uniform * (ndtr(1 / some) - 0.5))
    drawn = np.where(sigma > 0, np.clip(drawn, 0, 1), 0.0)
    return np.asarray(drawn, dtype=np.float64)


def perturb_probabilities(
    edges: GraphEdges,
    sigma: NDArray[np.float64],
    q: float,
    perturbation: Perturbation,
    grain: int,
    stream: np.random.Generator,
) -> NDArray[np.int32]:
    """Return the candidates' new probabilities, int32 (m,).

    Parameters
    ----------
    edges : GraphEdges
        The candidates.
    sigma : float64 (m,)
        sigma(e).
    q : float
        White noise: with this probability r is drawn evenly from [0, 1].
    perturbation : {"towards half", "undirected"}
        p + (1 - 2 p) r; or p + r or p - r with equal chances, limited to [0, 1] (Fig. 4.4a).
    grain : int
        See `grain_of`.
    """
    r = draw_truncated_normal(sigma, stream)
    white, even = stream.random(len(r)), stream.random(len(r))
    r = np.where(white < q, even, r)
    p = edges.p / ONE
    if perturbation == "towards half":
        return round_to_grain((p + (1 - 2 * p) * r) * ONE, grain)
    sign = np.where(stream.random(len(r)) < 0.5, 1.0, -1.0)
    return round_to_grain((p + sign * r) * ONE, grain)
