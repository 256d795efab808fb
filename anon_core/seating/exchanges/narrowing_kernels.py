"""Narrow rows: drop a hidden feature of a row, whose holders exchange their shares for others."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel
from anon_core.jit.lanes import lowest_lane
from anon_core.seating.exchanges.counting_kernels import (
    compute_exchange_loss,
    compute_newcomer_loss,
    fits_row,
    price_of,
    replace_holder,
)
from anon_core.seating.exchanges.swapping_kernels import ListedRows, may_hold, note_move, shares_in

_ONE = np.uint64(1)
NOWHERE = np.int64(-1)
_SCATTER = 40503  # near 2^16 by the golden ratio: its multiples lie far apart


class Scope(NamedTuple):
    """What an exchange may touch.

    Attributes
    ----------
    label : int32 (n,)
        Part of each row; shares are exchanged within a part.
    fitting : ListedRows
        Rows of the part that a class fits.
    near : ListedRows
        Rows of the nearest classes, of any part.
    looks : int64
        Fitting rows that are looked at for a share.
    paid : int64
        Shares that may cause a loss elsewhere for one feature.
    """

    label: NDArray[np.int32]
    fitting: ListedRows
    near: ListedRows
    looks: np.int64
    paid: np.int64


@kernel
def list_fitting_rows_of_part(rows, most, features, hides, start, listed):
    """List for each class up to `most` of these rows that it fits, each from another one on.

    start int64 (C + 1,): filled in; listed int32 (C most,). A class that has start[c] < 0 before
    lists none. Returns how many rows are listed.
    """
    number, found = len(rows), np.int64(0)
    for c in range(len(start) - 1):
        wanted, room = start[c] >= 0, found + most
        start[c] = found
        if not wanted:
            continue
        at = c * _SCATTER % number
        for _ in range(number):
            r = rows[at]
            at = at + 1 if at + 1 < number else 0
            if fits_row(c, r, features, hides[r]):
                listed[found] = r
                found += 1
                if found == room:
                    break
    start[len(start) - 1] = found
    return found


@kernel
def exchange_shares(r, mine, q, theirs, features, counted, parties, inside):
    """Exchange a share of row r for one of row q; inside int32 (C,): shares of row r by party."""
    c, d = counted.holders[r, mine], counted.holders[q, theirs]
    replace_holder(r, mine, d, features, counted)
    replace_holder(q, theirs, c, features, counted)
    inside[parties.party[c]] -= 1
    inside[parties.party[d]] += 1
    note_move(c, r, q, parties)
    note_move(d, q, r, parties)


@kernel
def may_exchange(r, c, q, d, parties, inside):
    """Whether class d of row q may take a share of row r for one that class c has of it."""
    same = parties.party[c] == parties.party[d]
    there = inside[parties.party[d]] - np.int64(same)
    return there < parties.limit[d] and may_hold(r, q, d, parties)


@kernel
def find_free_exchange(r, c, allowed, features, counted, parties, scope, inside):
    # allowed uint64 (words,): what row r may hide
    """A row that class c fits and a share of it whose holder fits row r: no row loses more."""
    holders, begin = counted.holders, scope.fitting.start[c]
    number = scope.fitting.start[c + 1] - begin
    at = r * _SCATTER % max(number, 1)
    for _ in range(min(number, scope.looks)):
        q = np.int64(scope.fitting.rows[begin + at])
        at = at + 1 if at + 1 < number else 0
        if q == r or not fits_row(c, q, features, counted.hides[q]):
            continue
        for share in range(1, holders.shape[1]):
            d = holders[q, share]
            if d == c or not fits_row(d, r, features, allowed):
                continue
            if not may_exchange(r, c, q, d, parties, inside):
                continue
            same = np.int64(parties.party[c] == parties.party[d])
            full = shares_in(q, c, holders, parties.party) - same >= parties.limit[c]
            if full or not may_hold(q, r, c, parties):
                break
            return q, np.int64(share)
    return NOWHERE, NOWHERE


@kernel
def find_cheapest_exchange(r, c, feature, most, features, counted, parties, scope, inside):
    """The exchange of class c in row r, with one that needs no `feature` there, that loses least.

    Returns the loss beside that feature's, the row and the share; no row if it is `most` or more.
    """
    holders, least, row, theirs = counted.holders, most, NOWHERE, NOWHERE
    w, bit = feature >> 6, _ONE << np.uint64(feature & 63)
    for place in range(scope.near.start[c], scope.near.start[c + 1]):
        q = np.int64(scope.near.rows[place])
        if q == r or scope.label[q] != scope.label[r]:
            continue
        if compute_newcomer_loss(q, c, 2 * most, features, counted) >= 2 * most:
            continue
        inner = shares_in(q, c, holders, parties.party)
        if inner > parties.limit[c] or not may_hold(q, r, c, parties):
            continue
        for share in range(1, holders.shape[1]):
            d = holders[q, share]
            if (features.classes[d, w] ^ features.rows[r, w]) & bit or d == c:
                continue
            loss = compute_exchange_loss(r, c, d, feature, features, counted)
            if loss >= least:
                continue
            loss += compute_exchange_loss(q, d, c, NOWHERE, features, counted)
            same = np.int64(parties.party[c] == parties.party[d])
            if loss >= least or inner - same >= parties.limit[c]:
                continue
            if may_exchange(r, c, q, d, parties, inside):
                least, row, theirs = loss, q, np.int64(share)
    return least, row, theirs


@kernel
def drop_feature(r, feature, gain, features, counted, parties, scope, inside, allowed, moves):
    # allowed uint64 (words,), moves int64 (D, 3): scratch
    """Drop a hidden feature of row r if the exchanges lose less than `gain`."""
    w, bit = feature >> 6, _ONE << np.uint64(feature & 63)
    made, loss, paid = 0, np.int64(0), np.int64(0)
    for share in range(1, counted.holders.shape[1]):
        c = counted.holders[r, share]
        if (features.classes[c, w] ^ features.rows[r, w]) & bit == 0:
            continue
        allowed[:] = counted.hides[r]
        allowed[w] &= ~bit
        q, theirs = find_free_exchange(r, c, allowed, features, counted, parties, scope, inside)
        if q < 0 and paid < scope.paid:
            more, q, theirs = find_cheapest_exchange(
                r, c, feature, gain - loss, features, counted, parties, scope, inside
            )
            paid += 1
            loss += more
        if q < 0:
            # So much that it does not pay: what was exchanged so far is taken back.
            loss = gain
            break
        exchange_shares(r, share, q, theirs, features, counted, parties, inside)
        moves[made, 0], moves[made, 1], moves[made, 2] = share, q, theirs
        made += 1
    if loss < gain:
        return
    for move in range(made - 1, -1, -1):
        share, q, theirs = moves[move]
        exchange_shares(r, share, q, theirs, features, counted, parties, inside)


@kernel
def choose_feature(r, least, features, counted, tried):
    # tried uint64 (words,)
    """The hidden feature of row r that saves most for each holder that needs it, and its price.

    -1 if none saves more than `least` for each.
    """
    best, feature, needed = least, NOWHERE, np.int64(1)
    for w in range(features.rows.shape[1]):
        word = counted.hides[r, w] & ~tried[w]
        while word:
            b = lowest_lane(word)
            word &= word - _ONE
            price = price_of(w, b, features.rows[r, w], features)
            count = np.int64(counted.counts[r, 64 * w + b])
            # A blank feature counts as many as there can be shares, so it is never dropped. Ratios
            # are compared by products of whole numbers: no rounding decides.
            if count < counted.holders.shape[1] and price * needed > best * count:
                best, feature, needed = price, np.int64(64 * w + b), count
    return feature, best


@kernel
def narrow_part(rows, least, features, counted, parties, scope):
    """Drop hidden features of these rows that save more than `least` for each holder that moves."""
    shares, words = counted.holders.shape[1], features.rows.shape[1]
    inside = np.zeros(len(features.classes), dtype=np.int32)
    allowed, tried = np.empty((2, words), dtype=np.uint64)
    moves = np.empty((shares, 3), dtype=np.int64)
    for r in rows:
        tried[:] = 0
        for share in range(shares):
            inside[parties.party[counted.holders[r, share]]] += 1
        while True:
            feature, price = choose_feature(r, least, features, counted, tried)
            if feature < 0:
                break
            tried[feature >> 6] |= _ONE << np.uint64(feature & 63)
            drop_feature(
                r, feature, price, features, counted, parties, scope, inside, allowed, moves
            )
        for share in range(shares):
            inside[parties.party[counted.holders[r, share]]] = 0
