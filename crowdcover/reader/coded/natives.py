"""Cells of data.parquet in native types: lists, intervals and lists of intervals.

docs/release.md has the format. A null cell allows everything.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcover.errors import ReleaseError
from crowdcover.reader.coded.levels import OTHER, Levels, convert_to_number

Bound = float | None


def masks_of(levels: Levels, cells: Sequence[Any]) -> NDArray[np.bool_]:
    """The levels that each cell allows, bool (cells, levels).

    Raises
    ------
    ReleaseError
        A cell is none of this column.
    """
    gone = np.flatnonzero(levels.missing)
    ends = _list_level_ends(levels)
    level_of = {name: level for level, name in enumerate(_list_level_members(levels, ends))}
    masks = np.zeros((len(cells), len(levels)), dtype=np.bool_)
    for row, cell in enumerate(cells):
        if cell is None:
            masks[row] = True
        elif isinstance(cell, Mapping):
            masks[row] = _find_interval_levels(levels, ends, cell, gone)
        else:
            found = [level_of.get(_read_member(levels, each), -1) for each in cell]
            if found and min(found) >= 0:
                masks[row, found] = True
    unread = int((~masks.any(axis=1)).sum())
    if unread:
        raise ReleaseError(
            f"{unread} different cells of column {levels.name!r} are none that its codebook "
            "allows; the data and codebook.json are not of one release: copy the folder again"
        )
    return masks


def _list_level_ends(levels: Levels) -> tuple[list[Bound], list[Bound]]:
    """The ends of each level as data.parquet shows them; None is open, or no number."""
    return (
        [float(each) if np.isfinite(each) else None for each in levels.lo],
        [float(each) if np.isfinite(each) else None for each in levels.hi],
    )


def _list_level_members(levels: Levels, ends: tuple[list[Bound], list[Bound]]) -> list[Any]:
    """Each level as a member of a list."""
    if levels.is_counted:
        pairs = zip(*ends, levels.missing, strict=True)
        return [None if gone else (lo, hi) for lo, hi, gone in pairs]
    # A category that reads as (other), with or without backslashes before it, gets one more: so the
    # level of all others stays the only (other).
    return [
        None
        if levels.missing[level]
        else "\\" + label
        if levels.others and level not in levels.others and label.lstrip("\\") == OTHER
        else label
        for level, label in enumerate(levels.labels)
    ]


def _read_member(levels: Levels, member: Any) -> Any:
    """A member of a list as `_list_level_members` has it; a pair of bounds for an interval."""
    if isinstance(member, Mapping):
        return _read_bound(levels, member["lo"]), _read_bound(levels, member["hi"])
    return member


def _read_bound(levels: Levels, value: Any) -> Bound:
    return None if value is None else convert_to_number(value, levels.kind)


def _find_interval_levels(
    levels: Levels,
    ends: tuple[list[Bound], list[Bound]],
    cell: Mapping[str, Any],
    gone: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """The levels of one interval: bool (levels,); none if its bounds are those of no level."""
    mask = np.zeros(len(levels), dtype=np.bool_)
    # Null means that the value may be missing or given.
    if cell["missing"] is not False:
        mask[gone] = True
    if cell["missing"] is True:
        return mask
    begins, stops = ends
    shift = len(gone)
    lo, hi = _read_bound(levels, cell["lo"]), _read_bound(levels, cell["hi"])
    if lo in begins[shift:] and hi in stops[shift:]:
        first = shift + begins[shift:].index(lo)
        # Searched from the end: the missing level is the first one, and its end is None, too.
        last = len(levels) - 1 - stops[::-1].index(hi)
        if first <= last:
            mask[first : last + 1] = True
            return mask
    return np.zeros_like(mask)
