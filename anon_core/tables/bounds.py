"""Levels as typed values: the bounds of numbers and dates, the members of sets of categories.

The anonymizers' side; auditors have their own.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from math import ceil, floor, inf, isfinite

from anon_core.tables.categories import OTHER_CATEGORY
from anon_core.tables.records import Attribute

LevelEnd = float | None  # None: open
LevelEnds = tuple[LevelEnd, LevelEnd]


def list_level_ends(attribute: Attribute, *, whole: bool) -> list[LevelEnds]:
    """The least and the greatest value of each level but the missing one.

    Parameters
    ----------
    attribute : Attribute
        Of numbers or dates.
    whole : bool
        Whether values are whole numbers or days. Then both bounds are included, and whole. Else
        the lower bound of a group of numbers is excluded.
    """
    if attribute.levels == attribute.has_missing:
        return []
    if attribute.binned:
        # An edge belongs to the group below it: the group above begins at the next whole number.
        sides = pairwise([-inf, *attribute.edges, inf])
        return [
            (_round_side(low, whole, _next_whole), _round_side(high, whole, floor))
            for low, high in sides
        ]
    spans = [value if isinstance(value, tuple) else (value, value) for value in attribute.values]
    return [(_round_side(low, whole, ceil), _round_side(high, whole, floor)) for low, high in spans]


def excludes_lower(attribute: Attribute, *, whole: bool) -> bool:
    """Whether the lower bound of a level is not in it."""
    return attribute.binned and not whole


def list_level_members(attribute: Attribute) -> list[str | None]:
    r"""The levels of a column of text, as lists hold them; None for a missing value.

    A category is its own name. Beside the level of all other categories, ``(other)``, a category of
    that name has a backslash before it.
    """
    first, end = int(attribute.has_missing), attribute.levels - attribute.has_other
    named = list(attribute.labels[first:end])
    if attribute.has_other:
        # One more backslash for each such text: a category named `\(other)` stays another text.
        named = ["\\" + text if re.fullmatch(r"\\*\(other\)", text) else text for text in named]
    return [None] * first + named + [OTHER_CATEGORY] * attribute.has_other


def _round_side(side: float, whole: bool, rounded: Callable[[float], int]) -> LevelEnd:
    if not isfinite(side):
        return None
    return rounded(side) if whole else side + 0.0  # no negative zero


def _next_whole(edge: float) -> int:
    return floor(edge) + 1
