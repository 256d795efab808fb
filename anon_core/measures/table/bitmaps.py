"""Which items belong to which level, as bits."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.table.bitmap_kernels import mark_items


class Bitmap(NamedTuple):
    """Bits of items by level, and which words of them a search may leave out.

    Where near items are side by side, most words of a level are 0. One bit of a top says so of a
    word, so a search that meets several levels looks at few words.
    """

    words: NDArray[np.uint64]
    """uint64 (all levels, words): item i at bit i % 64 of word i // 64"""
    tops: NDArray[np.uint64]
    """uint64 (all levels, tops): word w at bit w % 64 of top w // 64; 0 where the word is 0"""

    @classmethod
    def of(cls, flags: Iterable[NDArray[np.bool_]]) -> "Bitmap":
        """Pack boolean blocks (levels, items), those of one attribute at a time."""
        return cls.of_words(pack_words(flags))

    @classmethod
    def of_cells(cls, cells: NDArray[np.int32], levels: Sequence[NDArray[np.bool_]]) -> "Bitmap":
        """Pack items by the levels that their cells allow.

        `cells` int32 (attributes, items) index the rows of `levels`, bool (distinct, levels of the
        attribute).
        """
        words = _make_words(cells, [allowed.shape[1] for allowed in levels])
        first = 0
        for cell, allowed in zip(cells, levels, strict=True):
            row, level = np.nonzero(allowed)
            start = np.searchsorted(row, np.arange(len(allowed) + 1))
            mark_items(cell, start, level + first, words)
            first += allowed.shape[1]
        return cls.of_words(words)

    @classmethod
    def of_levels(cls, levels: NDArray[np.int32], counts: NDArray[np.int64]) -> "Bitmap":
        """Pack items by the one level that each has of every attribute, int32 (attributes, items).

        `counts` int64 (attributes,): number of levels of each attribute.
        """
        words = _make_words(levels, counts.tolist())
        first = 0
        for level, count in zip(levels, counts.tolist(), strict=True):
            mark_items(level, np.arange(count + 1), np.arange(first, first + count), words)
            first += count
        return cls.of_words(words)

    @classmethod
    def of_words(cls, words: NDArray[np.uint64]) -> "Bitmap":
        """Add which words hold items."""
        return cls(words, pack_words([words != 0]))


def _make_words(cells: NDArray[np.int32], levels: Sequence[int]) -> NDArray[np.uint64]:
    return np.zeros((sum(levels), -(-cells.shape[1] // 64)), dtype=np.uint64)


def pack_words(flags: Iterable[NDArray[np.bool_]]) -> NDArray[np.uint64]:
    """Pack boolean blocks (levels, items) into uint64 (all levels, words).

    Item i is bit i % 64 of word i // 64.
    """
    blocks = [np.packbits(block, axis=1, bitorder="little") for block in flags]
    levels, length = sum(map(len, blocks)), blocks[0].shape[1]
    packed = np.zeros((levels, 8 * -(-length // 8)), dtype=np.uint8)
    np.concatenate(blocks, out=packed[:, :length])
    return packed.view("<u8")
