"""The edges whose probabilities are going to change: lines 8 to 20 of Algorithm 7."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel

NO_PAIR = -1
REMOVED_PAIR = -2


class PairSet(NamedTuple):
    """A set of pairs of vertices, each as one key u n + v, u < v, in an open hash table.

    Attributes
    ----------
    key : int64 (size,)
        A power of two; NO_PAIR where no key is.
    edge : int64 (size,)
        The number of the edge of the source, NO_PAIR of any other pair, REMOVED_PAIR of an edge
        that left.
    """

    key: NDArray[np.int64]
    edge: NDArray[np.int64]


@kernel
def find_slot(pairs, key):
    """Return where a key is, or where it belongs."""
    mask = len(pairs.key) - 1
    at = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)
    place = np.int64(at) & mask
    while pairs.key[place] != NO_PAIR and pairs.key[place] != key:
        place = (place + 1) & mask
    return place


@kernel
def enter_edges(pairs, keys):
    """Enter the source's edges."""
    for e in range(len(keys)):
        place = find_slot(pairs, keys[e])
        pairs.key[place], pairs.edge[place] = keys[e], e


@kernel
def take_turns(pairs, chance, draws, added, room):
    """Add or remove the drawn pairs until there are enough.

    Parameters
    ----------
    chance : float64 (m,)
        Probability of each edge of the source: that it leaves when it is drawn.
    draws : (int64 (turns,), float64 (turns,))
        Keys (NO_PAIR: two equal ends, no pair) and numbers from [0, 1).
    added : int64
        Keys of pairs beside the edges; the first room[0] are filled in.
    room : int64 (2,)
        Pairs added so far; pairs still missing.
    """
    for turn in range(len(draws[0])):
        if room[1] == 0:
            return
        key = draws[0][turn]
        if key == NO_PAIR:
            continue
        place = find_slot(pairs, key)
        if pairs.key[place] == NO_PAIR:
            pairs.key[place] = key
            added[room[0]] = key
            room[0] += 1
            room[1] -= 1
        elif pairs.edge[place] >= 0 and draws[1][turn] < chance[pairs.edge[place]]:
            # The key stays, so that a later draw does not take this pair for a new one.
            pairs.edge[place] = REMOVED_PAIR
            room[1] += 1
