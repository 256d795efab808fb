"""Grow the part of a cell that is withdrawn until it hides itself, party by party.

A party is a person with all records, or a record where each record is a person.
"""

import os
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel

NEED = int(os.environ.get("NEED", "2"))
HARM = int(os.environ.get("HARM", "4"))
FADE = int(os.environ.get("FADE", "1"))
MUTUAL = int(os.environ.get("MUTUAL", "1"))


class Cell(NamedTuple):
    """Who hides among whom.

    Attributes
    ----------
    start, party : int64 (n + 1,), int32 (pairs,)
        Parties that own the matchable rows of record v: party[start[v] : start[v + 1]], each once.
    back_start, back : int64 (parties + 1,), int32 (pairs,)
        The reverse: records that hide among party p.
    own_start, own : int64 (parties + 1,), int32 (n,)
        Records of each party.
    of : int32 (n,)
        Party of each record.
    k : int32 (n,)
    """

    start: NDArray[np.int64]
    party: NDArray[np.int32]
    back_start: NDArray[np.int64]
    back: NDArray[np.int32]
    own_start: NDArray[np.int64]
    own: NDArray[np.int32]
    of: NDArray[np.int32]
    k: NDArray[np.int32]


class Sides(NamedTuple):
    """Who goes.

    Attributes
    ----------
    goes : bool (parties,)
    among_going, among_staying : int32 (n,)
        Parties among whom a record hides that go, and that stay.
    """

    goes: NDArray[np.bool_]
    among_going: NDArray[np.int32]
    among_staying: NDArray[np.int32]


@kernel
def grow(cell, sides, stack, waiting):
    # stack (parties,): room; its first `waiting` go and are not looked after yet
    """Add companions until everyone who goes hides among k parties that go.

    Stayers who fall short go, too. The party added last is looked after first, so that one crowd
    is complete before the next begins.
    """
    while waiting:
        waiting -= 1
        party = stack[waiting]
        for at in range(cell.own_start[party], cell.own_start[party + 1]):
            record = cell.own[at]
            while sides.among_going[record] < cell.k[record]:
                best = np.int64(-1)
                least = np.int64(0)
                for place in range(cell.start[record], cell.start[record + 1]):
                    other = cell.party[place]
                    if not sides.goes[other]:
                        costs = cost(cell, sides, record, other)
                        if best < 0 or costs < least:
                            best, least = np.int64(other), costs
                if best < 0:  # everyone it could hide among goes
                    break
                waiting = move(cell, sides, best, stack, waiting)


@kernel
def cost(cell, sides, record, party):
    """What it costs to let a party go: its further companions, and stayers who would fall short."""
    need, harm, mutual = np.int64(0), np.int64(0), False
    for at in range(cell.own_start[party], cell.own_start[party + 1]):
        other = cell.own[at]
        need += max(0, cell.k[other] - sides.among_going[other] - 1)
        for place in range(cell.start[other], cell.start[other + 1]):
            mutual |= cell.party[place] == cell.of[record]
    for at in range(cell.back_start[party], cell.back_start[party + 1]):
        other = cell.back[at]
        if not sides.goes[cell.of[other]] and cell.of[other] != party:
            spare = min(30, max(0, sides.among_staying[other] - cell.k[other]))
            harm += HARM >> (FADE * spare)
    return NEED * need + harm - MUTUAL * np.int64(mutual)


@kernel
def move(cell, sides, party, stack, waiting):
    """Let a party go, and every stayer who then falls short; returns how many wait on the stack."""
    sides.goes[party] = True
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
            owner = cell.of[record]
            if not sides.goes[owner] and sides.among_staying[record] < cell.k[record]:
                sides.goes[owner] = True
                stack[waiting] = owner
                waiting += 1
    return waiting
