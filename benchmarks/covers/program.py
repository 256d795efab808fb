"""The linear program of a b-edge cover: priced columns, odd cuts, branch and bound."""

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
    """x(edges that touch S, but those in F) >= least, for every b-edge cover.

    F are edges that leave S, b(S) - |F| is odd. An edge inside meets two of the b(S) needs, one
    that leaves meets one. F meets |F| at most, so the others number (b(S) - |F|) / 2 or more, and
    they are whole.
    """

    inside: NDArray[np.bool_]
    free: Places  # numbers of columns
    least: float


class CoverProgram:
    """min cost x, 0 <= x <= 1, b(v) edges or more at each v, odd cuts, at most `most` edges.

    Attributes
    ----------
    cost : float64 (n, n)
        Whole numbers.
    u, v : int64 (columns,)
        The pairs in the program.
    reduced : float64 (n, n)
        Reduced costs of all pairs after `relax`.
    bound : float
        No cover of the complete graph weighs less: the Lagrangian of the last duals, whatever
        the solver's tolerances.
    short : bool
        Whether the last solution left somebody in need, at `penalty` an edge.
    complete_to : float
        Every pair of a reduced cost up to this is in the program.
    """

    def __init__(
        self, cost: Floats, b: NDArray[np.int32], most: int | None, u: Places, v: Places
    ) -> None:
        self.cost, self.b, self.most, self.u, self.v = cost, b.astype(np.float64), most, u, v
        self.surplus = np.inf if most is None else 2.0 * most - self.b.sum()
        self.scale = max(1.0, float(cost.max()) / GREATEST_COST)
        self.penalty = 4.0 * (float(cost.max()) + 1.0)
        self.cuts: list[OddCut] = []
        self.reduced, self.bound, self.short, self.complete_to = cost, -np.inf, True, -np.inf

    def degrees(self) -> csr_array:
        """Rows of the vertices."""
        m = len(self.u)
        places = (np.concatenate([self.u, self.v]), np.tile(np.arange(m), 2))
        return csr_array((np.ones(2 * m), places), shape=(len(self.b), m))

    def is_counted(self) -> csr_array:
        """Rows of the cuts."""
        touched = np.zeros((len(self.cuts), len(self.u)))
        for row, cut in zip(touched, self.cuts, strict=True):
            row[cut.inside[self.u] | cut.inside[self.v]] = 1
            row[cut.free] = 0
        return csr_array(touched)

    def relax(self) -> Floats:
        """Solve the program without integrality: x (columns,); sets `reduced`, `bound` and `short`.

        Further columns: what each vertex lacks, at a penalty, and its surplus, `surplus` in all.
        """
        n, m = len(self.b), len(self.u)
        least = np.array([-cut.least for cut in self.cuts])
        costs = (
            np.concatenate([self.cost[self.u, self.v], np.full(n, self.penalty), np.zeros(n)])
            / self.scale
        )
        highest = np.concatenate([np.ones(m), np.full(n, np.inf), np.full(n, self.surplus)])
        unit, one = eye_array(n, format="csr"), csr_array(np.ones((1, n)))
        rows: Any = hstack([-self.is_counted(), csr_array((len(self.cuts), 2 * n))])
        if np.isfinite(self.surplus):
            rows = vstack([rows, hstack([csr_array((1, m + n)), one])])
            least = np.append(least, self.surplus)
        solver: Any = linprog  # stubs know no sparse matrices
        solved = solver(
            costs,
            A_eq=hstack([self.degrees(), unit, -unit], format="csr"),
            b_eq=self.b,
            A_ub=rows.tocsr() if rows.shape[0] else None,
            b_ub=least if rows.shape[0] else None,
            bounds=np.stack([np.zeros(m + 2 * n), highest], axis=1),
            method="highs",
        )
        if solved.status != OPTIMAL:
            raise LimitError("the solver gave up on a linear program; choose another cover")
        dual = solved.eqlin.marginals * self.scale
        weights = np.maximum(0.0, -solved.ineqlin.marginals[: len(self.cuts)] * self.scale)
        self._judge(dual if np.isfinite(self.surplus) else np.maximum(0.0, dual), weights)
        self.short = bool(solved.x[m : m + n].max(initial=0.0) > SLACK)
        return np.asarray(solved.x[:m])

    def _judge(self, dual: Floats, weights: Floats) -> None:
        """Reduced costs and the bound that duals of vertices and of cuts give."""
        self.reduced = self.cost - dual[:, None] - dual[None, :]
        for cut, weight in zip(self.cuts, weights, strict=True):
            if weight > 0:
                self.reduced[cut.inside[:, None] | cut.inside[None, :]] -= weight
                for a, z in ((self.u, self.v), (self.v, self.u)):
                    self.reduced[a[cut.free], z[cut.free]] += weight
        upper = self.reduced[np.triu_indices(len(self.b), 1)]
        excess = self.surplus * min(0.0, float(dual.min())) if np.isfinite(self.surplus) else 0.0
        cuts = sum(cut.least * weight for cut, weight in zip(self.cuts, weights, strict=True))
        self.bound = float(dual @ self.b + cuts + excess + np.minimum(upper, 0).sum())

    def price(self, below: float) -> bool:
        """Add each vertex's pairs of least reduced cost below `below`; return whether any."""
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
        self.u, self.v = (
            np.append(self.u, new // len(outside)),
            np.append(self.v, new % len(outside)),
        )
        return len(new) > 0

    def cut(self, x: Floats) -> int:
        """Add odd cuts that connected parts of the fractional edges violate; return how many."""
        broken = (x > SLACK) & (x < 1 - SLACK)
        n = len(self.b)
        graph = csr_array(
            (np.ones(int(broken.sum())), (self.u[broken], self.v[broken])), shape=(n, n)
        )
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
        enough = (self.degrees() @ x >= self.b).all() and (
            self.most is None or x.sum() <= self.most
        )
        return float(self.cost[self.u, self.v] @ x) if enough else np.inf

    def branch(self, slack: float, seconds: float) -> Floats | None:
        """Return the best integral x of weight `bound` + slack at most, None without a proof.

        All zero if there is none. Such a cover has no pair whose reduced cost is above slack, and
        every pair whose reduced cost is below minus slack.
        """
        reduced = self.reduced[self.u, self.v]
        keep = np.flatnonzero(reduced <= slack + SLACK)
        rows, low, high = [self.degrees()[:, keep]], self.b, self.b + self.surplus
        if self.cuts:
            rows.append(self.is_counted()[:, keep])
            low = np.append(low, [cut.least for cut in self.cuts])
            high = np.append(high, np.full(len(self.cuts), np.inf))
        if 0 < self.surplus < np.inf:
            rows.append(csr_array(np.ones((1, len(keep)))))
            low, high = np.append(low, 0.0), np.append(high, float(self.most or 0))
        solved: OptimizeResult = milp(
            self.cost[self.u, self.v][keep] / self.scale,
            integrality=np.ones(len(keep), dtype=np.int64),
            bounds=Bounds((reduced[keep] < -slack - SLACK).astype(np.float64), 1),
            constraints=LinearConstraint(vstack(rows, format="csr"), lb=low, ub=high),
            options={"time_limit": seconds, "mip_rel_gap": 0.0},
        )
        if solved.status not in (OPTIMAL, INFEASIBLE):
            return None
        x = np.zeros(len(reduced))
        if solved.status == OPTIMAL:
            x[keep] = np.round(solved.x)
        return x
