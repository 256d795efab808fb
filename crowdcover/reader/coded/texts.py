r"""Cells of text: ``A``, ``A|B|C``, ``lo..hi``, a node, ``*``; docs/release.md has the grammar."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from crowdcover.errors import ReleaseError
from crowdcover.reader.coded.levels import MISSING, OTHER, Levels

_ALL, _EMPTY, DOTS = "*", "\\_", ".."
PART = re.compile(r"(?:[^\\|]|\\.)+", re.DOTALL)  # of a set: a backslash takes the next sign along


def format_level_texts(levels: Levels) -> list[str]:
    """The text of each level as it stands in a cell, with its backslashes."""
    if levels.is_counted:
        return list(levels.labels)
    texts = []
    for level, label in enumerate(levels.labels):
        if levels.missing[level] or level in levels.others:
            texts.append(label)
        elif levels.others and label == OTHER:
            texts.append("\\" + label)
        else:
            texts.append(escape_category(label))
    return texts


def escape_category(value: str) -> str:
    """A category as a cell writes it."""
    if value == "":
        return _EMPTY
    if value == MISSING:
        return "\\" + value
    text, last = "", len(value) - 1
    for at, sign in enumerate(value):
        dot = sign == "." and (at in (0, last) or "." in (value[at - 1], value[at + 1]))
        text += "\\" + sign if dot or sign in "|*\\" else sign
    return text


def masks_of(levels: Levels, texts: Sequence[str | None]) -> NDArray[np.bool_]:
    """The levels that each text allows, bool (texts, levels).

    Raises
    ------
    ReleaseError
        A text is no cell of this column.
    """
    names = format_level_texts(levels)
    level_of = {name: level for level, name in enumerate(names)}
    sides = [name.split(DOTS) if levels.is_counted else [name] for name in names]
    begins = {side[0]: level for level, side in enumerate(sides)}
    stops = {side[-1]: level for level, side in enumerate(sides)}
    nodes = {
        name if levels.is_counted else escape_category(name).replace("\\*", _ALL): slice(
            low, high + 1
        )
        for name, (low, high) in (levels.nodes or {}).items()
    }
    masks = np.zeros((len(texts), len(levels)), dtype=np.bool_)
    unread = 0
    for row, text in enumerate(texts):
        found: slice | list[int] | None = None
        if text == _ALL:
            found = slice(None)
        elif text in level_of:
            found = [level_of[text]]
        elif text in nodes or (levels.nodes is not None and not levels.sets):
            found = None if text is None else nodes.get(text)
        elif text is not None:
            found = (
                _parse_interval(text, begins, stops)
                if levels.ordinal
                else _parse_set(text, level_of)
            )
        if found is None:
            unread += 1
        else:
            masks[row, found] = True
    if unread:
        raise ReleaseError(
            f"{unread} different cells of column {levels.name!r} are none that its codebook "
            "allows; the data and codebook.json are not of one release: copy the folder again"
        )
    return masks


def _parse_interval(text: str, begins: Mapping[str, int], stops: Mapping[str, int]) -> slice | None:
    """The levels from one end to the other; an end may hold dots itself."""
    at = text.find(DOTS)
    while at >= 0:
        low, high = begins.get(text[:at]), stops.get(text[at + 2 :])
        if low is not None and high is not None and low <= high:
            return slice(low, high + 1)
        # One sign further, not two: of three dots, the first may belong to the lower end.
        at = text.find(DOTS, at + 1)
    return None


def _parse_set(text: str, level_of: Mapping[str, int]) -> list[int] | None:
    """The levels between bars without a backslash before them."""
    found = [level_of.get(part, -1) for part in _parse_parts(text)]
    return None if -1 in found else found


def _parse_parts(text: str) -> list[str]:
    """What stands between bars without a backslash before them; one part is empty in no cell."""
    if "\\" not in text:
        return text.split("|")
    parts = PART.findall(text)
    # findall skips what fits no part, such as an empty part or a last lone backslash: then signs
    # are missing from the sum.
    return parts if sum(map(len, parts)) + len(parts) - 1 == len(text) else [""]
