"""Covers of least weight of the complete graph, proved to be so."""

import numpy as np
from numpy.typing import NDArray

from anon_core.covers.b_edge_cover import nearest_closure, sort_edges
from anon_core.covers.edges import Edges
from anon_core.errors import LimitError
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import Neighbours
from benchmarks.covers.pairs_kernels import cost_matrix
from benchmarks.covers.program import SLACK, CoverProgram

MOST_ROUNDS = 500  # linear programs
MOST_SEARCHES = 8
MOST_SECONDS = 300.0  # of one search by branch and bound
PATIENCE = 6  # linear programs without a better bound, after which no more cuts are added
LEAST_GAIN = 1e-7
FIRST_SLACK = 1e-4  # part of the bound by which the first search may miss it
ROUNDING = 1e-3  # more than sums of whole numbers as float64 are off


def exact_cover(
    graph: Dissimilarity, counts: NDArray[np.uint16], b: NDArray[np.int32], near: Neighbours
) -> Edges:
    """b-edge cover of least weight of the complete graph; arguments as for `subdominant_edges`.

    Raises
    ------
    LimitError
        No proof within `MOST_ROUNDS` programs and `MOST_SECONDS`.
    """
    return _optimum(graph, counts, b, near, None)


def perfect_b_matching(
    graph: Dissimilarity, counts: NDArray[np.uint16], b: NDArray[np.int32], near: Neighbours
) -> Edges:
    """Return b(v) edges exactly at each vertex v, of least weight; refusals as for `exact_cover`.

    Where no graph has these degrees (an odd sum, say), the cover of least weight among those with
    the fewest edges.

    References
    ----------
    The grouping step of Choromanski, Jebara and Tang, Adaptive anonymity via b-matching, by
    another solver.
    """
    return _optimum(graph, counts, b, near, fewest_edges(b))


def fewest_edges(b: NDArray[np.int32]) -> int:
    """The least number of edges of any b-edge cover of the complete graph.

    As Havel and Hakimi: the vertex in greatest need takes its edges to the others in greatest need.
    """
    need, total = np.sort(b)[::-1].astype(np.int64), 0
    while len(need) and need[0]:
        edges, need = int(need[0]), need[1:].copy()
        need[:edges] = np.maximum(need[:edges] - 1, 0)
        need = np.sort(need)[::-1]
        total += edges
    return total


def _optimum(
    graph: Dissimilarity,
    counts: NDArray[np.uint16],
    b: NDArray[np.int32],
    near: Neighbours,
    most: int | None,
) -> Edges:
    """Price columns of a linear program, add odd cuts while they help, then branch and bound."""
    matrix = _all_costs(graph, counts)
    unit = max(1, int(np.gcd.reduce(matrix, axis=None)))
    start = nearest_closure(near)
    if not len(start):
        return start
    program = CoverProgram(
        matrix / float(unit), b, most, start.u.astype(np.int64), start.v.astype(np.int64)
    )
    idle = 0
    for _ in range(MOST_ROUNDS):
        before = program.bound
        x = program.relax()
        if program.price(-SLACK * program.scale):
            continue
        if program.short:
            program.penalty *= 8
            continue
        idle = 0 if program.bound > before + LEAST_GAIN * abs(program.bound) else idle + 1
        if np.abs(x - np.round(x)).max() <= SLACK or idle == PATIENCE or not program.cut(x):
            return sort_edges(_edges(program, _proved(program, np.round(x)), matrix))
    raise LimitError(
        f"no cover was proved best within {MOST_ROUNDS} linear programs; choose another cover"
    )


def _proved(program: CoverProgram, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an integral x that is proved best: the rounded one, or that of branch and bound.

    Weights are whole numbers, so a cover below bound + 1 is best. One that weighs W is best, too,
    if the search had every pair whose reduced cost is at most W - bound.
    """
    weight = program.weight(x)
    slack = max(
        np.ceil(program.bound - ROUNDING) - program.bound + ROUNDING, FIRST_SLACK * program.bound
    )
    for attempt in range(MOST_SEARCHES):
        if weight < program.bound + 1 - ROUNDING:
            return x
        found = program.branch(slack, MOST_SECONDS)
        if found is None:
            break
        weight = program.weight(found)
        x = found
        if program.complete_to >= weight - program.bound:
            return x
        if not np.isfinite(weight) and attempt < MOST_SEARCHES // 2:
            slack *= 4  # pairs in the program may do
            continue
        slack = weight - program.bound + ROUNDING if np.isfinite(weight) else 8 * slack
        if weight >= program.bound + 1 - ROUNDING:
            program.price_all(slack)
    raise LimitError(
        f"no cover was proved best within {MOST_SECONDS:.0f} seconds of search; "
        "choose another cover"
    )


def _edges(program: CoverProgram, x: NDArray[np.float64], matrix: NDArray[np.int32]) -> Edges:
    u, v = program.u[x > 0], program.v[x > 0]
    return Edges(u.astype(np.int32), v.astype(np.int32), matrix[u, v])


def _all_costs(graph: Dissimilarity, counts: NDArray[np.uint16]) -> NDArray[np.int32]:
    """E of all pairs, int32 (n, n)."""
    n = graph.vertices
    matrix = np.zeros((n, n), dtype=np.int32)
    cost_matrix(graph.rows(), graph.costs(counts), graph.place, matrix)
    return matrix
