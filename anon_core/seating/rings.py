"""Even seats that exist wherever nobody owns more than 1/k of all records."""

import numpy as np
from numpy.typing import NDArray

from anon_core.seating.record_classes import RecordClasses


def seat_in_ring(classes: RecordClasses, shares: int) -> NDArray[np.int32] | None:
    """Seat records in a ring, so that each row is held by records of different people.

    Parameters
    ----------
    classes : RecordClasses
    shares : int
        D; all k divide it.

    Returns
    -------
    int32 (n, D), optional
        By row and share the class that holds it, first that of the own record. None if some person
        owns more than 1/k of all records, where k is the greatest of all: then nothing is said.

    Notes
    -----
    The records stand in a ring, those of one person side by side. Let s = floor(n / k). The row at
    place p is held by the records at p, p + s, .., p + (k - 1) s, for D/k shares each. Any two of
    these places are at least s apart on the ring, since n - (k - 1) s >= s. Nobody has more than s
    records, so no two of the places are of one person. Likewise no two rows of a record are.
    """
    n, greatest = len(classes.of), int(classes.k.max())
    step = n // greatest
    if int(np.bincount(classes.party, classes.size).max()) > step:
        return None
    order = np.argsort(classes.party[classes.of], kind="stable")
    turn = np.arange(shares) // (shares // greatest)
    holders = np.empty((n, shares), dtype=np.int32)
    holders[order] = classes.of[order][(np.arange(n)[:, None] + step * turn) % n]
    return holders
