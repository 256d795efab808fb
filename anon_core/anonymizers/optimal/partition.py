"""Equivalence classes of least loss, by set partition and column generation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.loss_kernels import Cells, loss_of, widen
from anon_core.anonymizers.optimal.partition_kernels import better_groups
from anon_core.tables.loss import WHOLE, LossTable
from anon_core.tables.records import BinaryTable

AT_ONCE = 500  # groups that one search adds
MOST_GROUPS = 200_000  # that a program of whole numbers may choose from
PROOF, PART = 100_000_000, 2_000_000  # groups that all searches look at
PROMISING = 400  # groups of small reduced cost, for a first partition of whole groups
MOST_NODES = 20_000  # of branch and bound
TOLERANCE = 1e-7  # of HiGHS, relative to a whole cell

Groups = list[list[int]]


def least_loss(
    table: BinaryTable, loss: LossTable, known: Groups, budget: int
) -> tuple[Groups, bool]:
    """Find groups that lose least among all partitions into groups of enough records.

    Parameters
    ----------
    table : BinaryTable
        Each record demands a group of k(v) at least.
    loss : LossTable
    known : list of list of int
        Some partition that meets the demands.
    budget : int
        How many groups may be looked at.

    Returns
    -------
    list of list of int
        The best partition that was found.
    bool
        Whether it is proved that no partition loses less.

    Notes
    -----
    The linear program over the groups found so far prices each record; `better_groups` looks for
    groups that lose less than their members' prices. When there are none, the program bounds the
    optimum from below, and the best partition among the groups bounds it from above. A group whose
    reduced cost exceeds the gap is in no better partition, so the whole-number program over all
    others decides. This proves the optimum of Liang and Samavi's MILP (equations 21-32), since a
    group of 2 k or more records can be cut in two that lose no more.
    """
    from scipy.optimize import linprog  # takes a third of a second to import

    groups, costs = list(known), group_losses(table, loss, known) / WHOLE
    left = np.array([budget])
    while True:
        columns = _columns(groups, table.records)
        program = linprog(costs, A_eq=columns, b_eq=np.ones(table.records), method="highs")
        dual = np.asarray(program.eqlin.marginals)
        more = _search(table, loss, dual, -TOLERANCE, AT_ONCE, left)
        if more is None or not more[0]:
            break
        groups, costs = groups + more[0], np.concatenate([costs, more[1]])
    reduced = costs - columns.T @ dual
    reduced[: len(known)] = -np.inf
    promising = np.argsort(reduced, kind="stable")[: len(known) + PROMISING]
    first = _chosen([groups[i] for i in promising], costs[promising], table.records)
    best, value = first or (known, float(costs[: len(known)].sum()))
    gap = value - float(np.dot(costs, np.asarray(program.x)))
    if more is None or gap <= TOLERANCE * table.records:
        return best, more is not None
    more = _search(table, loss, dual, gap + TOLERANCE, MOST_GROUPS + 1, left)
    decided = None if more is None or len(more[0]) > MOST_GROUPS else _chosen(*more, table.records)
    if decided is None:
        return best, False
    return decided[0] if decided[1] < value else best, True


def _columns(groups: Groups, records: int) -> Any:
    """A matrix of one column for each group, 1 where a record is a member."""
    from scipy.sparse import csc_array

    indptr = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
    rows = np.concatenate([np.array(group) for group in groups])
    return csc_array((np.ones(len(rows)), rows, indptr), shape=(records, len(groups)))


def _search(
    table: BinaryTable,
    loss: LossTable,
    dual: NDArray[np.float64],
    limit: float,
    most: int,
    budget: NDArray[np.int64],
) -> tuple[Groups, NDArray[np.float64]] | None:
    """Groups of reduced cost below the limit, and what they lose; None beyond the budget."""
    longest = min(table.records, 2 * int(table.k.max()) - 1)
    found = np.empty((most, longest), dtype=np.int32)
    length, cost = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    number = better_groups(
        *(table.k.astype(np.int64), dual * WHOLE, limit * WHOLE, budget),
        *(Cells.of(table, loss), found, length, cost),
    )
    if number < 0:
        return None
    return [found[i, : length[i]].tolist() for i in range(number)], cost[:number] / WHOLE


def _chosen(
    groups: Groups, costs: NDArray[np.float64], records: int
) -> tuple[Groups, float] | None:
    """The partition of least cost that these groups make, and its cost; None beyond the nodes."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    program = milp(
        costs,
        constraints=LinearConstraint(_columns(groups, records), 1, 1),
        bounds=Bounds(0, 1),
        integrality=np.ones(len(groups), dtype=np.int64),
        options={"node_limit": MOST_NODES, "mip_rel_gap": 0.0},
    )
    if program.status != 0:
        return None
    return [groups[i] for i in np.flatnonzero(program.x > 0.5)], float(program.fun)


def group_losses(table: BinaryTable, loss: LossTable, groups: Groups) -> NDArray[np.int64]:
    """What each of these disjoint groups loses, int64: its size times the loss of one row."""
    cells = Cells.of(table, loss)
    losses = np.empty(len(groups), dtype=np.int64)
    for g, group in enumerate(groups):
        for v in group[1:]:
            widen(v, group[0], cells)
        losses[g] = len(group) * loss_of(group[0], cells)
    return losses
