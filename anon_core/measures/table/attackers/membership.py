"""Whether somebody is in a table at all: an attack, with people beside it who are not in it.

The attacker knows a person's levels and says "in" if enough rows fit. Rows are true, so some row
fits everybody who is in. How much that tells, only people who are not in can say: a baseline, as in
Giomi et al., A Unified Framework for Quantifying Privacy Risk in Synthetic Data (PETS 2023).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.table.classes import Classes, ReleasedCells, index_distinct_columns
from anon_core.measures.table.crowds import count_rows

NON_MEMBERS = 2**14  # a share of so many has a standard error of 0.4 points at most
_SEED = 2026  # public: nobody's secret decides a number
_TRIES = 4  # so many levels are drawn for each person, since some are those of a record


@dataclass(frozen=True)
class Membership:
    """Of how many the attacker says that they are in the table.

    Attributes
    ----------
    drawn : int
        People who are not in it; 0 if nobody could be drawn, and then the rest tells nothing.
    matched : int
        Of these, whom at least one row fits. All who are in it are matched.
    rows : int
        So many rows must fit where the attacker tells both apart best; the least of equal numbers.
    members, others : int
        People who are in it, and drawn ones, whom at least `rows` rows fit.
    """

    drawn: int
    matched: int
    rows: int
    members: int
    others: int


def attack_membership(
    released: ReleasedCells,
    classes: Classes,
    compatible: NDArray[np.int64],
    drawn: int = NON_MEMBERS,
) -> Membership:
    """Compare people of a table with people who are drawn by `draw_outsiders`.

    Parameters
    ----------
    released : ReleasedCells
    classes : Classes
        Of the records and these rows.
    compatible : int64 (n,)
        Rows that each record fits.
    drawn : int
        People that are drawn, at most.

    Notes
    -----
    The result says nothing of the order of the records. Memory O(attributes * (n + drawn)).
    """
    level = draw_outsiders(classes, drawn)
    index = np.ascontiguousarray((level + released.level_offsets[:, None])[classes.search].T)
    fitting = count_rows(replace(classes, level=level, level_index=index), classes.rows_in)
    return tell_apart(np.sort(compatible), np.sort(fitting))


def draw_outsiders(classes: Classes, number: int) -> NDArray[np.int32]:
    """Draw levels of people who are not in the table, int32 (attributes, people).

    These are `number` people, or fewer where most combinations of levels are those of a record;
    none where all are, or where no two records differ in two attributes.

    Each attribute has the level of one of two records, by a fair coin, and at least one level is
    of each record alone. The second one is, of two records, the one that has more levels of the
    first, but differs in two at least. So levels that go together stay together, in part. In the
    tables of `benchmarks/risk/membership.py`, people drawn like this fit fewer rows than true
    people who are not in the table; no rule says so of others.
    """
    draws = np.random.Generator(np.random.PCG64(_SEED))
    # Classes are in the order of their levels, whatever the order of the records is.
    ends, (attributes, known) = np.cumsum(classes.records_in), classes.level.shape
    record = draws.integers(0, ends[-1], size=(3, _TRIES * number))
    one, *others = np.searchsorted(ends, record, side="right")
    alike = [(classes.level[:, one] == classes.level[:, each]).sum(axis=0) for each in others]
    least = [np.where(each > attributes - 2, -1, each) for each in alike]
    other = np.where(least[1] > least[0], others[1], others[0])
    levels = classes.level[:, one], classes.level[:, other]
    coin = draws.random((attributes, _TRIES * number), dtype=np.float32)
    first, differs, at = coin < 0.5, levels[0] != levels[1], np.arange(_TRIES * number)
    first[np.where(differs, coin, 2).argmin(axis=0), at] = True
    first[np.where(differs, coin, -1).argmax(axis=0), at] = False
    drawn = np.where(first, *levels)
    kind, _ = index_distinct_columns(np.hstack([classes.level, drawn]))
    new = ~np.isin(kind[known:], kind[:known])
    return drawn[:, new][:, :number]


def tell_apart(inside: NDArray[np.int64], outside: NDArray[np.int64]) -> Membership:
    """Find the number of rows that tells both groups apart best; both are sorted.

    It maximizes the share of `inside` with so many rows, less that of `outside`.
    """
    # Between two numbers that occur inside, more rows exclude only people outside.
    rows = np.unique(inside)
    members = len(inside) - np.searchsorted(inside, rows)
    others = len(outside) - np.searchsorted(outside, rows)
    # In whole numbers, so that equal differences are equal.
    best = int(np.argmax(members * len(outside) - others * len(inside)))
    matched = len(outside) - int(np.searchsorted(outside, 1))
    return Membership(len(outside), matched, int(rows[best]), int(members[best]), int(others[best]))
