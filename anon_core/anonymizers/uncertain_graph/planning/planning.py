"""Plan which expected degrees to move, and how far, until enough vertices hide.

A vertex is found by its degree where few others may have that degree. The plan moves the vertices
that help most for what it costs: those below a rare degree come nearer, those above it too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.degrees_kernels import DegreeChances
from anon_core.anonymizers.uncertain_graph.hiding import Hiding
from anon_core.anonymizers.uncertain_graph.planning.planning_kernels import (
    MOVES,
    HidingDemands,
    fill_gains,
    fill_moved,
    fill_shortfalls,
    sum_up,
)

_NEAR = 4  # times k: so many vertices nearest to a rare degree may move
_PART = 0.1
_LEAST_MOVES = 8
_MOST_TURNS = 400
_ALL_IN = 8  # turns, after which all candidates are looked at again; between, the best of them
_FEW = 2048
_PATIENCE = 32  # turns, in which what is missing has to fall below this part of itself
_STALLED = 0.99
_CHEAP = 0.1  # of a move: it costs at least this part of its size, also if it undoes another
_WORTH = 1e-9  # bits for each degree: a lesser gain is none
_DELTA = np.stack([2.0 ** np.arange(-1, MOVES - 1), -(2.0 ** np.arange(-1, MOVES - 1))])


class Means(NamedTuple):
    """Expected degrees.

    Attributes
    ----------
    source, now : float64 (n,)
    """

    source: NDArray[np.float64]
    now: NDArray[np.float64]


class _Found(NamedTuple):
    """The moves of a turn.

    Attributes
    ----------
    candidate : int64
        The best candidates, the best first.
    moved : float64
        Moves of the first of them.
    """

    candidate: NDArray[np.int64]
    moved: NDArray[np.float64]


def choose_exempt_vertices(hiding: Hiding, bits: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Choose the vertices that stay below, bool (n,): those that lack most, as far as allowed.

    Vertices with the same known degree and k are hidden together or not at all, so they are
    exempted together or not at all.
    """
    missing = hiding.needed - bits
    alike = np.arange(len(bits))
    if not isinstance(hiding.known, DegreeChances):
        both = np.stack([hiding.known, hiding.graph.k.astype(np.int64)])
        alike = np.unique(both, axis=1, return_inverse=True)[1].ravel()
    size = np.bincount(alike)
    most = np.full(len(size), -np.inf)
    np.maximum.at(most, alike, missing)
    left, chosen = hiding.graph.exempt, np.zeros(len(size), dtype=np.bool_)
    for group in np.argsort(-most, kind="stable")[: np.count_nonzero(most > 0)]:
        if size[group] <= left:
            chosen[group] = True
            left -= int(size[group])
    return chosen[alike]


def build_hiding_targets(
    hiding: Hiding, bits: NDArray[np.float64], degrees: DegreeChances, margin: float
) -> HidingDemands:
    """Return what has to be hidden: known degrees, or the distributions that are not yet hidden.

    Parameters
    ----------
    bits : float64 (n,)
        H(Y) of each vertex now.
    degrees : DegreeChances
        Of the graph now.
    margin : float
        Bits beyond log2 k.
    """
    wanted = ~choose_exempt_vertices(hiding, bits)
    goal = np.minimum(hiding.needed + margin, np.log2(len(bits)))
    if isinstance(hiding.known, DegreeChances):
        chosen = np.flatnonzero(wanted & (bits < goal))
        known, goal = _select_distributions(hiding.known, chosen), goal[chosen]
    else:
        column, place = np.unique(hiding.known[wanted], return_inverse=True)
        most = np.zeros(len(column))
        np.maximum.at(most, place, goal[wanted])
        known = DegreeChances(column, np.arange(len(column) + 1), np.ones(len(column)))
        goal = most
    # k = 1 asks for nothing: its logarithm is below any shortfall.
    need = np.log2(np.maximum(np.exp2(goal) - 1, 1e-300))
    sums = [np.empty(len(need)) for _ in range(3)]
    asked = HidingDemands(
        known, need, sums[0], sums[1], np.empty(len(need), dtype=np.int64), sums[2]
    )
    sum_up(asked, degrees)
    return asked


def _select_distributions(known: DegreeChances, chosen: NDArray[np.int64]) -> DegreeChances:
    """Return the distributions of some vertices."""
    size = known.start[chosen + 1] - known.start[chosen]
    start = np.concatenate([[0], np.cumsum(size)])
    place = np.arange(start[-1]) + np.repeat(known.start[chosen] - start[:-1], size)
    return DegreeChances(known.low[chosen], start, known.chance[place])


def compute_shortfalls(asked: HidingDemands) -> NDArray[np.float64]:
    """Return by how much log2 (2^H - 1) misses what is needed, float64 (asked,), at least 0."""
    short = np.empty(len(asked.need))
    fill_shortfalls(asked, short)
    return short


def plan_degree_moves(
    asked: HidingDemands, degrees: DegreeChances, means: Means, k: int
) -> NDArray[np.float64]:
    """Return by how much each expected degree should move, float64 (n,).

    In each turn the moves with the greatest gains for their costs are made, each of another
    vertex. A move costs what it adds to the distance from the source's expected degree.

    Parameters
    ----------
    asked : HidingDemands
        Its sums are those of `degrees`; they change.
    k : int
        The greatest demand.
    """
    shift, candidate = np.zeros(len(degrees.low)), np.empty(0, dtype=np.int64)
    missing: list[float] = []
    for turn in range(_MOST_TURNS):
        short = compute_shortfalls(asked)
        missing.append(float(short.sum()))
        stalled = turn >= _PATIENCE and missing[turn] > _STALLED * missing[turn - _PATIENCE]
        if missing[turn] == 0 or stalled:
            break
        if turn % _ALL_IN == 0:
            candidate = _list_candidates(asked, short, means.now + shift, k)
        gain = np.empty((len(candidate), *_DELTA.shape))
        fill_gains(candidate, degrees, asked, short, gain)
        found = _choose_moves(candidate, gain, means._replace(now=means.now + shift), missing[turn])
        candidate = found.candidate
        if not len(found.moved) and turn % _ALL_IN == 0:
            break
        folds = np.zeros(len(shift), dtype=np.int64)
        folds[candidate[: len(found.moved)]] = (2 * found.moved).astype(np.int64)
        shift += folds / 2
        degrees = _move_degrees(degrees, folds)
        sum_up(asked, degrees)
    return shift


def _list_candidates(
    asked: HidingDemands, short: NDArray[np.float64], mean: NDArray[np.float64], k: int
) -> NDArray[np.int64]:
    """Return the vertices nearest to what is not yet hidden, int64."""
    size, known = np.diff(asked.known.start), asked.known
    degree = np.arange(len(known.chance)) - np.repeat(known.start[:-1] - known.low, size)
    centre = np.add.reduceat(degree * known.chance, known.start[:-1])
    chosen, order = np.zeros(len(mean), dtype=np.bool_), np.argsort(mean, kind="stable")
    rank = np.searchsorted(mean[order], np.unique(np.rint(centre[short > 0])))
    for place in rank.tolist():
        chosen[order[max(0, place - _NEAR * k) : place + _NEAR * k]] = True
    return np.flatnonzero(chosen)


def _choose_moves(
    candidate: NDArray[np.int64], gain: NDArray[np.float64], means: Means, missing: float
) -> _Found:
    """Choose the moves of most worth, until they gain a part of what is missing."""
    now = means.now[candidate][:, None, None]
    off = now - means.source[candidate][:, None, None]
    cost = np.maximum(np.abs(off + _DELTA) - np.abs(off), _CHEAP * np.abs(_DELTA))
    worth = np.where(now + _DELTA >= 0, gain / cost, 0.0).reshape(len(candidate), -1)
    best = worth.argmax(axis=1)
    worth = worth.max(axis=1)
    order = np.argsort(-worth, kind="stable")[:_FEW]
    some = order[worth[order] > _WORTH]
    gained = np.cumsum(gain.reshape(len(candidate), -1)[some, best[some]])
    number = max(_LEAST_MOVES, int(np.searchsorted(gained, _PART * missing)))
    return _Found(candidate[order], _DELTA.reshape(-1)[best[some[:number]]])


def _move_degrees(degrees: DegreeChances, folds: NDArray[np.int64]) -> DegreeChances:
    """Return the chances after moves; folds int64 (n,): twice the move."""
    start = np.concatenate([[0], np.cumsum(np.diff(degrees.start) + np.abs(folds))])
    moved = DegreeChances(degrees.low + np.minimum(folds, 0), start, np.zeros(start[-1]))
    fill_moved(degrees, folds, moved)
    return moved
