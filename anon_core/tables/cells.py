"""Masked records as cells of text. The anonymizers' side; auditors have their own parser.

A masked one-hot attribute is written as a value set, or as the node of its tree; a masked
thermometer as an interval. The text of a group of numbers is an interval itself.
"""

import re
from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.tables.categories import OTHER_CATEGORY
from anon_core.tables.encoding import MISSING_CATEGORY, features_of, has_hidden_features
from anon_core.tables.orders import distinct_columns
from anon_core.tables.records import Attribute, BinaryTable

_ALL = "*"


class MaskedColumn(NamedTuple):
    """The masked cells of one attribute.

    Attributes
    ----------
    cell : unsigned int (n,)
        Number of each record's cell among the distinct ones, in as few bytes as these need.
    levels : list of (tuple of int) or None
        Levels that each distinct cell allows, increasing; None for ``*``.
    """

    cell: NDArray[np.unsignedinteger[Any]]
    levels: list[tuple[int, ...] | None]


def list_shown_cells(table: BinaryTable, hidden: NDArray[np.uint64]) -> list[MaskedColumn]:
    """The levels that each record's masked quasi-identifiers allow.

    Parameters
    ----------
    table : BinaryTable
    hidden : uint64 (n, words)
    """
    shown = []
    for index, attribute in enumerate(table.codebook.attributes):
        code = table.codes[index]
        masked = np.flatnonzero(has_hidden_features(table.codebook, index, hidden))
        # Flags take a byte for each feature, so they are unpacked for masked records only.
        flags = features_of(table.codebook, index, hidden[masked])
        # Equal pairs (level, pattern) share one cell.
        kind, first = distinct_columns(np.vstack([code[masked], np.packbits(flags, axis=1).T]))
        levels = [
            _find_allowed_levels(attribute, int(code[masked[row]]), flags[row]) for row in first
        ]
        every: list[tuple[int, ...] | None] = [(level,) for level in range(attribute.levels)]
        every += levels
        cell = code.astype(np.min_scalar_type(len(every)))
        # Numbers below `levels` are cells that show one level; masked patterns come after them.
        cell[masked] = attribute.levels + kind
        used = np.bincount(cell, minlength=len(every)) > 0
        place = (np.cumsum(used) - 1).astype(cell.dtype)
        shown.append(MaskedColumn(place[cell], list(compress(every, used))))
    return shown


def write_cells(table: BinaryTable, hidden: NDArray[np.uint64]) -> dict[str, NDArray[np.object_]]:
    """Write each record's masked quasi-identifiers as text.

    Returns
    -------
    dict of str to object (n,)
        Exact value, value set ``A|B|C``, interval ``lo..hi``, or ``*``.
    """
    return {
        attribute.name: np.array(cell_texts(attribute, shown.levels), dtype=object)[shown.cell]
        for attribute, shown in zip(
            table.codebook.attributes, list_shown_cells(table, hidden), strict=True
        )
    }


def cell_texts(attribute: Attribute, cells: Sequence[tuple[int, ...] | None]) -> list[str]:
    """The text of each cell, given as the levels that it allows."""
    texts = label_texts(attribute)
    return [_format_cell(attribute, texts, levels) for levels in cells]


def _find_allowed_levels(
    attribute: Attribute, code: int, hidden: NDArray[np.bool_]
) -> tuple[int, ...] | None:
    if not hidden.any():
        return (code,)
    if hidden.all():
        return None
    if attribute.ordinal:
        low, high = code, code
        # Feature j says that the level is above j. A shown one settles all hidden ones beyond
        # it, so the interval ends there.
        while low > 0 and hidden[low - 1]:
            low -= 1
        while high < attribute.levels - 1 and hidden[high]:
            high += 1
        return tuple(range(low, high + 1))
    if not hidden[code]:  # the one bit that is set is shown
        return (code,)
    # Levels whose bits are shown have 0 there, so the own level is one of the hidden ones.
    return tuple(np.flatnonzero(hidden[: attribute.levels]).tolist())


def _format_cell(attribute: Attribute, texts: Sequence[str], levels: tuple[int, ...] | None) -> str:
    if levels is None:
        return _ALL
    if len(levels) == 1:
        return texts[levels[0]]
    node = None if attribute.tree is None else attribute.tree.name_of(levels)
    if node is not None:
        return node_text(attribute.kind, node)
    if attribute.ordinal:
        return f"{_cut_interval(texts[levels[0]])[0]}..{_cut_interval(texts[levels[-1]])[1]}"
    return "|".join(texts[level] for level in levels)


def _cut_interval(text: str) -> tuple[str, str]:
    """Both ends of an interval, or a level's text as either end. No category holds a bare `..`."""
    low, dots, high = text.partition("..")
    return (low, high) if dots else (text, text)


def label_texts(attribute: Attribute) -> list[str]:
    r"""The levels as cells write them; ``| * \``, doubled and outer dots carry a backslash.

    Numbers and intervals of numbers stand as they are.
    """
    if attribute.kind in ("numeric", "date"):
        return list(attribute.labels)
    first, end = int(attribute.has_missing), attribute.levels - attribute.has_other
    named = [_escape_label(label) for label in attribute.labels[first:end]]
    if attribute.has_other:
        # Backslashes are doubled by now, so no other category has this text.
        named = ["\\" + text if text == OTHER_CATEGORY else text for text in named]
    return [MISSING_CATEGORY] * first + named + [OTHER_CATEGORY] * attribute.has_other


def node_text(kind: str, name: str) -> str:
    """An inner node as cells write it. Its stars need no backslash: it is not ``*`` alone."""
    if kind in ("numeric", "date"):
        return name
    return _escape_label(name).replace("\\*", "*")


def _escape_label(label: str) -> str:
    if label == "":
        return "\\_"
    if label == MISSING_CATEGORY:
        return "\\" + label
    # Before the dots: the backslashes that dots get must not be doubled.
    text = re.sub(r"([\\|*])", r"\\\1", label)
    # `\Z`, not `$`: `$` also matches before a line end at the end of the text.
    return re.sub(r"^\.|\.\Z|\.(?=\.)|(?<=\.)\.", r"\\.", text)
