"""What rows hide where a cell shows one node of a tree."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from anon_core.tables.records import BinaryTable
from anon_core.tables.trees_kernels import close_cells


def close_trees(table: BinaryTable, hidden: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Let the cells of attributes with a tree show one node; other features stay; changed in place.

    `hidden` uint64 (n, words): features off the own path do not count. Where a cell may show a set
    it stays as it is: what the holders differ in.
    """
    book = table.codebook
    for place, attribute in enumerate(book.attributes):
        if attribute.tree is not None and not attribute.sets:
            start, spans = book.bit_offsets[place], attribute.tree.spans(attribute.levels)
            close_cells(table.codes[place], start, attribute.parents, spans, hidden)
    return hidden


def hide_off_path(table: BinaryTable, hidden: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hide the features of trees that are not those of the own path, too; uint64 (n, words).

    Without a tree it is what was hidden before.
    """
    book, mask = table.codebook, 0
    for attribute, (start, end) in zip(book.attributes, pairwise(book.bit_offsets), strict=True):
        if attribute.tree is not None:
            # Python's integers have any length: an attribute may span several words.
            mask += (1 << int(end)) - (1 << int(start))
    if not mask:
        return hidden
    packed = np.frombuffer(mask.to_bytes(8 * book.words, "little"), dtype="<u8")
    return hidden | (packed.astype(np.uint64) & ~table.bits)
