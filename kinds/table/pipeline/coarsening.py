"""Coarser numbers and dates of carried columns: the makers' side; the auditor has its own.

Numbers are rounded first. Then the greatest become one open group, shown as the number where it
begins, and the smallest likewise. Dates become the first day of their step of the calendar.
"""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InfeasibleError, InputError
from anon_core.specs.coarse import Coarse, Ends
from anon_core.tables.cuts import readable_cut
from crowdcover.kinds.columns import Column
from crowdcover.storage.source.values import EXACT

_EVERY = {"day": "1d", "week": "1w", "month": "1mo", "quarter": "1q", "year": "1y"}
_PLACES = 700  # digits of the quotient of any two float64
_Owners = NDArray[np.integer[Any]] | None


def coarsen_columns(
    frame: pl.DataFrame, columns: Sequence[Column], least: int, person: _Owners = None
) -> tuple[pl.DataFrame, dict[str, Ends]]:
    """Return the released records with coarser values where the plan wants them, and open ends.

    `least` is the greatest demand, `person` int (n,) the number of each record's person.
    """
    shown, ends = {name: frame[name] for name in frame.columns}, {}
    for column in columns:
        if column.coarse is not None:
            values = shown[column.name].alias("")
            shown[column.name], ends[column.name] = coarsen_values(values, column, least, person)
    return pl.DataFrame(shown), ends


def coarsen_values(
    series: pl.Series, column: Column, least: int, person: _Owners = None
) -> tuple[pl.Series, Ends]:
    """Return the values of a column as a release shows them, and where its open groups begin.

    Raises
    ------
    InputError, InfeasibleError
        Whole numbers that a float64 does not hold; no number that may be shown has so many people
        beyond it; the two groups meet.
    """
    spec = column.coarse
    assert spec is not None
    if isinstance(spec.step, str):
        return _find_first_days(series, spec.step), Ends()
    whole = series.dtype.is_integer() and spec.is_whole
    exact = series if series.dtype.is_integer() else series.cast(pl.String)  # 0.1 of 32 bits is 0.1
    values = exact.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if series.dtype.is_integer() and bool((np.abs(values) >= EXACT).any()):
        raise InputError(
            f"column {column.name!r} has numbers that reach 2**53; leave step, top and bottom out"
        )
    try:
        shown, ends = _coarsen(values, spec, least, person, whole=whole)
    except InfeasibleError as error:
        refusal = str(error)
    else:
        made = pl.Series(shown, dtype=pl.Float64).fill_nan(None)
        return made.cast(pl.Int64) if whole else made, ends
    raise InfeasibleError(f"column {column.name!r}: {refusal}")


def _coarsen(
    values: NDArray[np.float64], spec: Coarse, least: int, person: _Owners, *, whole: bool
) -> tuple[NDArray[np.float64], Ends]:
    """The same of float64 (n,), nan where a number is missing."""
    assert not isinstance(spec.step, str)
    shown = values if spec.step is None else _round_to_step(values, spec.step)

    def find(numbers: NDArray[np.float64]) -> float | None:
        return _find_open_end(numbers, least, person, whole=whole, rounded=spec.step is not None)

    top = find(shown) if spec.top == "k" else spec.top
    bottom = spec.bottom
    if bottom == "k":
        bottom = None if (end := find(-shown)) is None else 0.0 - end  # never -0.0
    if bottom is not None and top is not None and bottom >= top:
        raise InfeasibleError(
            "the open groups of its greatest and of its smallest numbers meet; state top or bottom "
            "alone, or demand a smaller k"
        )
    if top is not None:
        shown = np.minimum(shown, top)  # nan stays nan
    if bottom is not None:
        shown = np.maximum(shown, bottom)
    return shown, Ends(bottom, top)


def _find_first_days(dates: pl.Series, step: str) -> pl.Series:
    """The first day of the week, month, ... of each date or moment; weeks begin on Monday."""
    days = dates.dt.date() if isinstance(dates.dtype, pl.Datetime) else dates
    if step != "decade":
        return days.dt.truncate(_EVERY[step])
    year = (pl.col("day").dt.year() // 10 * 10).clip(1)  # there is no year 0
    return days.to_frame("day").select(pl.date(year, 1, 1)).to_series().alias("")


def _round_to_step(values: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Round to the nearest multiple of the step, half way to the even one, as decimals are."""
    numbers, place = np.unique(values, return_inverse=True)
    unit = Decimal(repr(step))
    with localcontext(prec=_PLACES):
        rounded = [
            # In floats 0.15 is less than half of 0.3; the decimals that people read are not.
            number if np.isnan(number) else float(exact - exact.remainder_near(unit)) + 0.0
            for number in numbers.tolist()
            for exact in [Decimal(repr(number))]
        ]
    return np.array(rounded, dtype=np.float64)[place]


def _find_open_end(
    values: NDArray[np.float64], least: int, person: _Owners, *, whole: bool, rounded: bool
) -> float | None:
    """The number with which an open group of the greatest numbers begins, None if none is needed.

    It begins with the greatest number that `least` people have or exceed. That number itself is
    shown if so many people have it, or if it is rounded. Else the roundest one between it and the
    next smaller number is shown, so that no person's own number tells where the group begins.
    """
    given = ~np.isnan(values)
    numbers, place = np.unique(values[given], return_inverse=True)
    owner = np.arange(len(values))[given] if person is None else person[given]
    # Each person is counted at the own greatest number: int64 (people,), -1 without a number.
    greatest = np.full(owner.max(initial=-1) + 1, -1, dtype=np.int64)
    np.maximum.at(greatest, owner, place)
    people = np.bincount(greatest[greatest >= 0], minlength=len(numbers))[::-1].cumsum()[::-1]
    holders = np.bincount(
        np.unique(np.stack([place, owner]), axis=1)[0].astype(np.int64), minlength=len(numbers)
    )
    enough = np.flatnonzero(people >= least)
    if len(enough) and enough[-1] == len(numbers) - 1:
        return None
    for at in enough[::-1].tolist():
        number = float(numbers[at])
        if rounded or holders[at] >= least:
            return number
        cut = None if at == 0 else _find_number_between(float(numbers[at - 1]), number, whole=whole)
        if cut is not None:
            return cut
    raise InfeasibleError(
        f"no number that may be shown has {least} people at it or beyond it; leave top = 'k' and "
        "bottom = 'k' out, state a number, or drop the column"
    )


def _find_number_between(below: float, above: float, *, whole: bool) -> float | None:
    """The roundest number between two others, the greater one of two; None if there is none."""
    # Asked first: ever finer numbers would be tried where none is allowed.
    if (below + 1 if whole else np.nextafter(below, np.inf)) >= above:
        return None

    def is_allowed(number: float) -> bool:
        return number != below and (number.is_integer() or not whole)

    return readable_cut("numeric", below, above, above, is_allowed)
