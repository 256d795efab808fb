"""Which items belong to which level, as bits."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


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
        words = pack_words(flags)
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
