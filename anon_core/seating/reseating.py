"""Crowds of people, or of values: exchange drawn seats so that crowds hold more of them."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anon_core.seating.chances import build_fitting_space
from anon_core.seating.filling_kernels import turn_around
from anon_core.seating.record_classes import RecordClasses
from anon_core.seating.reseating_kernels import (
    Crowd,
    Seating,
    keep_joined,
    label_seat_components,
    mend_all,
    mix_all,
)
from anon_core.seating.seats_kernels import list_fitting_rows
from anon_core.tables.records import BinaryTable

_ROOM = 16  # rows that a crowd lists for each person that it needs
_LONGEST, _SHORT = 6, 3  # rows of a cycle: where crowds must gain, and where they may
# Crowds that lack people are few if no more than one of so many. Exchanges that find few rows bring
# people home where many lack some; to list rows for all takes the square of the records.
_SELDOM = 100
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
    matching, so these rows are matchable, too. Where nearly all crowds have k people in the rows
    that their records hold, only those that lack some list others. Along cycles of 2 to `_LONGEST`
    rows, shorter ones first, each occupant moves to a row that it holds, if crowds then lack fewer
    people in all, and no more records have come into rows of their person than left them. Where
    none helps a crowd, rows of k people that its record holds get their own records back, for good,
    by shortest cycles.
    At home every crowd has k people, so this ends.
    """
    classes = RecordClasses.of_table(table)
    held = classes.of[holders].astype(np.int32)
    person = classes.party[classes.of]
    lists = _find_lacking(classes, held, person[np.argsort(seat)])
    if np.count_nonzero(lists) > len(classes) // _SELDOM:
        lists[:] = True
    crowd = _list_crowds(table, hidden, classes, held, classes.k, lists, within=True)
    return _exchange_seats(mend_all, _LONGEST, classes, crowd, held, seat, (person, 0), draw)


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
    The crowd is here all rows that a record fits, as far as they are listed.
    """
    classes = RecordClasses.of_table(table)
    held = classes.of[holders].astype(np.int32)
    wanted, lists = np.minimum(_VALUES, classes.k), np.ones(len(classes), dtype=np.bool_)
    crowd = _list_crowds(table, hidden, classes, held, wanted, lists, within=False)
    return _exchange_seats(
        mix_all, _SHORT, classes, crowd, held, seat, (value, table.records), draw
    )


def _exchange_seats(
    exchange: Callable[..., None],
    longest: int,
    classes: RecordClasses,
    crowd: Crowd,
    held: NDArray[np.int32],
    seat: NDArray[np.int64],
    counted: tuple[NDArray[np.int64], int],
    draw: Callable[[int], NDArray[np.uint32]],
) -> NDArray[np.int64]:
    """The seats after `mend_all` or `mix_all`, which look at the classes in random order.

    `counted`: what a crowd counts, and how many more records may come home than leave.
    """
    owner, homeward = counted
    who = seat.copy(), np.argsort(seat), classes.of, owner, classes.party[classes.of]
    seats = Seating(*who, np.array([homeward]), held, *classes.rows_held(held))
    order = np.argsort(draw(len(classes)), kind="stable")
    stamp = np.zeros(int(owner.max()) + 1, dtype=np.int64)
    lacks = np.empty(len(classes), dtype=np.int64)
    exchange(order, longest, crowd, seats, stamp, lacks)
    return seats.seat


def _list_held_rows(held: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of a class and a row that it holds, each once, ascending: the classes, and the rows."""
    n = len(held)
    owner, row = np.divmod(np.unique(held.astype(np.int64) * n + np.arange(n)[:, None]), n)
    return owner, row


def _find_lacking(
    classes: RecordClasses, held: NDArray[np.int32], occupant: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Classes whose rows, int32 (n, D), have fewer than k occupants: (n,) people, by row."""
    owner, row = _list_held_rows(held)
    people = int(occupant.max()) + 1
    found = np.unique(owner * people + occupant[row]) // people
    return np.bincount(found, minlength=len(classes)) < classes.k


def _list_crowds(
    table: BinaryTable,
    hidden: NDArray[np.uint64],
    classes: RecordClasses,
    held: NDArray[np.int32],
    wanted: NDArray[np.int64],
    lists: NDArray[np.bool_],
    *,
    within: bool,
) -> Crowd:
    """List the crowd of each class: rows that it holds, then others that it fits if it `lists` any.

    `within` its component only, where these are needed as matchable rows.
    """
    n, number = table.records, len(classes)
    space = build_fitting_space(table, hidden, classes.first, np.arange(n))
    owner, own = _list_held_rows(held)
    own_start = np.searchsorted(owner, np.arange(number + 1))
    room = np.maximum(np.diff(own_start), np.where(lists, _ROOM * classes.k, 0))
    indptr = np.concatenate([[0], np.cumsum(room)])
    rows, found = np.empty(indptr[-1], dtype=np.int32), np.empty(number, dtype=np.int64)
    begin = classes.first * 40503 % -(-n // 64)  # near 2^16 by the golden ratio: far apart
    list_fitting_rows(*space, begin, own_start, own, indptr, rows, found)
    label = np.zeros(number + n, dtype=np.int64)
    if within:
        label_seat_components(held, label)
    start = np.zeros(number + 1, dtype=np.int64)
    fits = rows[: keep_joined(indptr, found, label, rows, start)]
    row_start = np.concatenate([[0], np.cumsum(np.bincount(fits, minlength=n))])
    of_row = np.empty_like(fits)
    turn_around(start, fits, row_start, np.empty_like(fits), of_row)
    return Crowd(start, fits, row_start, of_row, wanted)
