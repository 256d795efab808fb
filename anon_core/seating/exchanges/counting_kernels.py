"""Rows as features: how many holders need each hidden, and what the rows lose by them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import inlined, kernel, parallel_kernel
from anon_core.jit.lanes import lowest_lane

_ONE = np.uint64(1)


class Features(NamedTuple):
    """What records show and what it costs to hide it, feature by feature.

    Attributes
    ----------
    rows : uint64 (n, words)
        Features of each row's own record.
    classes : uint64 (C, words)
        Features of each class.
    price : int64 (64 words,)
        What a row loses by a hidden feature.
    own : int64 (64 words,)
        The same for a level of a category that the row's own record has.
    category : uint64 (words,)
        Which features are levels of categories.
    """

    rows: NDArray[np.uint64]
    classes: NDArray[np.uint64]
    price: NDArray[np.int64]
    own: NDArray[np.int64]
    category: NDArray[np.uint64]


class CountedRows(NamedTuple):
    """Who holds the rows, and how many of them need each feature hidden.

    Attributes
    ----------
    holders : int32 (n, D)
        By row and share a class; the first share is the own record's and stays.
    counts : uint16 (n, 64 words)
        Holders that differ from the own record in each feature; more where it is hidden anyhow.
    hides : uint64 (n, words)
        Features whose count is not 0.
    """

    holders: NDArray[np.int32]
    counts: NDArray[np.uint16]
    hides: NDArray[np.uint64]


@kernel
def price_of(w, b, row, features):
    """What a row loses by a hidden feature, bit b of word w; row: that word of its own record."""
    owns = (row & features.category[w]) >> np.uint64(b) & _ONE
    return features.own[64 * w + b] if owns else features.price[64 * w + b]


@parallel_kernel(lambda features: len(features.rows))
def count_features(begin, end, features, counted):
    """Count the holders of each row that differ from its own record; note what is hidden."""
    words = features.rows.shape[1]
    for r in range(begin, end):
        for share in range(1, counted.holders.shape[1]):
            c = counted.holders[r, share]
            for w in range(words):
                word = features.classes[c, w] ^ features.rows[r, w]
                while word:
                    counted.counts[r, 64 * w + lowest_lane(word)] += np.uint16(1)
                    word &= word - _ONE
        for w in range(words):
            hidden = np.uint64(0)
            for b in range(64):
                if counted.counts[r, 64 * w + b]:
                    hidden |= _ONE << np.uint64(b)
            counted.hides[r, w] = hidden


@kernel
def compute_rows_loss(features, counted):
    """What all rows lose."""
    total = np.int64(0)
    for r in range(len(features.rows)):
        for w in range(features.rows.shape[1]):
            word = counted.hides[r, w]
            while word:
                total += price_of(w, lowest_lane(word), features.rows[r, w], features)
                word &= word - _ONE
    return total


@inlined
def fits_row(c, r, features, hides):
    # hides uint64 (words,)
    """Whether class c fits row r where the row hides this."""
    fits = True
    for w in range(len(hides)):
        fits &= (features.classes[c, w] ^ features.rows[r, w]) & ~hides[w] == 0
    return fits


@kernel
def compute_newcomer_loss(r, c, most, features, counted):
    """What row r loses more if class c holds it, too; `most` or more if it is no less."""
    total = np.int64(0)
    for w in range(features.rows.shape[1]):
        word = (features.classes[c, w] ^ features.rows[r, w]) & ~counted.hides[r, w]
        while word and total < most:
            total += price_of(w, lowest_lane(word), features.rows[r, w], features)
            word &= word - _ONE
    return total


@kernel
def compute_exchange_loss(r, c, d, skip, features, counted):
    """What row r loses more if class c gives a share to class d; feature `skip` is not counted."""
    total = np.int64(0)
    for w in range(features.rows.shape[1]):
        row, gives = features.rows[r, w], features.classes[c, w]
        word = gives ^ features.classes[d, w]
        gives ^= row
        while word:
            b = lowest_lane(word)
            word &= word - _ONE
            count = counted.counts[r, 64 * w + b]
            # c and d differ here, so just one of them differs from the row.
            if gives >> np.uint64(b) & _ONE:
                if count == 1 and 64 * w + b != skip:
                    total -= price_of(w, b, row, features)
            elif count == 0 and 64 * w + b != skip:
                total += price_of(w, b, row, features)
    return total


@kernel
def replace_holder(r, share, d, features, counted):
    """Give a share of row r to class d."""
    c = counted.holders[r, share]
    counted.holders[r, share] = d
    for w in range(features.rows.shape[1]):
        row, gives = features.rows[r, w], features.classes[c, w]
        word = gives ^ features.classes[d, w]
        gives ^= row
        while word:
            b = lowest_lane(word)
            word &= word - _ONE
            bit, place = _ONE << np.uint64(b), 64 * w + b
            if gives & bit:
                counted.counts[r, place] -= np.uint16(1)
                if counted.counts[r, place] == 0:
                    counted.hides[r, w] &= ~bit
            else:
                counted.counts[r, place] += np.uint16(1)
                counted.hides[r, w] |= bit
