"""Into how many shares even seats divide a row; a plan alone may say that these are too many."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import LimitError

SHARE = 2**16  # the most shares that a draw halves
MOST_SHARES = 1024  # of a row where people demand several levels; one level may have up to SHARE


def shares_of(
    k: NDArray[np.signedinteger[Any]], instead: str = "anonymizer.seats = 'matchable'"
) -> int:
    """Return D, the least common multiple of the demanded levels.

    `instead`: the setting that a refusal advises.

    Raises
    ------
    LimitError
        It exceeds `MOST_SHARES`, or one level exceeds what a draw halves.
    """
    shares, levels = 1, np.unique(k).tolist()
    if len(levels) == 1:
        if levels[0] > SHARE:
            raise LimitError(
                f"even seats need k of at most {SHARE:,}, not {levels[0]:,}: lower k, or set "
                f"{instead}"
            )
        return int(levels[0])
    for level in levels:
        shares = math.lcm(shares, level)
        if shares > MOST_SHARES:
            raise LimitError(
                f"even seats need levels of k whose least common multiple is at most "
                f"{MOST_SHARES}; that of these {len(levels)} levels is greater: let people share "
                f"levels such as 5, 10 and 20, or set {instead}"
            )
    return shares
