"""Which expected degrees to raise or lower: gains of moving one vertex, at what it costs.

A move by `delta` is modelled as 2 |delta| edges of probability 1/2 more, or as many certain edges
that become edges of probability 1/2: the chances of a degree are folded 2 |delta| times with
(1/2, 1/2), and shifted down in the second case.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.degrees_kernels import DegreeChances
from anon_core.jit.kernel import kernel, parallel_kernel

_LEAST = 2.0**-60  # of a crowd beyond the vertex itself: below it, no gain is seen
MOVES = 7  # ways to move: by 1/2, 1, 2, ... 32
_SLIGHT = 1e-7  # of the sum: a change of z that cannot matter to a crowd that is nearly there
_NEARLY = 4.0  # bits


class HidingDemands(NamedTuple):
    """What has to be hidden, each as chances of degrees, and the crowd that it has.

    Attributes
    ----------
    known : DegreeChances
        The degree that the adversary knows (one chance, 1), or how likely each is.
    need : float64 (asked,)
        log2 (k - 1), with a margin.
    total, weighted : float64 (asked,)
        Sums of z and z log2 z over all vertices but the main one, z = P(degree is the known one).
    main : int64 (asked,)
        The vertex with the greatest z: its share may be so large that it cannot be subtracted.
    of_main : float64 (asked,)
        Its z.
    """

    known: DegreeChances
    need: NDArray[np.float64]
    total: NDArray[np.float64]
    weighted: NDArray[np.float64]
    main: NDArray[np.int64]
    of_main: NDArray[np.float64]


@kernel
def compute_overlap_chance(known, a, low, chance, size):
    """Return P(degree is the known one) of chances chance[:size] of the degrees from `low` on."""
    first = max(known.low[a], low)
    of_a, of_u = known.start[a] + first - known.low[a], first - low
    z = 0.0
    for i in range(min(known.start[a + 1] - of_a, size - of_u)):
        z += known.chance[of_a + i] * chance[of_u + i]
    return z


def _count_targets(asked: HidingDemands) -> int:
    return len(asked.need)


@parallel_kernel(_count_targets)
def sum_up(begin, end, asked, degrees):
    """Fill in the sums of what is asked for begin .. end - 1."""
    for a in range(begin, end):
        main, most, total, weighted = -1, 0.0, 0.0, 0.0
        for u in range(len(degrees.low)):
            chance = degrees.chance[degrees.start[u] : degrees.start[u + 1]]
            z = compute_overlap_chance(asked.known, a, degrees.low[u], chance, len(chance))
            if z > most:
                main, most, z = u, z, most
            if z > 0:
                total += z
                weighted += z * np.log2(z)
        asked.main[a], asked.of_main[a] = main, most
        asked.total[a], asked.weighted[a] = total, weighted


@kernel
def compute_shortfall(need, total, weighted, z):
    """Return by how much log2 (2^H - 1) misses `need`; z is to be added to the sums."""
    if z > 0:
        total += z
        weighted += z * np.log2(z)
    crowd = 0.0
    if total > 0:
        bits = np.log2(total) - weighted / total
        crowd = max(0.0, np.exp2(bits) - 1)
    return max(0.0, need - np.log2(crowd + _LEAST))


def _count_shortfalls(short: NDArray[np.float64]) -> int:
    return len(short)


@parallel_kernel(_count_shortfalls)
def fill_shortfalls(begin, end, asked, short):
    """Fill in the shortfall of what is asked for begin .. end - 1."""
    for a in range(begin, end):
        short[a] = compute_shortfall(
            asked.need[a], asked.total[a], asked.weighted[a], asked.of_main[a]
        )


@kernel
def shortfall_after(asked, a, z, changed):
    """Return the shortfall of a if a vertex changes z to `changed`; z = of_main: it is the main."""
    total, weighted, kept = asked.total[a], asked.weighted[a], asked.of_main[a]
    if z > 0 and z == kept:
        return compute_shortfall(asked.need[a], total, weighted, changed)
    if z > 0:
        total = max(0.0, total - z)
        weighted -= z * np.log2(z)
    if kept > 0:
        total += kept
        weighted += kept * np.log2(kept)
    return compute_shortfall(asked.need[a], total, weighted, changed)


def _count_candidates(candidate: NDArray[np.int64]) -> int:
    return len(candidate)


@parallel_kernel(_count_candidates)
def fill_gains(begin, end, candidate, degrees, asked, now, gain):
    """Fill in how much less is missing after each move of each candidate.

    Parameters
    ----------
    candidate : int64 (candidates,)
        Vertices.
    now : float64 (asked,)
        Shortfalls.
    gain : float64 (candidates, 2, MOVES)
        By candidate, direction (0: up) and size of the move.
    """
    asks = len(asked.need)
    before = np.empty(asks)
    slight = _SLIGHT * (asked.total + np.where(now < _NEARLY, asked.of_main, 0.0))
    for c in range(begin, end):
        u = candidate[c]
        first, last = degrees.start[u], degrees.start[u + 1]
        size, low = last - first, degrees.low[u]
        chance = np.zeros(size + (1 << (MOVES - 1)))
        chance[:size] = degrees.chance[first:last]
        for a in range(asks):
            before[a] = compute_overlap_chance(asked.known, a, low, chance, size)
        folds = 0
        for move in range(MOVES):
            while folds < 1 << move:
                fold_chances(chance, size)
                size += 1
                folds += 1
            for down in range(2):
                start = low - folds * down
                gain[c, down, move] = 0.0
                for a in range(asks):
                    z = compute_overlap_chance(asked.known, a, start, chance, size)
                    if abs(z - before[a]) > slight[a]:
                        gain[c, down, move] += now[a] - shortfall_after(asked, a, before[a], z)


@kernel
def fold_chances(chance, size):
    """Fold chance[:size] with (1/2, 1/2)."""
    chance[size] = chance[size - 1] / 2
    for i in range(size - 1, 0, -1):
        chance[i] = (chance[i] + chance[i - 1]) / 2
    chance[0] /= 2


@kernel
def fill_moved(degrees, folds, moved):
    """Fill in the chances after moves: folds int64 (n,), negative: down; `moved` has the room."""
    for u in range(len(folds)):
        size = degrees.start[u + 1] - degrees.start[u]
        chance = moved.chance[moved.start[u] : moved.start[u + 1]]
        chance[:size] = degrees.chance[degrees.start[u] : degrees.start[u + 1]]
        for _ in range(abs(folds[u])):
            fold_chances(chance, size)
            size += 1
