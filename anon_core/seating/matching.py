"""Perfect matchings drawn at random inside a compatibility graph."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.seating.chances import SeatChances, list_seats, seat_chances
from anon_core.seating.halving_kernels import pair_ends, toss
from anon_core.seating.levelling_kernels import SHARE
from anon_core.tables.records import MaskedTable

Draw = Callable[[int], NDArray[np.uint32]]


def random_matching(masked: MaskedTable, draw: Draw) -> NDArray[np.int64]:
    """Draw who sits in which row, so that everyone fits the row they get.

    Parameters
    ----------
    masked : MaskedTable
    draw : callable
        draw(count) returns the next `count` random 32-bit words, uint32. The same words give the
        same matching.

    Returns
    -------
    int64 (n,)
        Row of each record.

    Notes
    -----
    `seat_chances` chooses the chance of every seat, and `drawn` keeps it exactly.

    References
    ----------
    Doka et al., k-Anonymization by Freeform Generalization: publish a secret assignment.
    """
    return drawn(seat_chances(list_seats(masked, draw(masked.table.records))), draw)


def drawn(chances: SeatChances, draw: Draw) -> NDArray[np.int64]:
    """A perfect matching that has each pair with its chance, int64 (n,): row of each record.

    Notes
    -----
    Chances are whole multiples of 1 / 2^16. As multiplicities of edges they make a multigraph of
    degree 2^16. Halving it 16 times leaves a matching. A halving pairs edges of odd multiplicity at
    random at each end. Along each cycle of pairs, edges lose and gain one in turn, by a fair coin:
    the expected multiplicity of an edge is halved exactly, whatever the pairing. Time is O(pairs) a
    halving, memory 40 bytes a pair held. Equal records, and equal rows, are one vertex until the
    end; a random order then assigns them.
    """
    seats = chances.seats
    pairs = np.flatnonzero(chances.held)
    owner = (np.searchsorted(seats.indptr, pairs, side="right") - 1).astype(np.int32)
    row, count = seats.rows[pairs], chances.held[pairs]
    del pairs
    for _ in range(SHARE.bit_length() - 1):
        count = halved(owner, row, count, (len(seats.size), len(seats.row_size)), draw)
        stays = count > 0
        if not stays.all():
            owner, row, count = owner[stays], row[stays], count[stays]
    # The members of each class, shuffled, take its seats in order.
    record, place = _shuffled(seats.record_class, draw), _shuffled(seats.row_class, draw)
    seated = np.argsort(np.repeat(row, count), kind="stable")
    found = np.empty(len(record), dtype=np.int64)
    found[record[seated]] = place
    return found


def halved(
    owner: NDArray[np.int32],
    row: NDArray[np.int32],
    count: NDArray[np.signedinteger[Any]],
    vertices: tuple[int, int],
    draw: Draw,
) -> NDArray[np.signedinteger[Any]]:
    """Halve the multiplicities of the edges owner - row, so that each vertex keeps half its degree.

    All degrees are even. Fair coins round the halves of odd multiplicities.
    """
    odd = np.flatnonzero(count & 1)
    m = len(odd)
    count = count >> 1
    if m:
        mates, order = np.empty((2, m), dtype=np.int32), np.empty(m, dtype=np.int32)
        for mate, vertex, number in zip(mates, (owner[odd], row[odd]), vertices, strict=True):
            pair_ends(vertex, number, draw(m), order, mate)
        up = np.empty(m, dtype=np.int8)
        toss(mates[0], mates[1], draw(-(-m // 32)), up)
        count[odd] += up
    return count


def _shuffled(kind: NDArray[np.int64], draw: Draw) -> NDArray[np.int64]:
    """All indices, by kind, those of each kind in random order."""
    order = np.argsort(draw(2 * len(kind)).view(np.uint64), kind="stable")
    return order[np.argsort(kind[order], kind="stable")]
