"""Coarser numbers of carried columns, computed for the audit.

Nothing of the makers' code is used here. Each definition is followed word by word; slow is fine.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import inf, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InfeasibleError
from anon_core.measures.table.codebook.number_levels import Distinct, find_roundest
from anon_core.measures.table.codebook.people import list_people
from anon_core.specs.coarse import Coarse, Ends

_Owners = NDArray[np.integer[Any]] | None


def coarsen_distinct(
    numbers: Sequence[float | None],
    place: NDArray[np.int32],
    spec: Coarse,
    least: int,
    person: _Owners,
    *,
    whole: bool,
) -> tuple[list[float | None], Ends]:
    """Return what a release shows in place of each distinct number, and where open groups begin.

    Parameters
    ----------
    numbers : sequence of float or None
        None means that the number is missing.
    place : int32 (n,)
        Which of them each record has.
    spec : Coarse
    least : int
        How many people an open group by "k" has at least.
    person : int (n,), optional
        Number of the person of each record.
    whole : bool
        Whether the numbers that are found must be whole.
    """
    assert not isinstance(spec.step, str), "dates have no open groups"
    rounded = [None if each is None else _round(each, spec.step) for each in numbers]
    # Several numbers may have become one: count who has each.
    found = sorted({number for number in rounded if number is not None})
    number_of = {number: at for at, number in enumerate(found)}
    at_of = np.array([-1 if each is None else number_of[each] for each in rounded], dtype=np.int64)
    here = at_of[place]
    given = here >= 0
    owners = None if person is None else list_people(here[given], len(found), person[given])
    times = np.bincount(here[given], minlength=len(found)).tolist()
    top, bottom = spec.top, spec.bottom
    fixed = spec.step is not None
    if top == "k":
        top = _find_end(Distinct(found, times, owners), least, whole=whole, fixed=fixed)
    if bottom == "k":
        turned = None if owners is None else owners[::-1]
        mirror = Distinct([-number for number in found[::-1]], times[::-1], turned)
        end = _find_end(mirror, least, whole=whole, fixed=fixed)
        bottom = None if end is None else 0.0 - end
    shown = [number if number is None else _move_inside(number, bottom, top) for number in rounded]
    return shown, Ends(bottom, top)


def _round(number: float, step: float | None) -> float:
    """The nearest multiple of the step, half way the even one; of numbers as they are written."""
    if step is None:
        return number
    unit = Fraction(repr(step))
    return float(round(Fraction(repr(number)) / unit) * unit)  # `round` prefers the even one


def _move_inside(number: float, bottom: float | None, top: float | None) -> float:
    if top is not None and number > top:
        return top
    return bottom if bottom is not None and number < bottom else number


def _find_between(below: float, above: float, *, whole: bool) -> float | None:
    """The roundest number between two others, the greater one of two."""
    if whole and above - below <= 1:
        return None
    if nextafter(below, inf) == above:
        return None

    def is_free(cut: float) -> bool:
        return cut > below and (not whole or cut == int(cut))

    return find_roundest("numeric", below, above, above, is_free)


def _find_end(distinct: Distinct, least: int, *, whole: bool, fixed: bool) -> float | None:
    """The number that stands for itself and all greater ones; None if the greatest is no rare one.

    The greatest number that so many people have or exceed, if so many have it or if rounding has
    `fixed` it; else the roundest number between it and the next smaller one, if there is any; else
    the same is tried with the next smaller number.

    Raises
    ------
    InfeasibleError
        There is none.
    """
    numbers, count = distinct.numbers, len(distinct.numbers)
    for at, people in zip(
        range(count - 1, -1, -1), distinct.grow_prefixes(reversed(range(count))), strict=True
    ):
        if people < least:
            continue
        if at == count - 1:
            return None
        if fixed or distinct.people([at]) >= least:
            return numbers[at]
        if at and (cut := _find_between(numbers[at - 1], numbers[at], whole=whole)) is not None:
            return cut
    raise InfeasibleError(
        f"a column has no number that may be shown with {least} people at it or beyond it; an "
        "open group by 'k' needs one"
    )
