"""The linear program of a b-edge cover: few columns of a complete graph, priced; odd cuts; branch and bound."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, linprog, milp
from scipy.sparse import csr_array, eye_array, hstack, vstack
from scipy.sparse.csgraph import connected_components

from anon_core.errors import LimitError

PRICED = 6  # columns that a vertex adds at a time
SLACK = 1e-6
OPTIMAL, INFEASIBLE = 0, 2  # scipy's words for it
GREATEST_COST = 1e4  # costs are scaled to this for the solver, whose tolerances are absolute

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class OddCut:
    """x(edges that touch S, but those in F) >= least: for any b-edge cover, F edges that leave S, b(S) - |F| odd.

    The b(S) needs of S are met by the edges inside, twice, and by those that leave; F meets |F| of them at most, so the others
    number (b(S) - |F|) / 2 or more, and are whole.
    """

    inside: NDArray[np.bool_]
    free: Places  # numbers of columns
    least: float


class CoverProgram:
    """min cost x, 0 <= x <= 1, at least b(v) at each v, odd cuts, at most `most` edges.

    Attributes
    ----------
    cost : float64 (n, n)
        Whole numbers.
    u, v : int64 (columns,)
        The pairs in the program.
    reduced : float64 (n, n)
        Reduced costs of all pairs after `relax`.
    complete_to : float
        Every pair of a reduced cost up to this is in the program.
    bound : float
        No cover of the complete graph weighs less: the Lagrangian of the last duals, whatever the solver's tolerances.
    """

    def __init__(self, cost: Floats, b: NDArray[np.int32], most: int | None, u: Places, v: Places) -> None:
        self.cost, self.b, self.most, self.u, self.v = cost, b.astype(np.float64), most, u, v
        self.scale = max(1.0, float(cost.max()) / GREATEST_COST)
        self.penalty = 4.0 * (float(cost.max()) + 1.0)
        self.cuts: list[OddCut] = []
        self.reduced, self.bound, self.short = cost, -np.inf, True
        self.complete_to = -np.inf

    def rows(self) -> tuple[csr_array, Floats]:
        """Matrix and lower bounds: vertices, cuts, number of edges."""
        m = len(self.u)
        places = (np.concatenate([self.u, self.v]), np.tile(np.arange(m), 2))
        blocks = [csr_array((np.ones(2 * m), places), shape=(len(self.b), m))]
        low = [self.b, np.array([cut.least for cut in self.cuts])]
        for cut in self.cuts:
            counted = (cut.inside[self.u] | cut.inside[self.v]).astype(np.float64)
            counted[cut.free] = 0
            blocks.append(csr_array(counted[None, :]))
        if self.most is not None:
            blocks.append(csr_array(np.full((1, m), -1.0)))
            low.append(np.array([-float(self.most)]))
        return vstack(blocks, format="csr"), np.concatenate(low)

    def relax(self) -> Floats:
        """Solve the program without integrality: x (columns,); sets `reduced`, `bound` and whether anyone is `short`."""
        rows, low = self.rows()
        n, m = len(self.b), len(self.u)
        shortage = eye_array(rows.shape[0], n, format="csr")
        costs = np.concatenate([self.cost[self.u, self.v], np.full(n, self.penalty)]) / self.scale
        bounds = np.stack([np.zeros(m + n), np.concatenate([np.ones(m), np.full(n, np.inf)])], axis=1)
        solver: Any = linprog  # stubs know no sparse matrices
        solved = solver(costs, A_ub=-hstack([rows, shortage], format="csr"), b_ub=-low, bounds=bounds, method="highs")
        if solved.status != 0:
            raise LimitError("the solver gave up on a linear program; choose another cover")
        dual = np.maximum(0.0, -solved.ineqlin.marginals * self.scale)
        self.reduced = self.cost - dual[:n, None] - dual[None, :n]
        if self.most is not None:
            self.reduced += dual[-1]
        for cut, weight in zip(self.cuts, dual[n:], strict=False):
            if weight > 0:
                touched = cut.inside[:, None] | cut.inside[None, :]
                self.reduced[touched] -= weight
                for a, z in ((self.u, self.v), (self.v, self.u)):
                    self.reduced[a[cut.free], z[cut.free]] += weight
        upper = self.reduced[np.triu_indices(n, 1)]
        self.bound = float(dual @ low + np.minimum(upper, 0).sum())
        self.short = bool(solved.x[m:].max(initial=0.0) > SLACK)
        return np.asarray(solved.x[:m])

    def price(self, below: float) -> bool:
        """Add the pairs of least reduced cost, below `below`, of each vertex; returns whether there were any."""
        outside = self.reduced.copy()
        outside[self.u, self.v] = outside[self.v, self.u] = np.inf
        np.fill_diagonal(outside, np.inf)
        width = min(PRICED, len(outside) - 1)
        near = np.argpartition(outside, width - 1, axis=1)[:, :width]
        rows = np.repeat(np.arange(len(outside)), width)
        columns = near.ravel()
        wanted = outside[rows, columns] < below
        low, high = np.minimum(rows, columns)[wanted], np.maximum(rows, columns)[wanted]
        new = np.unique(low * len(outside) + high)
        self.u, self.v = np.append(self.u, new // len(outside)), np.append(self.v, new % len(outside))
        return len(new) > 0

    def cut(self, x: Floats) -> int:
        """Add the odd cuts that the connected parts of the fractional edges violate; returns how many."""
        broken = (x > SLACK) & (x < 1 - SLACK)
        n = len(self.b)
        graph = csr_array((np.ones(int(broken.sum())), (self.u[broken], self.v[broken])), shape=(n, n))
        _, part = connected_components(graph, directed=False)
        found = 0
        for label in np.unique(part[self.u[broken]]):
            inside = part == label
            ends = inside[self.u].astype(np.int64) + inside[self.v]
            free = np.flatnonzero((ends == 1) & (x > 1 - SLACK))
            odd = self.b[inside].sum() - len(free)
            counted = ends > 0
            counted[free] = False
            if odd > 0 and odd % 2 == 1 and x[counted].sum() < (odd + 1) / 2 - SLACK:
                self.cuts.append(OddCut(inside, free, (odd + 1) / 2))
                found += 1
        return found

    def price_all(self, slack: float) -> None:
        """Add every pair whose reduced cost is at most `slack`."""
        u, v = np.triu_indices(len(self.b), 1)
        wanted = self.reduced[u, v] <= slack
        known = np.zeros(self.cost.shape, dtype=np.bool_)
        known[self.u, self.v] = True
        wanted &= ~known[u, v]
        self.u, self.v = np.append(self.u, u[wanted]), np.append(self.v, v[wanted])
        self.complete_to = slack

    def weight(self, x: Floats) -> float:
        """What an integral x weighs; infinite where it is no cover."""
        rows, low = self.rows()
        return float(self.cost[self.u, self.v] @ x) if (rows @ x >= low - SLACK).all() else np.inf

    def branch(self, slack: float, seconds: float) -> Floats | None:
        """The best integral x whose weight is at most `bound` + slack (all zero without one); None without a proof.

        Such a cover has no pair whose reduced cost is above slack, and all whose reduced cost is below minus slack.
        """
        rows, low = self.rows()
        reduced = self.reduced[self.u, self.v]
        keep = np.flatnonzero(reduced <= slack + SLACK)
        costs = self.cost[self.u, self.v][keep] / self.scale
        solved: OptimizeResult = milp(
            costs,
            integrality=np.ones(len(keep), dtype=np.int64),
            bounds=Bounds((reduced[keep] < -slack - SLACK).astype(np.float64), 1),
            constraints=LinearConstraint(rows[:, keep], lb=low),
            options={"time_limit": seconds, "mip_rel_gap": 0.0},
        )
        if solved.status not in (OPTIMAL, INFEASIBLE):
            return None
        x = np.zeros(len(reduced))
        if solved.status == OPTIMAL:
            x[keep] = np.round(solved.x)
        return x
