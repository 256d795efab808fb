"""Exchange the shares of two rows: what is saved, and what is changed."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel

BYTE = np.uint64(255)


class Shared(NamedTuple):
    """Who holds the rows, and what that hides.

    Attributes
    ----------
    holders : int32 (n, D)
    hides : uint64 (n, words)
        Features in which a holder differs from the row's own record, and blank ones.
    once : uint64 (n, words)
        Those of them that only one share needs hidden.
    """

    holders: NDArray[np.int32]
    hides: NDArray[np.uint64]
    once: NDArray[np.uint64]


class Near(NamedTuple):
    """Rows that a class tries: rows[start[c] : start[c + 1]]."""

    start: NDArray[np.int64]
    rows: NDArray[np.int32]


class Prices(NamedTuple):
    """What hidden features cost.

    Attributes
    ----------
    sums : int64 (8 words, 256)
        By byte of a packed row and its value.
    cells : uint64 (cells, words)
        Features of each attribute whose first hidden feature costs more.
    first : int64 (cells,)
    """

    sums: NDArray[np.int64]
    cells: NDArray[np.uint64]
    first: NDArray[np.int64]


@kernel
def unite_row(r, shared, class_bits, bits, blank):
    """Find again what row r hides."""
    for w in range(bits.shape[1]):
        one, more = np.uint64(0), np.uint64(0)
        for share in range(shared.holders.shape[1]):
            differs = class_bits[shared.holders[r, share], w] ^ bits[r, w]
            more |= one & differs
            one |= differs
        shared.hides[r, w] = one | blank[r, w]
        shared.once[r, w] = one & ~more & ~blank[r, w]


@kernel
def unite(shared, class_bits, bits, blank):
    """Find what all rows hide."""
    for r in range(len(bits)):
        unite_row(r, shared, class_bits, bits, blank)


@kernel
def price(word, w, sums):
    """What the features of a word cost."""
    total = np.int64(0)
    for byte in range(8):
        total += sums[8 * w + byte, (word >> np.uint64(8 * byte)) & BYTE]
    return total


@kernel
def change(r, out, into, shared, class_bits, bits, prices):
    """How much more row r costs if a share goes from class `out` to class `into`."""
    words, total = bits.shape[1], np.int64(0)
    for w in range(words):
        freed = shared.once[r, w] & (class_bits[out, w] ^ bits[r, w])
        differs = class_bits[into, w] ^ bits[r, w]
        lost, added = freed & ~differs, differs & ~shared.hides[r, w]
        if lost:
            total -= price(lost, w, prices.sums)
        if added:
            total += price(added, w, prices.sums)
    for cell in range(len(prices.first)):
        before, after = np.uint64(0), np.uint64(0)
        for w in range(words):
            mine = shared.hides[r, w] & prices.cells[cell, w]
            before |= mine
            freed = shared.once[r, w] & (class_bits[out, w] ^ bits[r, w])
            after |= (mine & ~freed) | ((class_bits[into, w] ^ bits[r, w]) & prices.cells[cell, w])
        total += prices.first[cell] * (np.int64(after != 0) - np.int64(before != 0))
    return total


@kernel
def shares_in(r, c, holders):
    """Shares of row r that class c holds."""
    total = 0
    for share in range(holders.shape[1]):
        total += np.int64(holders[r, share] == c)
    return total


@kernel
def best_exchange(r, shared, class_bits, bits, limit, near, prices):
    """The exchange of a share of row r that saves most: what it costs, both shares, the other row.

    It costs 0 if none saves anything.
    """
    holders, words = shared.holders, bits.shape[1]
    shares, least, mine, theirs, row = holders.shape[1], np.int64(0), -1, -1, -1
    for share in range(1, shares):
        c = holders[r, share]
        alone = False
        for w in range(words):
            alone |= shared.once[r, w] & (class_bits[c, w] ^ bits[r, w]) != 0
        if not alone:
            continue
        for place in range(near.start[c], near.start[c + 1]):
            q = near.rows[place]
            if q == r or shares_in(q, c, holders) >= limit[c]:
                continue
            for other in range(1, shares):
                d = holders[q, other]
                if d == c:
                    continue
                cost = change(r, c, d, shared, class_bits, bits, prices)
                if cost >= 0:
                    continue
                cost += change(q, d, c, shared, class_bits, bits, prices)
                if cost < least and shares_in(r, d, holders) < limit[d]:
                    least, mine, theirs, row = cost, share, other, q
    return least, mine, theirs, row


@kernel
def exchange(shared, class_bits, bits, blank, limit, near, prices, dirty):
    # class_bits (C, words), bits, blank (n, words), limit (C,): shares of one row at most
    # dirty bool (n,): rows to look at; changed
    """Make, row by row, the exchanges that save most; returns their number."""
    made = 0
    for r in range(len(bits)):
        while dirty[r]:
            cost, mine, theirs, q = best_exchange(r, shared, class_bits, bits, limit, near, prices)
            if cost == 0:
                dirty[r] = False
                break
            c, d = shared.holders[r, mine], shared.holders[q, theirs]
            shared.holders[r, mine], shared.holders[q, theirs] = d, c
            unite_row(r, shared, class_bits, bits, blank)
            unite_row(q, shared, class_bits, bits, blank)
            dirty[q] = True
            made += 1
    return made
