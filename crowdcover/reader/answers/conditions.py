"""Conditions on a column: a value, several values, or an interval."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdcover.errors import ReleaseError
from crowdcover.reader.answers.meant import (
    find_meaning,
    find_same_values,
    list_condition_values,
    unwrap_numpy_value,
)
from crowdcover.reader.coded.levels import Levels, convert_to_number
from crowdcover.reader.coded.nodes import find_levels_below

Quantity = int | float | dt.date | str  # a text is an ISO date


@dataclass(frozen=True)
class Between:
    """Numbers or dates from one end to the other; None is an open side.

    Attributes
    ----------
    lo, hi : int, float, datetime.date, its ISO text, or None
    without_lo, without_hi : bool
        Whether the end itself is outside.
    """

    lo: Quantity | None = field(default=None)
    hi: Quantity | None = field(default=None)
    without_lo: bool = False
    without_hi: bool = False


def between(lo: Quantity, hi: Quantity) -> Between:
    """From `lo` to `hi`, both included."""
    return Between(lo, hi)


def at_least(lo: Quantity) -> Between:
    """`lo` and above."""
    return Between(lo=lo)


def at_most(hi: Quantity) -> Between:
    """`hi` and below."""
    return Between(hi=hi)


def above(lo: Quantity) -> Between:
    """Above `lo`."""
    return Between(lo=lo, without_lo=True)


def below(hi: Quantity) -> Between:
    """Below `hi`."""
    return Between(hi=hi, without_hi=True)


@dataclass(frozen=True)
class Under:
    """The values below a node of a hierarchy.

    Attributes
    ----------
    node : str
        Its name, as `release.tree` lists it.
    """

    node: str


def under(node: str) -> Under:
    """Below a node of a hierarchy, such as `under("I20-I25")`."""
    return Under(node)


_Value = str | bool | Quantity | Under | None
Condition = _Value | Iterable[_Value] | Between
Where = Mapping[str, Condition]


class Met(NamedTuple):
    """How far the levels of a column meet a condition.

    Attributes
    ----------
    certain, possible : float64 (levels,)
        1 where every value, or some value, of the level meets it, else 0.
    share : float64 (levels,)
        Part of the level that meets it, 0..1. Values are taken to be spread evenly over a group.
    """

    certain: NDArray[np.float64]
    possible: NDArray[np.float64]
    share: NDArray[np.float64]


def match_levels(levels: Levels, values: list[Any], condition: Condition) -> Met:
    """How far each level meets a condition.

    Raises
    ------
    ReleaseError
        It names a value that no level may be, or asks for numbers where there are none.
    """
    if isinstance(condition, Between):
        if not levels.is_counted:
            raise ReleaseError(
                f"column {levels.name!r} holds categories; name those that count, "
                f"such as {{{levels.name!r}: {{...}}}}: release.levels({levels.name!r}) lists them"
            )
        return _match_interval(levels, condition)
    asked = _drop_equal_values(levels, list_condition_values(condition))
    parts = [_match_value(levels, values, each) for each in asked]
    # Refused even beside others: counted as 0, a misspelt value would not be noticed.
    strange = sum(not part.possible.any() for part in parts)
    if strange or not parts:
        raise ReleaseError(
            f"the condition on column {levels.name!r} names {strange or 'no'} value(s) that "
            f"none of its {len(levels)} levels may be; release.levels({levels.name!r}) lists "
            "them, and None means missing"
        )
    certain, possible, share = (np.max(each, axis=0) for each in zip(*parts, strict=True))
    summed = np.sum([part.share for part in parts], axis=0)
    return Met(certain, possible, np.where(levels.is_counted, np.clip(summed, 0, 1), share))


def _drop_equal_values(levels: Levels, asked: list[Any]) -> list[Any]:
    """The values of a list, each number or date once, however often and however it is written.

    Shares of a group are summed over the values, so one that is named twice would count twice.
    """
    if not levels.is_counted:
        return asked
    different: dict[Any, Any] = {}
    for value in map(unwrap_numpy_value, asked):
        text_of_level = isinstance(value, str) and value in levels.texts
        plain = value is None or isinstance(value, Under)
        key = value if plain or text_of_level else read_quantity(levels, _read_value(value))
        different.setdefault(key, value)
    return list(different.values())


def _read_value(value: Any) -> Any:
    """The number that a value means, else the value itself."""
    kind, meant = find_meaning(value) or ("", value)
    return float(meant) if kind == "number" else value


def _match_value(levels: Levels, values: list[Any], value: Any) -> Met:
    """How far each level is one value: the text of a level, or what values of the column mean."""
    value = unwrap_numpy_value(value)
    if value is None:
        here = levels.missing
    elif isinstance(value, Under):
        here = find_levels_below(levels, value.node)
    elif isinstance(value, str) and value in levels.texts:
        here = np.arange(len(levels)) == levels.texts.index(value)
        value = None if (here & levels.missing).any() else levels.labels[int(here.argmax())]
    elif levels.is_counted:
        end = _read_value(value)
        met = _match_interval(levels, Between(end, end))
        if met.possible.any() and not met.share.any():
            raise ReleaseError(
                f"column {levels.name!r} shows intervals, in which a single number has no width to "
                "expect anything of; ask with between(lo, hi), or name an interval that "
                f"release.levels({levels.name!r}) lists"
            )
        return met
    else:
        here = find_same_values(values, value)
    certain = here.astype(np.float64)
    possible = certain.copy()
    for level, named in levels.others.items():
        if find_meaning(value) is not None and not find_same_values(list(named), value).any():
            possible[level] = 1.0
    return Met(certain, possible, certain)


def _match_interval(levels: Levels, asked: Between) -> Met:
    """How far each level lies between two ends."""
    low = -np.inf if asked.lo is None else read_quantity(levels, asked.lo)
    high = np.inf if asked.hi is None else read_quantity(levels, asked.hi)
    lo, hi = levels.lo, levels.hi
    given = ~levels.missing & ~np.isnan(lo)
    with np.errstate(invalid="ignore"):
        from_low = (lo > low) | ((lo == low) & (levels.above | (not asked.without_lo)))
        to_high = (hi < high) | ((hi == high) & (not asked.without_hi))
        meets_low = (hi > low) | ((hi == low) & (not asked.without_lo))
        meets_high = (lo < high) | ((lo == high) & ~levels.above & (not asked.without_hi))
    from_low |= np.isneginf(low)
    to_high |= np.isposinf(high)
    certain = given & from_low & to_high
    possible = given & meets_low & meets_high & (low <= high)
    share = np.where(
        certain, 1.0, np.where(possible, _compute_overlap(levels, asked, low, high), 0.0)
    )
    return Met(certain.astype(np.float64), possible.astype(np.float64), share)


def _compute_overlap(
    levels: Levels, asked: Between, low: float, high: float
) -> NDArray[np.float64]:
    """The part of each level between two numbers; whole numbers are counted, others measured."""
    lo, hi = levels.spans()
    one = 0.0
    # Whole numbers from low to high are high - low + 1, hence the one in width and overlap.
    if levels.whole:
        one = 1.0
        low = np.floor(low) + 1 if asked.without_lo else np.ceil(low)
        high = np.ceil(high) - 1 if asked.without_hi else np.floor(high)
    shared = np.minimum(hi, high) - np.maximum(lo, low) + one
    width = hi - lo + one
    # A value has no width: it is met as a whole or not at all.
    point = (lo >= low) & (lo <= high)
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(width > 0, shared / width, point)
    # One group of all numbers has no width: nothing is known.
    return np.where(np.isnan(width), 0.5, np.clip(part, 0.0, 1.0))


def read_quantity(levels: Levels, value: Any) -> float:
    """A number, or the days of a date, however it is written."""
    kind, meant = find_meaning(value) or ("", value)
    if levels.kind == "date" and kind == "moment" and meant.time() == dt.time():
        return convert_to_number(meant.date(), "date")
    if levels.kind != "date" and kind == "number" and not isinstance(value, str):
        return float(meant)
    wanted = (
        "dates; give a datetime.date, or its text such as '2024-03-05'"
        if levels.kind == "date"
        else "numbers; give a number"
    )
    raise ReleaseError(f"column {levels.name!r} holds {wanted}")
