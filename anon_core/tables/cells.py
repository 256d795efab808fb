"""Masked records as cells of text. The makers' side; auditors have their own parser.

A masked one-hot attribute is written as a value set, a masked thermometer as an interval. The text
of a group of numbers is an interval itself.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anon_core.tables.categories import OTHER
from anon_core.tables.encoding import MISSING, distinct_columns, features_of
from anon_core.tables.records import Attribute, BinaryTable

ALL = "*"


def write_cells(table: BinaryTable, hidden: NDArray[np.uint64]) -> dict[str, NDArray[np.object_]]:
    """Write each record's masked quasi-identifiers as text.

    Parameters
    ----------
    table : BinaryTable
    hidden : uint64 (n, words)

    Returns
    -------
    dict of str to object (n,)
        Exact value, value set ``A|B|C``, interval ``lo..hi``, or ``*``.
    """
    cells = {}
    for index, attribute in enumerate(table.codebook.attributes):
        flags = features_of(table.codebook, index, hidden)
        # Equal pairs (level, pattern) share one text.
        pattern = np.vstack([table.codes[index], np.packbits(flags, axis=1).T])
        kind, first = distinct_columns(pattern)
        labels = label_texts(attribute)
        texts = [
            _cell(attribute, labels, int(table.codes[index, row]), flags[row]) for row in first
        ]
        cells[attribute.name] = np.array(texts, dtype=object)[kind]
    return cells


def _cell(attribute: Attribute, texts: Sequence[str], code: int, hidden: NDArray[np.bool_]) -> str:
    if not hidden.any():
        return texts[code]
    if hidden.all():
        return ALL
    if attribute.ordinal:
        low, high = code, code
        while low > 0 and hidden[low - 1]:
            low -= 1
        while high < attribute.levels - 1 and hidden[high]:
            high += 1
        return f"{_ends(texts[low])[0]}..{_ends(texts[high])[1]}" if low < high else texts[code]
    if not hidden[code]:  # the one bit that is set is shown
        return texts[code]
    return "|".join(texts[level] for level in np.flatnonzero(hidden).tolist())


def _ends(text: str) -> tuple[str, str]:
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
    named = [_escape(label) for label in attribute.labels[first:end]]
    if attribute.has_other:
        named = ["\\" + text if text == OTHER else text for text in named]
    return [MISSING] * first + named + [OTHER] * attribute.has_other


def _escape(label: str) -> str:
    if label == "":
        return "\\_"
    if label == MISSING:
        return "\\" + label
    text = re.sub(r"([\\|*])", r"\\\1", label)
    return re.sub(r"^\.|\.\Z|\.(?=\.)|(?<=\.)\.", r"\\.", text)
