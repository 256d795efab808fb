"""Whether the order of released rows tells who sits where, for any kind of data."""

import numpy as np
from numpy.typing import NDArray

# In a random order, t or more of n guesses are right with a probability of at most 1 / t!: all of t
# given records are right with (n - t)! / n!, and there are n! / (t! (n - t)!) sets of t records.
# The four guesses of `order_hits` reach 13 with a probability below 4 / 13! < 1e-9.
BEYOND_CHANCE = 13


def order_hits(seat: NDArray[np.int64]) -> dict[str, NDArray[np.bool_]]:
    """Guess rows from nothing but their order.

    Parameters
    ----------
    seat : int64 (n,)
        Row of each record, records in the order of the source; -1: none.

    Returns
    -------
    dict of bool (n,)
        Whether each guess is right. "same place": record i sits in row i; "from the end": in row
        n - 1 - i; "next row", "row before": in the row after or before that of record i - 1.
    """
    place = np.arange(len(seat))
    # -1 is no row: without `known`, row 0 after no row would pass for the next row.
    before = np.concatenate([[-1], seat[:-1]])
    known = (before >= 0) & (seat >= 0)
    return {
        "same place": seat == place,
        "from the end": seat == place[::-1],
        "next row": (seat == before + 1) & known,
        "row before": (seat == before - 1) & known,
    }
