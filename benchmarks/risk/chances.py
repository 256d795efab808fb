"""Chances that an insider computes for each record, of `seat_chances`."""

import numpy as np
from numpy.typing import NDArray

from anon_core.seating.chances import SeatChances


def of_own_row(chances: SeatChances) -> NDArray[np.float64]:
    """Return the chance of each record to sit in the row made from it, float64 (n,)."""
    return chances.of_pairs[chances.seats.own]


def of_likeliest_row(chances: SeatChances) -> NDArray[np.float64]:
    """Return the chance of each record's likeliest row, float64 (n,)."""
    seats = chances.seats
    return np.maximum.reduceat(chances.of_pairs, seats.indptr[:-1])[seats.record_class]


def of_true_row(chances: SeatChances) -> NDArray[np.float64]:
    """Return the expected chance of the row that each record is seated in, float64 (n,)."""
    seats, chance = chances.seats, chances.of_pairs
    squares = np.add.reduceat(chance * chance * seats.row_size[seats.rows], seats.indptr[:-1])
    return squares[seats.record_class]
