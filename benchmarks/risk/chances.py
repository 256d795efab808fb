"""Chances that an insider computes for each record, of `seat_chances`."""

import numpy as np
from numpy.typing import NDArray

from anon_core.seating.chances import SHARE, SeatChances


def of_pairs(chances: SeatChances) -> NDArray[np.float64]:
    """Return the chance that one record of a class sits in one row of the other, (pairs,)."""
    seats = chances.seats
    size = np.repeat(seats.size, np.diff(seats.indptr)) * seats.row_size[seats.rows]
    return chances.held / (SHARE * size)


def of_own_row(chances: SeatChances) -> NDArray[np.float64]:
    """Return the chance of each record to sit in the row made from it, float64 (n,)."""
    return of_pairs(chances)[chances.seats.own]


def of_likeliest_row(chances: SeatChances) -> NDArray[np.float64]:
    """Return the chance of each record's likeliest row, float64 (n,)."""
    seats = chances.seats
    return np.maximum.reduceat(of_pairs(chances), seats.indptr[:-1])[seats.record_class]


def of_true_row(chances: SeatChances) -> NDArray[np.float64]:
    """Return the expected chance of the row that each record is seated in, float64 (n,)."""
    seats, chance = chances.seats, of_pairs(chances)
    squares = np.add.reduceat(chance * chance * seats.row_size[seats.rows], seats.indptr[:-1])
    return squares[seats.record_class]
