"""Cuts between groups of numbers: readable ones. The anonymizers' side; auditors have their own.

A cut c lies between two groups: one holds numbers up to and including c, the next those above. The
fewer digits a cut has, the less it says about the people beside it.
"""

from collections.abc import Callable, Iterator
from decimal import ROUND_FLOOR, Decimal

import numpy as np

from anon_core.specs.columns import ColumnKind

_STEPS = (5, 2, 1)  # times a power of ten
_MONTHS = (12, 3, 1)  # a year, a quarter, a month


def readable_cut(
    kind: ColumnKind, low: float, high: float, near: float, allowed: Callable[[float], bool]
) -> float | None:
    """Choose the roundest allowed number c with low <= c < high.

    Parameters
    ----------
    kind : {"numeric", "date"}
        0 is the roundest number, then come multiples of 5, 2 and 1 times a power of ten, the
        greater the rounder. Of dates, as days since 1970-01-01, it is the last day of a year, of a
        quarter, of a month, any day, and noon of a day.
    low, high : float
        For a date, whole numbers.
    near : float
        Of equally round numbers the nearest to this one is chosen, or else the greater one.
    allowed : callable

    Returns
    -------
    float or None
        None if no number is allowed.
    """
    tiers = _list_round_days(low, high) if kind == "date" else _list_round_decimals(low, high)
    for numbers in tiers:
        # A tier is rounded outwards and may pass both ends.
        within = [number for number in numbers if low <= number < high]
        for number in sorted(within, key=lambda number: (abs(number - near), -number)):
            if allowed(number):
                return number
    return None


def _list_round_decimals(low: float, high: float) -> Iterator[list[float]]:
    """Equally round numbers around low .. high, the roundest first."""
    yield [0.0]
    greatest = max(abs(low), abs(high))
    # Below the spacing of float64, finer steps give no other numbers.
    last = Decimal(float(np.spacing(greatest))).adjusted() - 1
    for exponent in range(Decimal(greatest).adjusted() + 1, last, -1):
        for step in _STEPS:
            # In decimals 3 * 0.1 is 0.3; in floats it is 0.30000000000000004, which is not round.
            unit = Decimal(step).scaleb(exponent)
            first, end = (
                int((Decimal(side) / unit).to_integral_value(ROUND_FLOOR)) for side in (low, high)
            )
            yield [float(unit * count) for count in range(first - 1, end + 2)]


def _list_round_days(low: float, high: float) -> Iterator[list[float]]:
    """Equally round days around low .. high, the roundest first."""
    first, end = (
        int(np.datetime64(int(side), "D").astype("datetime64[M]").astype(int))
        for side in (low, high)
    )
    for months in _MONTHS:
        # Months count from January 1970, so multiples of 12 and 3 begin years and quarters.
        yield [_last_day_before(month) for month in range(first, end + 2) if month % months == 0]
    yield [float(day) for day in range(int(low), int(high))]
    yield [day + 0.5 for day in range(int(low), int(high))]


def _last_day_before(month: int) -> float:
    """The day before the first of a month, in days since 1970-01-01."""
    return float(np.datetime64(month, "M").astype("datetime64[D]").astype(int)) - 1
