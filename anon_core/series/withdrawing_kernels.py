"""Grow the part of a cell that is withdrawn until it hides itself, party by party.

A party is a person with all records, or a record where each record is a person.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel


class HidingCell(NamedTuple):
    """Who hides among whom.

    Attributes
    ----------
    start, party : int64 (n + 1,), int32 (pairs,)
        Parties that own the matchable rows of record v: party[start[v] : start[v + 1]], each once.
    ways : int64 (pairs,)
        Histories of record v in which a row of that party is its own.
    back_start, back : int64 (parties + 1,), int32 (pairs,)
        The reverse: records that hide among party p.
    back_ways : int64 (pairs,)
        Histories of that record in which a row of party p is its own.
    own_start, own : int64 (parties + 1,), int32 (n,)
        Records of each party.
    of : int32 (n,)
        Party of each record.
    k : int32 (n,)
        Parties that a record must hide among.
    least : int64 (n,)
        Histories that it must keep.
    price : int64 (3,)
        Of a companion: for each that it will need in its turn, for each stayer who would then fall
        short, and what is taken off if it hides among the record that needs it.
    """

    start: NDArray[np.int64]
    party: NDArray[np.int32]
    ways: NDArray[np.int64]
    back_start: NDArray[np.int64]
    back: NDArray[np.int32]
    back_ways: NDArray[np.int64]
    own_start: NDArray[np.int64]
    own: NDArray[np.int32]
    of: NDArray[np.int32]
    k: NDArray[np.int32]
    least: NDArray[np.int64]
    price: NDArray[np.int64]


class Sides(NamedTuple):
    """Who goes.

    Attributes
    ----------
    goes : bool (parties,)
    among_going, among_staying : int32 (n,)
        Parties among whom a record hides that go, and that stay.
    ways_going, ways_staying : int64 (n,)
        Histories with their rows.
    """

    goes: NDArray[np.bool_]
    among_going: NDArray[np.int32]
    among_staying: NDArray[np.int32]
    ways_going: NDArray[np.int64]
    ways_staying: NDArray[np.int64]


class MatchableGraph(NamedTuple):
    """Matchable pairs of a cell.

    Attributes
    ----------
    start, row : int64 (n + 1,), int32 (pairs,)
        Rows that fit record v: row[start[v] : start[v + 1]]; row i is the one of record i.
    ways : int64 (pairs,)
        Histories of record v in which this row is its own.
    back_start, back : int64 (n + 1,), int32 (pairs,)
        The reverse: records that fit row i.
    """

    start: NDArray[np.int64]
    row: NDArray[np.int32]
    ways: NDArray[np.int64]
    back_start: NDArray[np.int64]
    back: NDArray[np.int32]


@kernel
def add_companions(cell, sides, stack, waiting):
    # stack (parties,): room; its first `waiting` go and are not looked after yet
    """Add companions until everyone who goes hides among k parties that go, and keeps histories.

    Stayers who fall short go, too. The party added last is looked after first, so that one crowd
    is complete before the next begins.
    """
    while waiting:
        waiting -= 1
        party = stack[waiting]
        for at in range(cell.own_start[party], cell.own_start[party + 1]):
            record = cell.own[at]
            while True:
                few = sides.among_going[record] < cell.k[record]
                if not (few or sides.ways_going[record] < cell.least[record]):
                    break
                best = np.int64(-1)
                least = np.int64(0)
                for place in range(cell.start[record], cell.start[record + 1]):
                    other = cell.party[place]
                    if not sides.goes[other] and (few or cell.ways[place] > 0):
                        costs = compute_party_cost(cell, sides, record, other)
                        if best < 0 or costs < least:
                            best, least = np.int64(other), costs
                if best < 0:  # everyone it could hide among goes
                    break
                waiting = move_party(cell, sides, best, stack, waiting)


@kernel
def compute_party_cost(cell, sides, record, party):
    """What it costs to let a party go: its further companions, and stayers who would fall short."""
    needed, short, mutual = np.int64(0), np.int64(0), False
    for at in range(cell.own_start[party], cell.own_start[party + 1]):
        other = cell.own[at]
        # Less 1: its own row is matchable to it, so it hides among its own party, too.
        needed += max(0, cell.k[other] - sides.among_going[other] - 1)
        for place in range(cell.start[other], cell.start[other + 1]):
            mutual |= cell.party[place] == cell.of[record]
    for at in range(cell.back_start[party], cell.back_start[party + 1]):
        other = cell.back[at]
        if not sides.goes[cell.of[other]] and cell.of[other] != party:
            left = sides.ways_staying[other] - cell.back_ways[at]
            short += sides.among_staying[other] <= cell.k[other] or left < cell.least[other]
    return cell.price[0] * needed + cell.price[1] * short - cell.price[2] * np.int64(mutual)


@kernel
def move_party(cell, sides, party, stack, waiting):
    """Let a party go, and every stayer who then falls short; returns how many wait on the stack."""
    sides.goes[party] = True
    # A party enters once, when it begins to go: room for all parties is enough.
    stack[waiting] = party
    first = waiting
    waiting += 1
    while first < waiting:
        moved = stack[first]
        first += 1
        for at in range(cell.back_start[moved], cell.back_start[moved + 1]):
            record = cell.back[at]
            sides.among_going[record] += 1
            sides.among_staying[record] -= 1
            sides.ways_going[record] += cell.back_ways[at]
            sides.ways_staying[record] -= cell.back_ways[at]
            owner = cell.of[record]
            few = sides.among_staying[record] < cell.k[record]
            if not sides.goes[owner] and (few or sides.ways_staying[record] < cell.least[record]):
                sides.goes[owner] = True
                stack[waiting] = owner
                waiting += 1
    return waiting


@kernel
def restrict_to_members(start, row, members, place, own_start, own_row):
    # members (m,): records, ascending; place (n,): where a member stands in it, others -1
    # own_start (m + 1,), own_row (room for all pairs of members): filled
    """List the rows of members that fit members, both by their places."""
    at = 0
    own_start[0] = 0
    for here in range(len(members)):
        record = members[here]
        for pair in range(start[record], start[record + 1]):
            if place[row[pair]] >= 0:
                own_row[at] = place[row[pair]]
                at += 1
        own_start[here + 1] = at


@kernel
def count_parties(graph, part, of, members, counted, ways):
    # part (n,): part of each record; counted, ways (n,): filled for members (m,)
    """Count the parties whose rows in its own part fit each member, and histories with them."""
    seen = np.full(len(part), -1, dtype=np.int64)
    for record in members:
        count, total = 0, np.int64(0)
        for place in range(graph.start[record], graph.start[record + 1]):
            owner = graph.row[place]
            if part[owner] == part[record]:
                total += graph.ways[place]
                count += seen[of[owner]] != record
                seen[of[owner]] = record
        counted[record], ways[record] = count, total


@kernel
def find_return_paths(cell, graph, goes, part, wanting, found):
    # wanting (records,) lack companions in their own part; found (n,): filled with who would help
    """Find who must go, too, so that paths lead back to each wanting record among those going.

    For a wanting record: the shortest path of fits that leads back to it from the owner of a row
    that fits it, in another part. Wanting records beside those that were helped wait for the next
    round: the same help may do for them. Returns how many are found.
    """
    start, row, back_start, back = graph.start, graph.row, graph.back_start, graph.back
    n = len(part)
    mark = np.full(n, -1, dtype=np.int64)  # reached in the search of this record
    fitting = np.full(n, -1, dtype=np.int64)
    parent = np.empty(n, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    changed = np.zeros(n, dtype=np.bool_)
    count = 0
    for record in wanting:
        waits = False
        for place in range(start[record], start[record + 1]):
            fitting[row[place]] = record
            waits |= changed[row[place]]
        for place in range(back_start[record], back_start[record + 1]):
            waits |= changed[back[place]]
        if waits:
            continue
        changed[record] = True
        queue[0] = record
        mark[record] = record
        first, last = 0, 1
        while first < last:
            here = queue[first]
            first += 1
            for place in range(back_start[here], back_start[here + 1]):
                step = np.int64(back[place])
                if mark[step] == record:
                    continue
                mark[step] = record
                parent[step] = here
                queue[last] = step
                last += 1
                if fitting[step] == record and part[step] != part[record]:
                    while step != record:
                        if not goes[cell.of[step]] and not changed[step]:
                            changed[step] = True
                            found[count] = step
                            count += 1
                        step = parent[step]
                    first = last  # the search is over
                    break
    return count


@kernel
def give_back(cell, graph, sides, part, counted, ways, needed):
    # part, counted, ways (n,): component of each record in its side; parties, histories there
    # needed (parties,); counted, ways and sides.goes change, the numbers of sides do not
    """Let a party stay if it hides among those who stay, and nobody who goes needs it.

    Components are not looked at again: those who go may fall apart.
    """
    # zeros, by component: parties and histories found
    here, there = np.zeros(len(part), dtype=np.int64), np.zeros(len(part), dtype=np.int64)
    reaches = np.zeros(len(part), dtype=np.bool_)
    for party in range(len(sides.goes)):
        if not sides.goes[party] or needed[party]:
            continue
        possible = True
        for at in range(cell.own_start[party], cell.own_start[party + 1]):
            possible &= is_hidden_among_stayers(
                cell, graph, sides, part, cell.own[at], (here, there, reaches)
            )
        for at in range(cell.back_start[party], cell.back_start[party + 1]):
            other = cell.back[at]
            spared = counted[other] > cell.k[other]
            spared &= ways[other] - cell.back_ways[at] >= cell.least[other]
            possible &= cell.of[other] == party or not sides.goes[cell.of[other]] or spared
        if possible:
            sides.goes[party] = False
            for at in range(cell.back_start[party], cell.back_start[party + 1]):
                counted[cell.back[at]] -= 1
                ways[cell.back[at]] -= cell.back_ways[at]
            for at in range(cell.own_start[party], cell.own_start[party + 1]):
                part[cell.own[at]] = -1  # nobody hides in it before components are known again


@kernel
def is_hidden_among_stayers(cell, graph, sides, part, record, found):
    # found: parties, histories and who leads back, each by component; zeros before and after
    """Test whether a record would hide in one component of those who stay, and keep histories."""
    start, row, back_start, back = graph.start, graph.row, graph.back_start, graph.back
    here, there, reaches = found
    for at in range(back_start[record], back_start[record + 1]):
        other = back[at]
        if not sides.goes[cell.of[other]] and part[other] >= 0:
            reaches[part[other]] = True
    own = np.int64(0)
    for at in range(start[record], start[record + 1]):
        if row[at] == record:
            own = graph.ways[at]
    hidden = cell.k[record] <= 1 and own >= cell.least[record]
    for at in range(start[record], start[record + 1]):
        other = row[at]
        if not sides.goes[cell.of[other]] and part[other] >= 0 and reaches[part[other]]:
            fresh = True  # a person counts once
            for before in range(start[record], at):
                fresh &= cell.of[row[before]] != cell.of[other] or part[row[before]] != part[other]
            here[part[other]] += fresh
            there[part[other]] += graph.ways[at]
            # 1: its own party, which still goes, so that it is none of those found.
            enough = here[part[other]] + 1 >= cell.k[record]
            hidden |= enough and there[part[other]] + own >= cell.least[record]
    for at in range(back_start[record], back_start[record + 1]):
        if part[back[at]] >= 0:
            reaches[part[back[at]]] = False
    for at in range(start[record], start[record + 1]):
        if part[row[at]] >= 0:
            here[part[row[at]]] = 0
            there[part[row[at]]] = 0
    return hidden
