"""Groups as columns of a set partition: what they hold and lose, and the search for more."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.loss_kernels import LevelCells, loss_of, widen_row
from anon_core.anonymizers.optimal.partition_kernels import better_groups, likely_groups
from anon_core.tables.loss import WHOLE_CELL_LOSS, LossTable
from anon_core.tables.records import BinaryTable

_AT_ONCE = 500  # groups that one search adds
_DEAR = 20_000  # groups that a search looked at: then grow some greedily before the next
TOLERANCE = 1e-7  # of HiGHS, relative to a whole cell

GroupLists = list[list[int]]
Costed = tuple[GroupLists, NDArray[np.int64]]  # groups, and what each loses


class SortedRecords(NamedTuple):
    """Records to be partitioned: equals stand side by side, `kinds` (n,) numbers them."""

    table: BinaryTable
    kinds: NDArray[np.int64]
    loss: LossTable

    @property
    def longest(self) -> int:
        """The most records that a group can need: a larger one can be cut in two."""
        return min(len(self.kinds), 2 * int(self.table.k.max()) - 1)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Records of each kind."""
        return np.bincount(self.kinds)

    def columns(self, groups: GroupLists) -> Any:
        """A matrix of one column for each group: how many members are of each kind."""
        from scipy.sparse import coo_array

        sizes = [len(group) for group in groups]
        rows = self.kinds[np.concatenate([np.array(group) for group in groups])]
        column = np.repeat(np.arange(len(groups)), sizes)
        shape = (int(self.kinds[-1]) + 1, len(groups))
        return coo_array((np.ones(len(rows)), (rows, column)), shape=shape).tocsc()

    def share_costs(self, groups: GroupLists, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Price records by a partition: members share what their group costs, float64 (kinds,)."""
        sizes = [len(group) for group in groups]
        shares = np.bincount(self.kinds[np.concatenate(groups)], np.repeat(costs / sizes, sizes))
        return shares / self.counts

    def groups(self, chosen: GroupLists) -> GroupLists:
        """Groups of the same kinds as those chosen, each record in one."""
        # Next record of each kind. A partition has as many members of a kind as there are records,
        # so no kind runs out.
        free = np.searchsorted(self.kinds, np.arange(self.kinds[-1] + 1))
        made: GroupLists = []
        for group in chosen:
            made.append([])
            for kind in self.kinds[group]:
                made[-1].append(int(free[kind]))
                free[kind] += 1
        return made


def kinds_of(table: BinaryTable) -> NDArray[np.int64]:
    """Numbers of equal records of equal demand, by first appearance, int64 (n,)."""
    whole = np.vstack([table.codes, table.k])
    _, first, kinds = np.unique(whole, axis=1, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[kinds.ravel()]


def group_losses(table: BinaryTable, loss: LossTable, groups: GroupLists) -> NDArray[np.int64]:
    """What each of these disjoint groups loses, int64: its size times the loss of one row."""
    cells = LevelCells.of(table, loss)
    losses = np.empty(len(groups), dtype=np.int64)
    for g, group in enumerate(groups):
        for v in group[1:]:
            widen_row(v, group[0], cells)
        losses[g] = len(group) * loss_of(group[0], cells)
    return losses


class GroupSearch:
    """The search for groups of small reduced cost, within a number of groups to look at."""

    def __init__(self, part: SortedRecords, budget: int) -> None:
        self.part = part
        self._left = np.array([budget])
        self._spent = 0

    def better(self, dual: NDArray[np.float64], smooth: NDArray[np.float64]) -> Costed | None:
        """Some groups of negative reduced cost; none if there are none; None beyond the budget.

        Where a search is dear, groups come first that are likely by the smoothed duals.
        """
        if self._spent > _DEAR:
            groups, costs = self._likely(smooth)
            prices = [dual[self.part.kinds[group]].sum() for group in groups]
            good = np.flatnonzero(costs / WHOLE_CELL_LOSS - prices < -TOLERANCE)
            if len(good):
                return [groups[i] for i in good], costs[good]
        before = int(self._left[0])
        found = self.below(dual, -TOLERANCE, _AT_ONCE)
        self._spent = before - int(self._left[0])
        return found

    def below(self, dual: NDArray[np.float64], limit: float, most: int) -> Costed | None:
        """All groups of reduced cost below the limit; None if there are more, or beyond the budget.

        Of negative ones, the first and then each that is far better.
        """
        part, k = self.part, self.part.table.k.astype(np.int64)
        found, length, cost = _allocate_groups(most, part.longest)
        alike = np.diff(part.kinds, prepend=-1) == 0
        number = better_groups(
            *(
                k,
                alike,
                dual[part.kinds] * WHOLE_CELL_LOSS,
                limit * WHOLE_CELL_LOSS,
                limit < 0,
                self._left,
            ),
            *(LevelCells.of(part.table, part.loss), found, length, cost),
        )
        if number < 0 or (number == most and limit >= 0):
            return None
        return _list_groups(number, found, length, cost)

    def _likely(self, dual: NDArray[np.float64]) -> Costed:
        part, k = self.part, self.part.table.k.astype(np.int64)
        found, length, cost = _allocate_groups(len(k), part.longest)
        number = likely_groups(
            *(k, dual[part.kinds] * WHOLE_CELL_LOSS, -TOLERANCE * WHOLE_CELL_LOSS),
            *(LevelCells.of(part.table, part.loss), found, length, cost),
        )
        return _list_groups(number, found, length, cost)


def _allocate_groups(
    most: int, longest: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    found = np.empty((most, longest), dtype=np.int32)
    return found, np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)


def _list_groups(
    number: int, found: NDArray[np.int32], length: NDArray[np.int64], cost: NDArray[np.int64]
) -> Costed:
    return [found[i, : length[i]].tolist() for i in range(number)], cost[:number]
