"""The k-regular generalization of least loss, as a mixed-integer program by HiGHS.

Doka et al. solve the problem by such a program for few records (their section 4, not at hand; Liang
and Samavi cite it). This one is over the features that a row hides. Each row is held by its own
record and k - 1 others, each record holds k rows, and a feature is hidden if a holder differs in
it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

NODES = 200_000


@dataclass(frozen=True)
class Solved:
    """Holders int32 (n, k), what the rows lose, a bound from below, and whether it is proved."""

    holders: np.ndarray
    loss: float
    bound: float
    proved: bool


def freeform_program(table, loss, k, *, nodes=NODES):
    """Solve the program; None if no solution is found within the nodes.

    loss is a `LossTable`, of a table without missing levels in ordered columns.
    """
    n = table.records
    pairs = np.array([(v, r) for r in range(n) for v in range(n) if v != r])
    features = [_features(table, loss, v, r) for v, r in pairs]
    names = sorted(set().union(*features))
    place = {name: len(pairs) + i for i, name in enumerate(names)}
    rows = [(place[name], pair) for pair, held in enumerate(features) for name in held]
    signs = np.tile([1.0, -1.0], len(rows))
    at = np.repeat(np.arange(len(rows)), 2), np.array(rows).ravel().astype(np.int64)
    shape = len(pairs) + len(names)
    implied = coo_array((signs, at), shape=(len(rows), shape))
    ends = np.concatenate([pairs[:, 0], n + pairs[:, 1]])
    both = np.tile(np.arange(len(pairs)), 2)
    degree = coo_array((np.ones(len(both)), (ends, both)), shape=(2 * n, shape))
    costs = np.zeros(shape)
    for held in features:
        for name, cost in held.items():
            costs[place[name]] = cost
    found = milp(
        costs / loss.whole.max(),
        constraints=[
            LinearConstraint(implied, 0, np.inf),
            LinearConstraint(degree, k - 1, k - 1),
        ],
        bounds=Bounds(0, 1),
        integrality=np.arange(shape) < len(pairs),
        options={"node_limit": nodes, "mip_rel_gap": 0.0},
    )
    if found.x is None:
        return None
    chosen = pairs[found.x[: len(pairs)] > 0.5]
    others = chosen[np.argsort(chosen[:, 1], kind="stable"), 0].reshape(n, k - 1)
    holders = np.column_stack([np.arange(n), others]).astype(np.int32)
    return Solved(holders, found.fun, found.mip_dual_bound, found.status == 0)


def _features(table, loss, v, r):
    """What row r hides if record v holds it: cost by (row, attribute, feature)."""
    book, hides = table.codebook, {}
    for a, ordinal in enumerate(book.ordinal):
        mine, theirs, at = table.codes[a, r], table.codes[a, v], book.level_offsets[a]
        if mine == theirs:
            continue
        if ordinal:
            low, high = sorted((mine, theirs))
            steps = np.diff(loss.position[at + low : at + high + 1])
            hides |= {(r, a, low + i): int(step) for i, step in enumerate(steps)}
        else:
            hides[r, a, int(theirs)] = int(loss.step[a])
        if loss.first[a]:
            hides[r, a, -1] = int(loss.first[a])
    return hides
