"""Equivalence classes of least loss, by set partition and column generation."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.optimal.columns import (
    TOLERANCE,
    Costed,
    GroupLists,
    GroupSearch,
    SortedRecords,
    group_losses,
    kinds_of,
)
from anon_core.anonymizers.optimal.partition_kernels import least_partition
from anon_core.tables.loss import WHOLE_CELL_LOSS, LossTable
from anon_core.tables.records import BinaryTable

_KEPT = 400  # groups of small reduced cost that stay from one search to the next
_MOST_NODES = 20_000  # of branch and bound by HiGHS, where no proof is had
_INFEASIBLE = 2  # status of HiGHS
_FIRST_GAP = 0.005  # of the bound: how much more than the bound partitions may lose at first


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
    nodes : int
        Nodes of HiGHS, which decides where the tries do not suffice; 0: nobody decides.
    """

    groups: int
    columns: int
    tries: int
    nodes: int


PROOF = Budget(100_000_000, 50_000, 20_000_000, 20_000)
PART_BUDGET = Budget(2_000_000, 20_000, 5_000_000, 0)


def least_loss(
    table: BinaryTable, loss: LossTable, known: GroupLists, budget: Budget
) -> tuple[GroupLists, bool]:
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
    kinds = kinds_of(table)
    order = np.argsort(kinds, kind="stable")
    place = np.argsort(order)
    part = SortedRecords(table.at(order), kinds[order], loss)
    known = [place[group].tolist() for group in known]
    search = GroupSearch(part, budget.groups)
    priced = _price_groups(search, known)
    best = _find_least_partition(search, priced, known, budget) if priced.complete else None
    proved = best is not None
    if best is None:
        best = _solve_integer_program(part, priced.groups, priced.costs, _MOST_NODES)[0] or known
    return [sorted(order[group].tolist()) for group in best], proved


class Priced(NamedTuple):
    """The linear program over some groups.

    Attributes
    ----------
    groups, costs
        The groups, and what each loses in whole cells.
    dual : float64 (kinds,)
        The price of a record of each kind.
    bound : float
        The optimum: if `complete`, no partition loses less.
    complete : bool
        Whether no other group loses less than its members' prices.
    """

    groups: GroupLists
    costs: NDArray[np.float64]
    dual: NDArray[np.float64]
    bound: float
    complete: bool


def _price_groups(search: GroupSearch, known: GroupLists) -> Priced:
    """Add groups to the known ones until none is better, or the budget is spent."""
    from scipy.optimize import linprog  # takes a third of a second to import

    part, value = search.part, np.inf
    groups, costs = list(known), group_losses(part.table, part.loss, known) / WHOLE_CELL_LOSS
    # While its optimum stays, the program's duals leap to and fro; the mean of the last does not.
    smooth = part.share_costs(known, costs)
    while True:
        columns = part.columns(groups)
        program = linprog(
            *(costs, None, None, columns, part.counts),
            method="highs",
            options={"presolve": False},  # it takes longer than it saves
        )
        dual, bound = np.asarray(program.eqlin.marginals), float(program.fun or 0.0)
        smooth = (smooth + dual) / 2
        more = search.better(dual, smooth)
        reduced = costs - columns.T @ dual
        # The known partition stays, so that the program always has a solution.
        reduced[: len(known)] = -np.inf
        kept = np.argsort(reduced, kind="stable")[: len(known) + _KEPT]
        if more is None or not more[0]:
            chosen = [groups[i] for i in kept]
            return Priced(chosen, costs[kept], dual, bound, more is not None)
        if bound < value - TOLERANCE:  # so that no columns come and go for ever
            value, groups, costs = bound, [groups[i] for i in kept], costs[kept]
        groups, costs = groups + more[0], np.concatenate([costs, more[1] / WHOLE_CELL_LOSS])


def _find_least_partition(
    search: GroupSearch, priced: Priced, known: GroupLists, budget: Budget
) -> GroupLists | None:
    """The partition of least loss; None: not proved within the budget."""
    slack = TOLERANCE * len(search.part.kinds)
    gap = float(priced.costs[: len(known)].sum()) - priced.bound
    tries, step = np.array([budget.tries]), _FIRST_GAP * max(1.0, priced.bound)
    while gap > slack:
        limit = min(step, gap) + slack
        more = search.below(priced.dual, limit, budget.columns)
        if more is None:
            return None
        chosen = _least_of(search.part, more, priced.dual, limit, tries)
        if chosen is None and budget.nodes:
            chosen, lost = _solve_integer_program(
                search.part, more[0], more[1] / WHOLE_CELL_LOSS, budget.nodes
            )
            if chosen and lost > priced.bound + limit:  # groups beyond the limit may lose less
                if lost - priced.bound < gap:
                    known, gap = chosen, lost - priced.bound
                chosen = []
        if chosen is None or chosen:
            return chosen
        if step >= gap:
            break
        step *= 2
    return known


def _least_of(
    part: SortedRecords,
    columns: Costed,
    dual: NDArray[np.float64],
    limit: float,
    tries: NDArray[np.int64],
) -> GroupLists | None:
    """The partition of least cost by groups of reduced costs below `limit` in all; [] if none.

    None beyond the tries.
    """
    groups, costs = columns
    if not groups:
        return []
    length = np.array([len(group) for group in groups])
    member = np.zeros((len(groups), length.max()), dtype=np.int64)
    member[np.arange(member.shape[1]) < length[:, None]] = part.kinds[np.concatenate(groups)]
    reduced = np.maximum(
        0, costs / WHOLE_CELL_LOSS - [dual[part.kinds[group]].sum() for group in groups]
    )
    order = np.lexsort([reduced, member[:, 0]])
    begin = np.searchsorted(member[order, 0], np.arange(part.kinds[-1] + 2))
    path = np.zeros(len(part.kinds), dtype=np.int64)
    size = least_partition(
        *(part.counts, begin, member[order], length[order]),
        *(costs[order], reduced[order], limit, tries, path),
    )
    return None if size < 0 else part.groups([groups[c] for c in order[path[:size]]])


def _solve_integer_program(
    part: SortedRecords, groups: GroupLists, costs: NDArray[np.float64], nodes: int
) -> tuple[GroupLists | None, float]:
    """The partition of least cost by these groups, and its cost, by HiGHS; [] if there is none.

    None beyond the nodes.
    """
    from scipy.optimize import LinearConstraint, milp

    if not groups:
        return [], np.inf
    counts = part.counts.astype(np.float64)
    program = milp(
        costs,
        constraints=LinearConstraint(part.columns(groups), counts, counts),
        integrality=np.ones(len(groups), dtype=np.int64),
        options={"node_limit": nodes, "mip_rel_gap": 0.0},
    )
    if program.status != 0:
        return ([] if program.status == _INFEASIBLE else None), np.inf
    times = np.round(program.x).astype(np.int64)
    chosen = [groups[i] for i in np.repeat(np.arange(len(times)), times)]
    return part.groups(chosen), float(program.fun)
