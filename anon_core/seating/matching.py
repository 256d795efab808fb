"""Perfect matchings drawn at random inside a compatibility graph."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.seating.chances import SeatChances, list_seats, seat_chances
from anon_core.seating.filling_kernels import raise_flow, turn_around
from anon_core.seating.halving_kernels import (
    count_shares,
    drop_empty_edges,
    halve_counts,
    list_shares,
    pair_ends,
    toss_cycle_coins,
)
from anon_core.seating.reseating import reseat_people
from anon_core.seating.shares import SHARE
from anon_core.tables.orders import distinct_columns, order_columns
from anon_core.tables.records import BinaryTable, MaskedTable

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
    The holders of the rows are the chances of the seats. Where an anonymizer left none,
    `seat_chances` chooses them. The draw keeps every chance exactly. Where people own several
    records, seats are then exchanged until every crowd holds k people (`reseat_people`).

    Without holders, where records had rows before or classes are diverse, and equal rows are
    crowds, everyone stays among these: a group was chosen by what its own members carry.

    References
    ----------
    Doka et al., k-Anonymization by Freeform Generalization: publish a secret assignment.
    """
    table, holders = masked.table, masked.holders
    of_values = table.pasts is not None or table.diverse is not None
    if holders is None:
        if of_values and (group := _crowds_of_equal_rows(masked)) is not None:
            return _draw_in_groups(group, draw)
        return draw_by_chances(seat_chances(list_seats(masked, draw(table.records))), draw)
    if table.person is None:
        return draw_by_holders(table, holders, draw)
    seat = draw_by_holders(table, holders, draw)
    return reseat_people(table, masked.hidden, holders, seat, draw)


def _crowds_of_equal_rows(masked: MaskedTable) -> NDArray[np.int64] | None:
    """Number the groups of records with equal rows, int64 (n,); None if one is no crowd."""
    table = masked.table
    rows = np.concatenate([masked.hidden, table.bits & ~masked.hidden], axis=1)
    _, group, size = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    return None if (size[group] < table.k).any() else group


def _draw_in_groups(group: NDArray[np.int64], draw: Draw) -> NDArray[np.int64]:
    """Draw who sits in which row of the own group, each equally likely."""
    found = np.empty(len(group), dtype=np.int64)
    found[np.argsort(group, kind="stable")] = _shuffle_in_kinds(group, draw)
    return found


def draw_by_holders(
    table: BinaryTable, holders: NDArray[np.int32], draw: Draw
) -> NDArray[np.int64]:
    """A perfect matching that has each pair with the part of the row that the record holds.

    Parameters
    ----------
    table : BinaryTable
    holders : int32 (n, D)
        See `EvenRows`.
    draw : callable

    Returns
    -------
    int64 (n,)
        Row of each record.

    Notes
    -----
    The shares are a bipartite multigraph A of degree D; own shares are a perfect matching M in it.
    Let f = floor(2^16 / D) and s = 2^16 - f D. With the chance 2^16 / (D (f + s)), f A + s M of
    degree 2^16 is halved 16 times. Else the draw goes on with A - M, of degree D - 1, and another
    matching in it. Together each edge of A has the chance 1 / D: the first case gives
    (f A + s M) / 2^16, the second (A - M) / (D - 1), and M cancels out.
    """
    n, shares = holders.shape
    kind, order = _number_by_locality(table)
    size = np.bincount(kind)
    owner, row, count = _list_shares(kind, order, holders, len(size))
    matching = (kind[order[row]] == owner).astype(np.int32)
    while True:
        # f and s of the notes. A chance falls on f A + s M; else M is taken out, and the rest has
        # another.
        whole, rest = divmod(SHARE, shares)
        if _draw_below(shares * (whole + rest), draw) < SHARE:
            break
        count, shares = count - matching, shares - 1
        matching = _perfect_matching(owner, row, count, size, n)
    count *= whole  # in place, as edges are many: 2^16 at most
    matching *= rest
    count += matching
    del matching
    found = np.empty(n, dtype=np.int64)
    taken = _halve_to_matching(owner, row, count, (len(size), n), draw)
    del owner, row, count
    found[_shuffle_in_kinds(kind, draw)] = order[taken]
    return found


def _list_shares(
    kind: NDArray[np.int32], order: NDArray[np.int32], holders: NDArray[np.int32], kinds: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """The shares as a multigraph, its edges by class and then by row: class, row, multiplicity."""
    held = np.zeros(kinds, dtype=np.int64)
    count_shares(kind, holders, held)
    owner, row, count = (np.zeros(holders.size, dtype=np.int32) for _ in range(3))
    list_shares(kind, order, holders, np.cumsum(held) - held, owner, row, count)
    left = drop_empty_edges(owner, row, count)
    for each in (owner, row, count):
        each.resize(left, refcheck=False)  # a slice would keep all
    return owner, row, count


def _number_by_locality(table: BinaryTable) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number classes of equal records, and rows, so that near ones have near numbers.

    Shares lie among near records. Cycles of edges then stay in the cache: a million records are
    drawn in less than half the time.

    Returns
    -------
    kind : int32 (n,)
        Class of each record: equal levels, equal k, the same person.
    order : int32 (n,)
        The records by class; row `order[place]` is known as `place`.
    """
    same = [table.k, *table.codes[order_columns(table.codebook)]]
    kind, _ = distinct_columns(np.vstack(same if table.person is None else [table.person, *same]))
    return kind.astype(np.int32), np.argsort(kind, kind="stable").astype(np.int32)


def _draw_below(end: int, draw: Draw) -> int:
    """A whole number below `end` <= 2^32, each equally likely."""
    while True:
        word = int(draw(1)[0])
        # Words of the last, incomplete run of `end` numbers would favour small ones.
        if word < 2**32 - 2**32 % end:
            return word % end


def _perfect_matching(
    owner: NDArray[np.int32],
    row: NDArray[np.int32],
    count: NDArray[np.int32],
    size: NDArray[np.int64],
    rows: int,
) -> NDArray[np.int32]:
    """A perfect matching in a regular multigraph, as multiplicities of its edges (by owner)."""
    indptr = np.searchsorted(owner, np.arange(len(size) + 1))
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
    slot, other = np.empty((2, len(row)), dtype=np.int32)
    held = np.zeros(len(row), dtype=np.int32)
    turn_around(indptr, row, start, slot, other)
    # A regular bipartite multigraph has a perfect matching (Hall), so the greatest flow is one.
    graph = indptr, row, count, held
    raise_flow(*graph, size.copy(), np.ones(rows, dtype=np.int64), start, slot, other)
    return held


def draw_by_chances(chances: SeatChances, draw: Draw) -> NDArray[np.int64]:
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
    taken = _halve_to_matching(owner, row, count, (len(seats.size), len(seats.row_size)), draw)
    # The members of each class, shuffled, take its seats in order.
    record, place = (
        _shuffle_in_kinds(seats.record_class, draw),
        _shuffle_in_kinds(seats.row_class, draw),
    )
    found = np.empty(len(record), dtype=np.int64)
    found[record[np.argsort(taken, kind="stable")]] = place
    return found


def _halve_to_matching(
    owner: NDArray[np.int32],
    row: NDArray[np.int32],
    count: NDArray[np.signedinteger[Any]],
    vertices: tuple[int, int],
    draw: Draw,
) -> NDArray[np.int32]:
    """Halve a multigraph of degree 2^16 until a matching is left; the rows of each owner in turn.

    Edges ascend by owner. They are overwritten.
    """
    for _ in range(SHARE.bit_length() - 1):
        count = halve_multiplicities(owner, row, count, vertices, draw)
        left = drop_empty_edges(owner, row, count)
        owner, row, count = owner[:left], row[:left], count[:left]
    return np.repeat(row, count)


def halve_multiplicities(
    owner: NDArray[np.int32],
    row: NDArray[np.int32],
    count: NDArray[np.signedinteger[Any]],
    vertices: tuple[int, int],
    draw: Draw,
) -> NDArray[np.signedinteger[Any]]:
    """Halve the multiplicities of the edges owner - row, so that each vertex keeps half its degree.

    All degrees are even. Fair coins round the halves of odd multiplicities.
    """
    # Degrees are even, so an even number of odd counts meet at each vertex: they pair up, and pairs
    # at both ends join into cycles.
    count = count.copy()
    odd, *ends = np.empty((3, len(count)), dtype=np.int32)
    m = halve_counts(owner, row, count, odd, *ends)
    if m:
        mates, order = np.empty((2, m), dtype=np.int32), np.empty(m, dtype=np.int32)
        for mate, vertex, number in zip(mates, ends, vertices, strict=True):
            pair_ends(vertex[:m], number, draw(m), order, mate)
        up = np.empty(m, dtype=np.int8)
        toss_cycle_coins(mates[0], mates[1], draw(-(-m // 32)), up)
        count[odd[:m]] += up
    return count


def _shuffle_in_kinds(kind: NDArray[np.signedinteger[Any]], draw: Draw) -> NDArray[np.int64]:
    """All indices, by kind, those of each kind in random order."""
    # Random numbers of 64 bits as sort keys: two are equal as good as never.
    order = np.argsort(draw(2 * len(kind)).view(np.uint64), kind="stable")
    return order[np.argsort(kind[order], kind="stable")]
