"""Exchange the shares of two rows: what is saved, and what is changed."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel
from anon_core.jit.lanes import lowest_lane

ONE, ANY = np.uint64(1), np.int64(2**62)


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
    weights : int64 (f,)
    cells : uint64 (cells, words)
        Features of each attribute whose first hidden feature costs more.
    first : int64 (cells,)
    """

    weights: NDArray[np.int64]
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
def without(r, c, shared, class_bits, bits, kept):
    """kept (words,) = what row r still hides if class c gives one share of it away.

    Returns whether that is less.
    """
    less = False
    for w in range(bits.shape[1]):
        freed = shared.once[r, w] & (class_bits[c, w] ^ bits[r, w])
        kept[w] = shared.hides[r, w] & ~freed
        less |= freed != 0
    return less


@kernel
def loss(r, c, kept, class_bits, bits, prices, most):
    """What row r costs more with class c than if it hides `kept` only; `most` or more if it is."""
    total = np.int64(0)
    for w in range(bits.shape[1]):
        word = (class_bits[c, w] ^ bits[r, w]) & ~kept[w]
        while word and total < most:
            total += prices.weights[64 * w + lowest_lane(word)]
            word &= word - ONE
    for cell in range(len(prices.first)):
        before, added = np.uint64(0), np.uint64(0)
        for w in range(bits.shape[1]):
            before |= kept[w] & prices.cells[cell, w]
            added |= (class_bits[c, w] ^ bits[r, w]) & prices.cells[cell, w]
        if before == 0 and added != 0:
            total += prices.first[cell]
    return total


@kernel
def shares_in(r, c, holders):
    """Shares of row r that class c holds."""
    total = 0
    for share in range(holders.shape[1]):
        total += np.int64(holders[r, share] == c)
    return total


@kernel
def best_exchange(r, shared, class_bits, bits, limit, near, prices, kept):
    # kept (2, words): scratch
    """The exchange of a share of row r that saves most: what it costs, both shares, the other row.

    It costs 0 if none saves anything. It saves in row r; others are found from the other row.
    """
    holders = shared.holders
    shares, least, mine, theirs, row = holders.shape[1], np.int64(0), -1, -1, -1
    for share in range(1, shares):
        c = holders[r, share]
        if not without(r, c, shared, class_bits, bits, kept[0]):
            continue
        gain = loss(r, c, kept[0], class_bits, bits, prices, ANY)
        for place in range(near.start[c], near.start[c + 1]):
            q = near.rows[place]
            if q == r or shares_in(q, c, holders) >= limit[c]:
                continue
            for other in range(1, shares):
                d = holders[q, other]
                if d == c:
                    continue
                cost = loss(r, d, kept[0], class_bits, bits, prices, gain) - gain
                if cost >= 0:
                    continue
                without(q, d, shared, class_bits, bits, kept[1])
                cost += loss(q, c, kept[1], class_bits, bits, prices, ANY)
                cost -= loss(q, d, kept[1], class_bits, bits, prices, ANY)
                if cost < least and shares_in(r, d, holders) < limit[d]:
                    least, mine, theirs, row = cost, share, other, q
    return least, mine, theirs, row


@kernel
def exchange(shared, class_bits, bits, blank, limit, near, prices, dirty):
    # class_bits (C, words), bits, blank (n, words), limit (C,): shares of one row at most
    # dirty bool (n,): rows to look at; changed
    """Make, row by row, the exchanges that save most; returns their number."""
    made, kept = 0, np.empty((2, bits.shape[1]), dtype=np.uint64)
    for r in range(len(bits)):
        while dirty[r]:
            cost, mine, theirs, q = best_exchange(
                r, shared, class_bits, bits, limit, near, prices, kept
            )
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
