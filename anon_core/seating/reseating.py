"""Crowds of people, or of values: exchange drawn seats so that crowds hold more of them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.seating.chances import build_fitting_space
from anon_core.seating.filling_kernels import turn_around
from anon_core.seating.record_classes import RecordClasses, number_classes
from anon_core.seating.reseating_kernels import (
    Crowd,
    Seating,
    keep_joined,
    label_components,
    mend_all,
    mix_all,
)
from anon_core.seating.seats_kernels import list_fitting_rows
from anon_core.tables.records import BinaryTable

_ROOM = 16  # rows that a crowd lists for each person that it needs
_LONGEST, _SHORT = 6, 3  # rows of a cycle: where crowds must gain, and where they may
AT_ONCE = 2**18  # rows whose crowds are listed at once, if components allow it
_VALUES = 2  # that a crowd shows if it can


def reseat_memory(table: BinaryTable, shares: int) -> int:
    """Return the bytes that `reseat_people` or `mix_values`, of rows with so many shares, holds.

    Who may sit in each row and where each class may sit take 64 bytes a share. The crowds take 12
    bytes for each of up to `_ROOM` k rows. A bitmap over the rows for each level finds them.
    """
    n, held = table.records, table.records * shares
    crowds = held + _ROOM * int(table.k.sum(dtype=np.int64))
    levels = int(table.codebook.level_offsets[-1]) * (n // 8 + 8)
    return 64 * held + 12 * crowds + levels + n * (16 * len(table.codebook.attributes) + 240)


def reseat_people(
    table: BinaryTable,
    hidden: NDArray[np.uint64],
    holders: NDArray[np.int32],
    seat: NDArray[np.int64],
    draw: Callable[[int], NDArray[np.uint32]],
) -> NDArray[np.int64]:
    """Exchange drawn seats until every crowd holds k people.

    Parameters
    ----------
    table : BinaryTable
        Whose people own several records.
    hidden : uint64 (n, words)
    holders : int32 (n, D)
        See `EvenRows`. At home, every record in its own row, each crowd has k people.
    seat : int64 (n,)
        Row of each record, one of those that it holds.
    draw : callable
        Random words decide which crowds are looked at first.

    Returns
    -------
    int64 (n,)
        Row of each record, one of those that it holds.

    Notes
    -----
    The crowd of a record: the rows that it holds, and others that it fits in the same component of
    the graph of holders, up to `_ROOM` k. In a component each pair that fits lies in some perfect
    matching, so these rows are matchable, too. Along cycles of 2 to `_LONGEST` rows, shorter ones
    first, each occupant moves to a row that it holds, if crowds then lack fewer people in all, and
    no more records have come into rows of their person than left them. Where none helps a crowd,
    rows of k people that its record holds get their own records back, for good, by shortest cycles.
    At home every crowd has k people, so this ends.

    Components have no row in common. Of more than `AT_ONCE` rows some components are looked at at a
    time: to list crowds takes the square of the rows.
    """

    def exchange_part(part: _Part) -> NDArray[np.int64]:
        classes = RecordClasses.of_table(part.table)
        person = classes.party[classes.of]
        return _exchange_seats(
            mend_all, _LONGEST, classes, classes.k, part, (person, 0), draw, within=True
        )

    return _exchange_by_components(table, hidden, holders, seat, exchange_part)


def mix_values(
    table: BinaryTable,
    hidden: NDArray[np.uint64],
    holders: NDArray[np.int32],
    seat: NDArray[np.int64],
    value: NDArray[np.int64],
    draw: Callable[[int], NDArray[np.uint32]],
) -> NDArray[np.int64]:
    """Exchange drawn seats so that fewer crowds show one value only. No mask changes.

    Parameters
    ----------
    table, hidden, holders, seat, draw
        As for `reseat_people`.
    value : int64 (n,)
        Number of the value of each record, from 0 to n.

    Returns
    -------
    int64 (n,)
        Row of each record, one of those that it holds.

    Notes
    -----
    As in `reseat_people`, along cycles of 2 and 3 rows; a crowd that no cycle helps stays as it is.
    The crowd is here all rows that a record fits, as far as they are listed: of more than `AT_ONCE`
    rows, those that are looked at together.
    """

    def exchange_part(part: _Part) -> NDArray[np.int64]:
        classes = RecordClasses.of_table(part.table)
        wanted, counted = np.minimum(_VALUES, classes.k), (value[part.rows], len(part.rows))
        return _exchange_seats(mix_all, _SHORT, classes, wanted, part, counted, draw, within=False)

    return _exchange_by_components(table, hidden, holders, seat, exchange_part)


class _Part(NamedTuple):
    """Some rows of a table that share no holder with others, ascending, as a table of their own."""

    rows: NDArray[np.int64]
    table: BinaryTable
    hidden: NDArray[np.uint64]
    holders: NDArray[np.int32]
    seat: NDArray[np.int64]


def _exchange_by_components(
    table: BinaryTable,
    hidden: NDArray[np.uint64],
    holders: NDArray[np.int32],
    seat: NDArray[np.int64],
    exchange_part: Callable[[_Part], NDArray[np.int64]],
) -> NDArray[np.int64]:
    """The seats after the exchanges of each part."""
    found, place = seat.copy(), np.empty(table.records, dtype=np.int32)
    for rows in _divide_by_components(table, holders):
        place[rows] = np.arange(len(rows))
        held, sits = place[holders[rows]], place[seat[rows]].astype(np.int64)
        found[rows] = rows[exchange_part(_Part(rows, table.at(rows), hidden[rows], held, sits))]
    return found


def _divide_by_components(
    table: BinaryTable, holders: NDArray[np.int32]
) -> list[NDArray[np.int64]]:
    """Rows of some components each, ascending; all of a small table together."""
    if table.records <= AT_ONCE:
        return [np.arange(table.records)]
    of, first = number_classes(table)
    label = np.empty(table.records, dtype=np.int32)
    # The class of a record holds its row, so it holds the row of its first member.
    label_components(holders, first.astype(np.int32)[of], label)
    order = np.argsort(label, kind="stable")
    ends = np.flatnonzero(np.diff(label[order], append=-1)) + 1  # of components
    # The first end in each stretch of so many rows.
    cuts = ends[np.flatnonzero(np.diff(ends // AT_ONCE, prepend=0))]
    return [np.sort(rows) for rows in np.split(order, cuts) if len(rows)]


def _exchange_seats(
    exchange: Callable[..., None],
    longest: int,
    classes: RecordClasses,
    wanted: NDArray[np.int64],
    part: _Part,
    counted: tuple[NDArray[np.int64], int],
    draw: Callable[[int], NDArray[np.uint32]],
    *,
    within: bool,
) -> NDArray[np.int64]:
    """The seats after `mend_all` or `mix_all`, which look at the classes in random order.

    `counted`: what a crowd counts, and how many more records may come home than leave.
    """
    held = classes.of[part.holders].astype(np.int32)
    crowd = _list_crowds(part.table, part.hidden, classes, held, wanted, within=within)
    owner, homeward = counted
    who = part.seat.copy(), np.argsort(part.seat), classes.of, owner, classes.party[classes.of]
    seats = Seating(*who, np.array([homeward]), held, *classes.rows_held(held))
    order = np.argsort(draw(len(classes)), kind="stable")
    stamp = np.zeros(int(owner.max()) + 1, dtype=np.int64)
    lacks = np.empty(len(classes), dtype=np.int64)
    exchange(order, longest, crowd, seats, stamp, lacks)
    return seats.seat


def _list_crowds(
    table: BinaryTable,
    hidden: NDArray[np.uint64],
    classes: RecordClasses,
    held: NDArray[np.int32],
    wanted: NDArray[np.int64],
    *,
    within: bool,
) -> Crowd:
    """List the crowd of each class: rows that it holds, then others that it fits.

    `within` its component only, where these are needed as matchable rows.
    """
    n, number = table.records, len(classes)
    space = build_fitting_space(table, hidden, classes.first, np.arange(n))
    pairs = np.unique(held.astype(np.int64) * n + np.arange(n)[:, None])
    owner, own = np.divmod(pairs, n)
    own_start = np.searchsorted(owner, np.arange(number + 1))
    room = np.maximum(np.diff(own_start), _ROOM * classes.k)
    indptr = np.concatenate([[0], np.cumsum(room)])
    rows, found = np.empty(indptr[-1], dtype=np.int32), np.empty(number, dtype=np.int64)
    begin = classes.first * 40503 % -(-n // 64)  # near 2^16 by the golden ratio: far apart
    list_fitting_rows(*space, begin, own_start, own, indptr, rows, found)
    label, row_of = np.zeros(n, dtype=np.int32), classes.first.astype(np.int32)
    if within:
        label_components(held, row_of, label)
    start = np.zeros(number + 1, dtype=np.int64)
    fits = rows[: keep_joined(indptr, found, label, row_of, rows, start)]
    row_start = np.concatenate([[0], np.cumsum(np.bincount(fits, minlength=n))])
    of_row = np.empty_like(fits)
    turn_around(start, fits, row_start, np.empty_like(fits), of_row)
    return Crowd(start, fits, row_start, of_row, wanted)
