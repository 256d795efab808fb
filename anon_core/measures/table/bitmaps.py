"""Which items belong to which level, as bits."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_AT_ONCE = 2**16  # items whose flags are held at a time, a byte each; a multiple of 8


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
        items = cells.shape[1]
        count = sum(allowed.shape[1] for allowed in levels)
        packed = np.zeros((count, 8 * -(-items // 64)), dtype=np.uint8)
        first = 0
        for cell, allowed in zip(cells, levels, strict=True):
            # Levels side by side in memory: bits are packed along the items.
            flags, last = np.ascontiguousarray(allowed.T), first + allowed.shape[1]
            for at in range(0, items, _AT_ONCE):
                bits = np.packbits(flags[:, cell[at : at + _AT_ONCE]], axis=1, bitorder="little")
                packed[first:last, at // 8 : at // 8 + bits.shape[1]] = bits
            first = last
        return cls.of_words(packed.view("<u8"))

    @classmethod
    def of_levels(cls, levels: NDArray[np.int32], counts: NDArray[np.int64]) -> "Bitmap":
        """Pack items by the one level that each has of every attribute, int32 (attributes, items).

        `counts` int64 (attributes,): number of levels of each attribute.
        """
        items = np.arange(levels.shape[1])
        words = np.zeros((int(counts.sum()), -(-len(items) // 64)), dtype=np.uint64)
        bits = np.uint64(1) << (items & 63).astype(np.uint64)
        for level, offset in zip(levels, np.cumsum(counts) - counts, strict=True):
            at = (level + offset) * words.shape[1] + (items >> 6)
            np.bitwise_or.at(words.reshape(-1), at, bits)
        return cls.of_words(words)

    @classmethod
    def of_words(cls, words: NDArray[np.uint64]) -> "Bitmap":
        """Add which words hold items."""
        return cls(words, pack_words([words != 0]))


def pack_words(flags: Iterable[NDArray[np.bool_]]) -> NDArray[np.uint64]:
    """Pack boolean blocks (levels, items) into uint64 (all levels, words).

    Item i is bit i % 64 of word i // 64.
    """
    blocks = [np.packbits(block, axis=1, bitorder="little") for block in flags]
    levels, length = sum(map(len, blocks)), blocks[0].shape[1]
    packed = np.zeros((levels, 8 * -(-length // 8)), dtype=np.uint8)
    np.concatenate(blocks, out=packed[:, :length])
    return packed.view("<u8")
