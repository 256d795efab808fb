"""Exchange the shares of two rows: what is saved, and what is changed."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.lanes import lowest_lane

_ONE, UNBOUNDED = np.uint64(1), np.int64(2**62)


class HeldRows(NamedTuple):
    """Who holds the rows, and what that hides.

    Attributes
    ----------
    holders : int32 (n, D)
    hides : uint64 (n, words)
        Features in which a holder differs from the row's own record, and blank ones.
    once : uint64 (n, words)
        Those of them that only one share needs hidden.
    relief : int32 (n, D)
        What a row costs less without the holder of each share.
    greatest : int32 (n,)
        The greatest relief of each row.
    """

    holders: NDArray[np.int32]
    hides: NDArray[np.uint64]
    once: NDArray[np.uint64]
    relief: NDArray[np.int32]
    greatest: NDArray[np.int32]


class ListedRows(NamedTuple):
    """Rows that a class tries: rows[start[c] : start[c + 1]]."""

    start: NDArray[np.int64]
    rows: NDArray[np.int32]


class FeaturePrices(NamedTuple):
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


class Parties(NamedTuple):
    """Who may hold how much.

    Attributes
    ----------
    limit : int64 (C,)
        Shares of one row that the party of each class may hold.
    party : int64 (C,)
    home : int64 (n,)
        The party of each row's own record; empty where each record is a person.
    start : int64 (C + 1,)
    held : int32 (n D,)
        Rows of the shares that class c holds: held[start[c] : start[c + 1]].
    of_home : int64 (C,)
        Shares that a class may hold of the rows of one party.
    """

    limit: NDArray[np.int64]
    party: NDArray[np.int64]
    home: NDArray[np.int64]
    start: NDArray[np.int64]
    held: NDArray[np.int32]
    of_home: NDArray[np.int64]


@kernel
def find_hidden_without(r, c, shared, class_bits, bits, kept):
    """kept (words,) = what row r still hides if class c gives one share of it away."""
    for w in range(bits.shape[1]):
        kept[w] = shared.hides[r, w] & ~(shared.once[r, w] & (class_bits[c, w] ^ bits[r, w]))


@kernel
def compute_share_loss(r, c, kept, class_bits, bits, prices, most):
    """What row r costs more with class c than if it hides `kept` only; `most` or more if it is."""
    total = np.int64(0)
    for w in range(bits.shape[1]):
        word = (class_bits[c, w] ^ bits[r, w]) & ~kept[w]
        while word and total < most:
            total += prices.weights[64 * w + lowest_lane(word)]
            word &= word - _ONE
    for cell in range(len(prices.first)):
        before, added = np.uint64(0), np.uint64(0)
        for w in range(bits.shape[1]):
            before |= kept[w] & prices.cells[cell, w]
            added |= (class_bits[c, w] ^ bits[r, w]) & prices.cells[cell, w]
        if before == 0 and added != 0:
            total += prices.first[cell]
    return total


@kernel
def unite_row(r, shared, class_bits, bits, blank, prices, kept):
    # kept (words,): scratch
    """Find again what row r hides, and what each holder costs it."""
    for w in range(bits.shape[1]):
        one, more = np.uint64(0), np.uint64(0)
        for share in range(shared.holders.shape[1]):
            differs = class_bits[shared.holders[r, share], w] ^ bits[r, w]
            more |= one & differs
            one |= differs
        shared.hides[r, w] = one | blank[r, w]
        shared.once[r, w] = one & ~more & ~blank[r, w]
    shared.greatest[r] = 0
    for share in range(1, shared.holders.shape[1]):
        c = shared.holders[r, share]
        find_hidden_without(r, c, shared, class_bits, bits, kept)
        shared.relief[r, share] = compute_share_loss(
            r, c, kept, class_bits, bits, prices, UNBOUNDED
        )
        shared.greatest[r] = max(shared.greatest[r], shared.relief[r, share])


@parallel_kernel(lambda bits: len(bits))
def unite_rows(begin, end, shared, class_bits, bits, blank, prices):
    """Find what all rows hide, and what each holder costs."""
    kept = np.empty(bits.shape[1], dtype=np.uint64)
    for r in range(begin, end):
        unite_row(r, shared, class_bits, bits, blank, prices, kept)


@kernel
def shares_in(r, c, holders, party):
    """Shares of row r that the party of class c holds."""
    total = np.int64(0)
    for share in range(holders.shape[1]):
        total += np.int64(party[holders[r, share]] == party[c])
    return total


@kernel
def may_hold(q, r, c, parties):
    """Whether class c may take a share of row q for one of row r, by the owners of these rows."""
    home = parties.home
    if len(home) == 0 or home[q] == home[r]:
        return True
    total = np.int64(0)
    for place in range(parties.start[c], parties.start[c + 1]):
        total += np.int64(home[parties.held[place]] == home[q])
    return total < parties.of_home[c]


@kernel
def note_move(c, r, q, parties):
    """Class c gives a share of row r for one of row q."""
    if len(parties.home):
        place = parties.start[c]
        while parties.held[place] != r:
            place += 1
        parties.held[place] = q


@kernel
def best_exchange(r, shared, class_bits, bits, parties, near, prices, kept):
    # kept (2, words): scratch
    """The exchange of a share of row r that saves most: what it costs, both shares, the other row.

    It costs 0 if none saves anything. It saves in row r; others are found from the other row. A row
    is left if what it must hide for the newcomer outweighs all that could be saved.
    """
    holders, party, people = shared.holders, parties.party, np.int64(len(parties.home) > 0)
    shares, least, mine, theirs, row = holders.shape[1], np.int64(0), -1, -1, -1
    for share in range(1, shares):
        c, gain = holders[r, share], np.int64(shared.relief[r, share])
        if gain == 0:
            continue
        find_hidden_without(r, c, shared, class_bits, bits, kept[0])
        for place in range(near.start[c], near.start[c + 1]):
            q = near.rows[place]
            if q == r:
                continue
            most = least + gain + shared.greatest[q]
            base = compute_share_loss(q, c, shared.hides[q], class_bits, bits, prices, most)
            if base >= most:
                continue
            full = shares_in(q, c, holders, party) - parties.limit[c]
            if full >= people or not may_hold(q, r, c, parties):
                continue
            for other in range(1, shares):
                d, saved = holders[q, other], gain + shared.relief[q, other]
                if d == c or least + saved <= base or full + np.int64(party[d] != party[c]) > 0:
                    continue
                dearest = min(gain, least + saved - base)
                cost = compute_share_loss(r, d, kept[0], class_bits, bits, prices, dearest)
                if cost >= dearest:
                    continue
                cost -= saved
                find_hidden_without(q, d, shared, class_bits, bits, kept[1])
                cost += compute_share_loss(q, c, kept[1], class_bits, bits, prices, UNBOUNDED)
                if cost >= least:
                    continue
                there = shares_in(r, d, holders, party) - np.int64(party[d] == party[c])
                if there < parties.limit[d] and may_hold(r, q, d, parties):
                    least, mine, theirs, row = cost, share, other, q
    return least, mine, theirs, row


@kernel
def exchange_row_shares(shared, class_bits, bits, blank, parties, near, prices, dirty):
    # class_bits (C, words), bits, blank (n, words)
    # dirty bool (n,): rows to look at; changed
    """Make, row by row, the exchanges that save most; returns their number."""
    made, kept = 0, np.empty((2, bits.shape[1]), dtype=np.uint64)
    for r in range(len(bits)):
        while dirty[r]:
            cost, mine, theirs, q = best_exchange(
                r, shared, class_bits, bits, parties, near, prices, kept
            )
            if cost == 0:
                dirty[r] = False
                break
            c, d = shared.holders[r, mine], shared.holders[q, theirs]
            shared.holders[r, mine], shared.holders[q, theirs] = d, c
            note_move(c, r, q, parties)
            note_move(d, q, r, parties)
            unite_row(r, shared, class_bits, bits, blank, prices, kept[0])
            unite_row(q, shared, class_bits, bits, blank, prices, kept[0])
            dirty[q] = True
            made += 1
    return made
