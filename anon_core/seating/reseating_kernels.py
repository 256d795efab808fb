"""Exchange seats until every crowd holds enough people, or values."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel

_STEPS = 4_000  # rows that a search for one cycle looks at; dense graphs have many more cycles


class Crowd(NamedTuple):
    """Rows that each class of records fits, and who demands how many people there.

    Attributes
    ----------
    start : int64 (C + 1,)
    rows : int32 (pairs,)
        Those of class c are rows[start[c] : start[c + 1]].
    row_start : int64 (n + 1,)
    of_row : int32 (pairs,)
        Classes whose crowds row r belongs to: of_row[row_start[r] : row_start[r + 1]].
    wanted : int64 (C,)
        How many different owners of records each crowd needs.
    """

    start: NDArray[np.int64]
    rows: NDArray[np.int32]
    row_start: NDArray[np.int64]
    of_row: NDArray[np.int32]
    wanted: NDArray[np.int64]


class Seating(NamedTuple):
    """Who sits where, and who may.

    Attributes
    ----------
    seat : int64 (n,)
        Row of each record.
    taken : int64 (n,)
        Record in each row.
    of : int64 (n,)
        Class of each record.
    owner : int64 (n,)
        What a crowd counts: the person of each record, or its value.
    home : int64 (n,)
        A record is at home in the rows made from records of its number.
    homeward : int64 (1,)
        How many more records the exchanges may bring home than away.
    holders : int32 (n, D)
        Classes that may sit in each row.
    start : int64 (C + 1,)
    held : int32 (n D,)
        Rows that class c may sit in: held[start[c] : start[c + 1]].
    """

    seat: NDArray[np.int64]
    taken: NDArray[np.int64]
    of: NDArray[np.int64]
    owner: NDArray[np.int64]
    home: NDArray[np.int64]
    homeward: NDArray[np.int64]
    holders: NDArray[np.int32]
    start: NDArray[np.int64]
    held: NDArray[np.int32]


@kernel
def count_lacking_owners(c, crowd, seats, stamp, token):
    """Owners that the crowd of class c lacks; `stamp` (owners,) takes a token never used."""
    found, wanted = np.int64(0), crowd.wanted[c]
    for place in range(crowd.start[c], crowd.start[c + 1]):
        owner = seats.owner[seats.taken[crowd.rows[place]]]
        if stamp[owner] != token:
            stamp[owner] = token
            found += 1
            if found == wanted:
                return np.int64(0)
    return wanted - found


@kernel
def count_all_lacking(crowd, seats, stamp, token, lacks):
    """lacks[c] = owners that each crowd lacks; returns the next token."""
    # A token for each count: stamps of earlier counts need not be cleared.
    for c in range(len(lacks)):
        lacks[c] = count_lacking_owners(c, crowd, seats, stamp, token + c)
    return token + len(lacks)


@kernel
def place_all(cycle, length, seats, forward):
    """Move the occupant of each row of a cycle to the next row, or back."""
    if forward:
        last = seats.taken[cycle[length - 1]]
        for step in range(length - 1, 0, -1):
            seats.taken[cycle[step]] = seats.taken[cycle[step - 1]]
        seats.taken[cycle[0]] = last
    else:
        first = seats.taken[cycle[0]]
        for step in range(length - 1):
            seats.taken[cycle[step]] = seats.taken[cycle[step + 1]]
        seats.taken[cycle[length - 1]] = first
    for step in range(length):
        seats.seat[seats.taken[cycle[step]]] = cycle[step]


@kernel
def at_home(cycle, length, seats):
    """How many rows of a cycle have an occupant at home."""
    found = np.int64(0)
    for step in range(length):
        found += seats.home[seats.taken[cycle[step]]] == seats.home[cycle[step]]
    return found


@kernel
def try_cycle(cycle, length, crowd, seats, stamp, token, lacks, seen, mark):
    """Move a cycle if crowds then lack fewer owners in all; else leave all as it was.

    It is left, too, if it brings more records home than may come: full crowds are likelier with
    everyone at home, so that exchanges would raise the chance of the own rows above the law's.
    Returns whether it moved, and the next token and mark.
    """
    came = -at_home(cycle, length, seats)
    place_all(cycle, length, seats, True)
    came += at_home(cycle, length, seats)
    if came > seats.homeward[0]:
        place_all(cycle, length, seats, False)
        return False, token, mark
    gain, mark = np.int64(0), mark + 1
    for step in range(length):
        for place in range(crowd.row_start[cycle[step]], crowd.row_start[cycle[step] + 1]):
            c = crowd.of_row[place]
            if seen[c] != mark:
                seen[c] = mark
                gain += lacks[c] - count_lacking_owners(c, crowd, seats, stamp, token)
                token += 1
    if gain <= 0:
        place_all(cycle, length, seats, False)
        return False, token, mark
    seats.homeward[0] -= came
    for step in range(length):
        for place in range(crowd.row_start[cycle[step]], crowd.row_start[cycle[step] + 1]):
            c = crowd.of_row[place]
            lacks[c] = count_lacking_owners(c, crowd, seats, stamp, token)
            token += 1
    return True, token, mark


@kernel
def mend_crowd(c, length, pinned, crowd, seats, stamp, token, lacks, seen, mark):
    """Exchange seats along one cycle of `length` rows that begins in the crowd of class c.

    Each occupant moves to the next row, which it may sit in; `pinned` rows, bool (n,), stay as they
    are. Returns whether a cycle gave crowds more owners, and the next token and mark.
    """
    steps = 0
    cycle, at = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
    of, taken, holders = seats.of, seats.taken, seats.holders
    for place in range(crowd.start[c], crowd.start[c + 1]):
        cycle[0], depth = crowd.rows[place], 0
        if pinned[cycle[0]]:
            continue
        at[0] = seats.start[of[taken[cycle[0]]]]
        while depth >= 0 and steps < _STEPS:
            steps += 1
            here = of[taken[cycle[depth]]]
            if at[depth] == seats.start[here + 1]:
                depth -= 1
                continue
            row = np.int64(seats.held[at[depth]])
            at[depth] += 1
            fresh = not pinned[row]
            for step in range(depth + 1):
                fresh &= cycle[step] != row
            if not fresh:
                continue
            cycle[depth + 1] = row
            last = of[taken[row]]
            if depth + 2 < length:
                depth += 1
                at[depth] = seats.start[last]
                continue
            for share in range(holders.shape[1]):
                if holders[cycle[0], share] == last:
                    moved, token, mark = try_cycle(
                        cycle, length, crowd, seats, stamp, token, lacks, seen, mark
                    )
                    if moved:
                        return True, token, mark
                    break
    return False, token, mark


@kernel
def send_home(r, seats, pinned, seen, mark, came, queue):
    # pinned bool (n,); seen, came, queue int64 (n,): scratch; mark: never used in seen
    """Seat record r in its own row by the shortest cycle of rows that are not pinned.

    Each occupant on the way moves to a row that it may sit in. There is a cycle: the one by which
    everyone on it goes home.
    """
    queue[0], head, tail, goal = r, 0, 1, seats.seat[r]
    seen[r] = mark
    while seen[goal] != mark:
        row = queue[head]
        head += 1
        c = seats.of[seats.taken[row]]
        for at in range(seats.start[c], seats.start[c + 1]):
            further = np.int64(seats.held[at])
            if seen[further] != mark and not pinned[further]:
                seen[further], came[further], queue[tail] = mark, row, further
                tail += 1
    # Backwards along the path: record r leaves the row at its end, and each move frees the row
    # before.
    row = goal
    while row != r:
        seats.taken[row] = seats.taken[came[row]]
        seats.seat[seats.taken[row]] = row
        row = came[row]
    seats.taken[r], seats.seat[r] = r, r


@kernel
def exchange_cycles(order, longest, pinned, crowd, seats, stamp, token, lacks, seen, mark):
    """Exchange seats along cycles of 2 .. `longest` rows, as long as crowds gain owners.

    `order` (C,): classes in the order in which they are looked at. Returns the next token and mark.
    """
    length = 2
    while length <= longest and lacks.sum() > 0:
        done = False
        for c in order:
            moved = True
            while lacks[c] > 0 and moved:
                moved, token, mark = mend_crowd(
                    c, length, pinned, crowd, seats, stamp, token, lacks, seen, mark
                )
                done |= moved
        length = 2 if done else length + 1
    return token, mark


@kernel
def mix_all(order, longest, crowd, seats, stamp, lacks):
    # order (C,): classes in the order in which they are looked at; lacks (C,): filled
    """Exchange seats along cycles of 2 .. `longest` rows, as long as crowds gain owners."""
    token = count_all_lacking(crowd, seats, stamp, np.int64(1), lacks)
    seen, pinned = np.zeros(len(lacks), dtype=np.int64), np.zeros(len(seats.seat), dtype=np.bool_)
    exchange_cycles(order, longest, pinned, crowd, seats, stamp, token, lacks, seen, np.int64(0))


@kernel
def mend_all(order, longest, crowd, seats, stamp, lacks):
    # order (C,): classes in the order in which they are looked at; lacks (C,): filled
    """Exchange seats until no crowd lacks owners.

    Along cycles of 2 .. `longest` rows, as long as crowds gain owners. Where none helps a crowd,
    rows of as many owners as it needs, in which its class may sit, get their own records back, for
    good. Crowds that this leaves short exchange seats again.
    """
    token, n = count_all_lacking(crowd, seats, stamp, np.int64(1), lacks), len(seats.seat)
    seen, mark = np.zeros(len(lacks), dtype=np.int64), np.int64(0)
    pinned, passed = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.int64)
    came, queue, trips = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.int64(0)
    while lacks.sum() > 0:
        token, mark = exchange_cycles(
            order, longest, pinned, crowd, seats, stamp, token, lacks, seen, mark
        )
        for c in order:
            found, token = np.int64(0), token + 1
            for at in range(seats.start[c], seats.start[c + 1] if lacks[c] else seats.start[c]):
                r = np.int64(seats.held[at])
                if found == crowd.wanted[c] or stamp[seats.owner[r]] == token:
                    continue
                stamp[seats.owner[r]] = token
                found += 1
                if seats.taken[r] != r:
                    trips += 1
                    send_home(r, seats, pinned, passed, trips, came, queue)
                pinned[r] = True
        longest = min(longest, 3)  # longer ones seldom help beside rows that stay
        token = count_all_lacking(crowd, seats, stamp, token + 1, lacks)


@kernel
def label_components(holders, row_of, label):
    # holders int32 (n, D); row_of int32: by holder a row that it holds; label int32 (n,): filled
    """Label rows by the component of the graph of who may sit where: its first row."""
    for r in range(len(label)):
        label[r] = r
    for r in range(len(label)):
        for share in range(holders.shape[1]):
            a, b = np.int64(row_of[holders[r, share]]), np.int64(r)
            while label[a] != a:
                label[a] = label[label[a]]
                a = np.int64(label[a])
            while label[b] != b:
                label[b] = label[label[b]]
                b = np.int64(label[b])
            label[max(a, b)] = min(a, b)
    for r in range(len(label)):
        # Parents have smaller numbers, and those below r point to their roots by now.
        label[r] = label[label[r]]


@kernel
def keep_joined(indptr, found, label, row_of, rows, start):
    # indptr (C + 1,): room; found (C,): filled; label (n,) of rows, those of classes by `row_of`
    # rows: changed; start: filled
    """Close the gaps of lists, and drop rows of other components; returns what is left.

    Class c then has rows[start[c] : start[c + 1]].
    """
    at = 0
    for c in range(len(found)):
        for place in range(indptr[c], indptr[c] + found[c]):
            r = rows[place]
            if label[row_of[c]] == label[r]:
                # In place: `at` never passes `place`.
                rows[at] = r
                at += 1
        start[c + 1] = at
    return at
