"""What rows and groups lose as records are added to them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import inlined, kernel
from anon_core.tables.loss import LossTable
from anon_core.tables.records import BinaryTable
from anon_core.tables.trees_kernels import join_features

PROHIBITIVE_LOSS = np.int64(2**62)  # more than anything loses


class LevelCells(NamedTuple):
    """The levels of records, and those that each row (or group) allows so far.

    Attributes
    ----------
    codes : int32 (n, attributes)
    low, high : int32 (rows, attributes)
        Least and greatest level of each row.
    member : bool (rows, levels)
        Levels of each row.
    offsets : int64 (attributes + 1,)
        First level of each attribute.
    ordinal : bool (attributes,)
    tree : bool (attributes,)
        Which have one: their rows allow the node that holds the least and the greatest level.
    bits : int64 (attributes + 1,)
        First feature of each attribute.
    parents : int32 (f,)
        See `Codebook.parents`.
    whole, step, position, first, node
        See `LossTable`.
    """

    codes: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    member: NDArray[np.bool_]
    offsets: NDArray[np.int64]
    ordinal: NDArray[np.bool_]
    tree: NDArray[np.bool_]
    bits: NDArray[np.int64]
    parents: NDArray[np.int32]
    whole: NDArray[np.int64]
    step: NDArray[np.int64]
    position: NDArray[np.int64]
    first: NDArray[np.int64]
    node: NDArray[np.int64]

    @classmethod
    def of(cls, table: BinaryTable, loss: LossTable) -> "LevelCells":
        """One row for each record, which allows the record's levels only."""
        book, n = table.codebook, table.records
        codes = np.ascontiguousarray(table.codes.T)
        member = np.zeros((n, int(book.level_offsets[-1])), dtype=np.bool_)
        member[np.arange(n)[:, None], codes + book.level_offsets[:-1]] = True
        levels = codes.copy(), codes.copy(), member
        tree = np.array([a.tree is not None for a in book.attributes], dtype=np.bool_)
        bits, costs = book.bit_offsets, (loss.whole, loss.step, loss.position, loss.first)
        return cls(
            *(codes, *levels, book.level_offsets, book.ordinal, tree, bits, book.parents),
            *costs,
            loss.node,
        )


@kernel
def loss_of_node(a, low, high, cells):
    """What a cell of attribute a loses that shows the node of its levels low and high."""
    start, end = cells.bits[a], cells.bits[a + 1]
    return cells.node[start + a + join_features(low, high, cells.parents[start:end])]


@inlined
def compute_level_increase(a, q, r, cells):
    """What row r loses more if it allows level q of attribute a, too."""
    at, low, high = cells.offsets[a], cells.low[r, a], cells.high[r, a]
    if cells.ordinal[a]:
        if low <= q <= high:
            return np.int64(0)
        now = min(cells.whole[a], cells.position[at + high] - cells.position[at + low])
        p, q = at + min(low, q), at + max(high, q)
        more = min(cells.whole[a], cells.position[q] - cells.position[p]) - now
    elif cells.tree[a]:
        if low <= q <= high:
            return np.int64(0)
        more = loss_of_node(a, min(low, q), max(high, q), cells)
        more -= loss_of_node(a, low, high, cells)
    elif cells.member[r, at + q]:
        return np.int64(0)
    else:
        more = cells.step[a]
    # One level so far, and another one is added; true of sets, too.
    return more + cells.first[a] if low == high else more


@inlined
def compute_loss_increase(v, r, best, cells):
    """What row r loses more if record v holds it, too; `best` or more if it is no less."""
    total = np.int64(0)
    for a in range(len(cells.ordinal)):
        total += compute_level_increase(a, cells.codes[v, a], r, cells)
        if total >= best:
            break
    return total


@kernel
def widen_row(v, r, cells):
    """Let row r allow the levels of record v."""
    for a in range(len(cells.ordinal)):
        widen_cell(a, cells.codes[v, a], r, cells)


@kernel
def widen_cell(a, q, r, cells):
    """Let row r allow level q of attribute a."""
    cells.low[r, a] = min(cells.low[r, a], q)
    cells.high[r, a] = max(cells.high[r, a], q)
    cells.member[r, cells.offsets[a] + q] = True


@kernel
def loss_of(r, cells):
    """What row r loses."""
    total = np.int64(0)
    for a in range(len(cells.ordinal)):
        at, low, high = cells.offsets[a], cells.low[r, a], cells.high[r, a]
        if cells.ordinal[a]:
            total += min(cells.whole[a], cells.position[at + high] - cells.position[at + low])
        elif cells.tree[a]:
            total += loss_of_node(a, low, high, cells)
        else:
            members = 0
            for q in range(at, cells.offsets[a + 1]):
                members += np.int64(cells.member[r, q])
            total += cells.step[a] * (members - 1)
        if low != high:
            total += cells.first[a]
    return total
