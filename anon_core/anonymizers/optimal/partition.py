"""Equivalence classes of least loss, by set partition and column generation."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.loss_kernels import Cells, loss_of, widen
from anon_core.anonymizers.optimal.partition_kernels import better_groups, least_partition
from anon_core.tables.loss import WHOLE, LossTable
from anon_core.tables.records import BinaryTable

AT_ONCE = 500  # groups that one search adds
PROMISING = 400  # groups of small reduced cost that HiGHS chooses from where no proof is had
MOST_NODES = 20_000  # of its branch and bound
FIRST_GAP = 0.005  # of the bound: how much more than the bound partitions may lose at first
TOLERANCE = 1e-7  # of HiGHS, relative to a whole cell

Groups = list[list[int]]


class Budget(NamedTuple):
    """How much work a proof may take.

    Attributes
    ----------
    groups : int
        Groups that all searches look at.
    columns : int
        Groups that a partition is chosen from.
    tries : int
        Groups that are tried as part of a partition.
    """

    groups: int
    columns: int
    tries: int


PROOF = Budget(100_000_000, 200_000, 200_000_000)
PART = Budget(2_000_000, 20_000, 5_000_000)


def least_loss(
    table: BinaryTable, loss: LossTable, known: Groups, budget: Budget
) -> tuple[Groups, bool]:
    """Find groups that lose least among all partitions into groups of enough records.

    Parameters
    ----------
    table : BinaryTable
        Each record demands a group of k(v) at least.
    loss : LossTable
    known : list of list of int
        Some partition that meets the demands.
    budget : Budget

    Returns
    -------
    list of list of int
        The best partition that was found.
    bool
        Whether it is proved that no partition loses less.

    Notes
    -----
    The linear program over the groups found so far prices each record; `better_groups` looks for
    groups that lose less than their members' prices. When there are none, a partition loses as much
    as the program's optimum and the reduced costs of its groups. Thus the best partition among all
    groups of reduced cost below a gap is the optimum, if it lies within the gap; else the gap is
    doubled. This proves the optimum of Liang and Samavi's MILP (equations 21-32), since a group of
    2 k or more records can be cut in two that lose no more. Equal records are one kind: a column
    counts its members of each kind.
    """
    kinds = _kinds(table)
    order = np.argsort(kinds, kind="stable")
    place = np.argsort(order)
    known = [place[group].tolist() for group in known]
    found, proved = _least(Part(table.at(order), kinds[order], loss), known, budget)
    return [sorted(order[group].tolist()) for group in found], proved


class Part(NamedTuple):
    """Records to be partitioned: equals stand side by side, `kinds` (n,) numbers them."""

    table: BinaryTable
    kinds: NDArray[np.int64]
    loss: LossTable


def _kinds(table: BinaryTable) -> NDArray[np.int64]:
    """Numbers of equal records of equal demand, by first appearance, int64 (n,)."""
    whole = np.vstack([table.codes, table.k])
    _, first, kinds = np.unique(whole, axis=1, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[kinds.ravel()]


def _least(part: Part, known: Groups, budget: Budget) -> tuple[Groups, bool]:
    from scipy.optimize import linprog  # takes a third of a second to import

    groups, costs = list(known), group_losses(part.table, part.loss, known) / WHOLE
    counts, left = np.bincount(part.kinds), np.array([budget.groups])
    while True:
        columns = _columns(groups, part.kinds)
        program = linprog(costs, A_eq=columns, b_eq=counts, method="highs")
        dual = np.asarray(program.eqlin.marginals)
        more = _search(part, dual, -TOLERANCE, AT_ONCE, left)
        if more is None or not more[0]:
            break
        groups, costs = groups + more[0], np.concatenate([costs, more[1] / WHOLE])
    gap = float(costs[: len(known)].sum()) - float(program.fun)
    if more is not None:
        best = _within(part, known, dual, float(program.fun), gap, budget, left)
        if best is not None:
            return best, True
    reduced = costs - columns.T @ dual
    reduced[: len(known)] = -np.inf
    promising = np.argsort(reduced, kind="stable")[: len(known) + PROMISING]
    best = _chosen([groups[i] for i in promising], costs[promising], part.kinds)
    return best or known, False


def _within(
    part: Part,
    known: Groups,
    dual: NDArray[np.float64],
    bound: float,
    gap: float,
    budget: Budget,
    left: NDArray[np.int64],
) -> Groups | None:
    """The partition of least loss, which exceeds the bound by `gap` at most; None: not proved."""
    tries, step = np.array([budget.tries]), max(FIRST_GAP * bound, FIRST_GAP)
    while True:
        limit = min(step, gap) + TOLERANCE * len(part.kinds)
        more = _search(part, dual, limit, budget.columns + 1, left)
        if more is None or len(more[0]) > budget.columns:
            return None
        chosen = _least_of(*more, part.kinds, dual, limit, tries)
        if chosen is None or chosen:
            return chosen
        if step >= gap:
            return known
        step *= 2


def _least_of(
    groups: Groups,
    costs: NDArray[np.int64],
    kinds: NDArray[np.int64],
    dual: NDArray[np.float64],
    limit: float,
    tries: NDArray[np.int64],
) -> Groups | None:
    """The partition of least cost by groups of reduced costs below `limit` in all; [] if none.

    None beyond the tries.
    """
    if not groups:
        return []
    length = np.array([len(group) for group in groups])
    member = np.zeros((len(groups), length.max()), dtype=np.int64)
    member[np.arange(member.shape[1]) < length[:, None]] = kinds[np.concatenate(groups)]
    reduced = np.maximum(0, costs / WHOLE - [dual[kinds[group]].sum() for group in groups])
    order = np.lexsort([reduced, member[:, 0]])
    begin = np.searchsorted(member[order, 0], np.arange(kinds[-1] + 2))
    path = np.zeros(len(kinds), dtype=np.int64)
    size = least_partition(
        *(np.bincount(kinds), begin, member[order], length[order]),
        *(costs[order], reduced[order], limit, tries, path),
    )
    return None if size < 0 else _of_records([groups[c] for c in order[path[:size]]], kinds)


def _columns(groups: Groups, kinds: NDArray[np.int64]) -> Any:
    """A matrix of one column for each group: how many members are of each kind."""
    from scipy.sparse import coo_array

    sizes = [len(group) for group in groups]
    rows = kinds[np.concatenate([np.array(group) for group in groups])]
    column = np.repeat(np.arange(len(groups)), sizes)
    shape = (int(kinds.max()) + 1, len(groups))
    return coo_array((np.ones(len(rows)), (rows, column)), shape=shape).tocsc()


def _search(
    part: Part,
    dual: NDArray[np.float64],
    limit: float,
    most: int,
    budget: NDArray[np.int64],
) -> tuple[Groups, NDArray[np.int64]] | None:
    """Groups of reduced cost below the limit, and what they lose; None beyond the budget."""
    k = part.table.k.astype(np.int64)
    longest = min(len(k), 2 * int(k.max()) - 1)
    found = np.empty((most, longest), dtype=np.int32)
    length, cost = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    alike = np.diff(part.kinds, prepend=-1) == 0
    number = better_groups(
        *(k, alike, dual[part.kinds] * WHOLE, limit * WHOLE, limit < 0, budget),
        *(Cells.of(part.table, part.loss), found, length, cost),
    )
    if number < 0:
        return None
    return [found[i, : length[i]].tolist() for i in range(number)], cost[:number]


def _chosen(
    groups: Groups, costs: NDArray[np.float64], kinds: NDArray[np.int64]
) -> Groups | None:
    """The partition of least cost that these groups make, by HiGHS; None beyond the nodes."""
    from scipy.optimize import LinearConstraint, milp

    program = milp(
        costs,
        constraints=LinearConstraint(_columns(groups, kinds), *2 * [np.bincount(kinds)]),
        integrality=np.ones(len(groups), dtype=np.int64),
        options={"node_limit": MOST_NODES, "mip_rel_gap": 0.0},
    )
    if program.status != 0:
        return None
    times = np.round(program.x).astype(np.int64)
    return _of_records([groups[i] for i in np.repeat(np.arange(len(times)), times)], kinds)


def _of_records(groups: Groups, kinds: NDArray[np.int64]) -> Groups:
    """Groups of the same kinds, each record in one."""
    free = np.searchsorted(kinds, np.arange(kinds[-1] + 1))
    made: Groups = []
    for group in groups:
        made.append([])
        for kind in kinds[group]:
            made[-1].append(int(free[kind]))
            free[kind] += 1
    return made


def group_losses(table: BinaryTable, loss: LossTable, groups: Groups) -> NDArray[np.int64]:
    """What each of these disjoint groups loses, int64: its size times the loss of one row."""
    cells = Cells.of(table, loss)
    losses = np.empty(len(groups), dtype=np.int64)
    for g, group in enumerate(groups):
        for v in group[1:]:
            widen(v, group[0], cells)
        losses[g] = len(group) * loss_of(group[0], cells)
    return losses
