"""Two-terminal reliability: the chance that a path of existing edges joins two vertices.

Definition 2 of Xiao, Towards Graph Analytic and Privacy Protection. Exact values are for small
graphs: the problem is #P-complete. The auditor samples worlds (`measures.graph.discrepancy`).
"""

import numpy as np

from anon_core.errors import InputError, LimitError
from anon_core.measures.graph.degrees import UncertainEdges
from anon_core.specs.graphs import ONE
from benchmarks.graphs.reliability_kernels import enumerate_worlds

_ENUMERATED = 20  # edges: about a million worlds
_BRANCHES = 2**16

_Neighbours = dict[int, dict[int, float]]


def enumerate_reliability(edges: UncertainEdges, a: int, b: int) -> float:
    """Return the reliability of two vertices, a sum over all worlds.

    Raises
    ------
    LimitError
        More than `_ENUMERATED` edges may exist.
    """
    _refuse_one(edges, a, b)
    possible = edges.p > 0
    number = int(np.count_nonzero(possible))
    if number > _ENUMERATED:
        raise LimitError(
            f"{number} edges may exist, and all worlds of at most {_ENUMERATED} are enumerated; "
            "factor or sample"
        )
    ends, place = np.unique(
        np.concatenate([edges.u[possible], edges.v[possible], [a, b]]), return_inverse=True
    )
    u, v = place[:number].astype(np.int32), place[number : 2 * number].astype(np.int32)
    a, b = place[2 * number :].tolist()
    return float(enumerate_worlds(u, v, edges.p[possible] / ONE, len(ends), a, b))


def factor_reliability(edges: UncertainEdges, a: int, b: int, branches: int = _BRANCHES) -> float:
    """Return the reliability of two vertices by factorization.

    Lemma 1: R = p R(the edge contracted) + (1 - p) R(the edge removed). Before each branch,
    vertices that no path needs are removed, and edges in series are joined.

    Raises
    ------
    LimitError
        More than `branches` edges were branched on.
    """
    _refuse_one(edges, a, b)
    near: _Neighbours = {a: {}, b: {}}
    for u, v, p in zip(edges.u.tolist(), edges.v.tolist(), edges.p.tolist(), strict=True):
        if p:
            near.setdefault(u, {})[v] = near.setdefault(v, {})[u] = p / ONE
    total, left = 0.0, branches
    stack = [(1.0, near)]
    while stack:
        weight, graph = stack.pop()
        joined = _reduce_graph(graph, a, b)
        if joined is not None:
            total += weight * joined
            continue
        if not left:
            raise LimitError(f"factorization needs more than {branches} branches; sample worlds")
        left -= 1
        other = max(graph[a], key=lambda vertex: (graph[a][vertex], vertex))
        p = graph[a][other]
        without = {vertex: dict(ends) for vertex, ends in graph.items()}
        del without[a][other], without[other][a]
        if other == b:
            total += weight * p
        else:
            _contract_edge(graph, a, other)
            stack.append((weight * p, graph))
        stack.append((weight * (1 - p), without))
    return total


def _refuse_one(edges: UncertainEdges, a: int, b: int) -> None:
    if a == b or not (0 <= a < edges.vertices and 0 <= b < edges.vertices):
        raise InputError("reliability needs two distinct vertices of the graph")


def _reduce_graph(near: _Neighbours, a: int, b: int) -> float | None:
    """Shrink a graph in place; return its reliability where that is plain."""
    queue = [vertex for vertex in near if vertex not in {a, b}]
    while queue:
        vertex = queue.pop()
        ends = near.get(vertex)
        if ends is None or len(ends) > 2:
            continue
        del near[vertex]
        for end in ends:
            del near[end][vertex]
        if len(ends) == 2:
            one, other = ends
            _add_parallel_edge(near, one, other, ends[one] * ends[other])
        queue.extend(end for end in ends if end not in {a, b})
    if not _is_connected(near, a, b):
        return 0.0
    if near[a].keys() == {b}:
        return near[a][b]
    return None


def _is_connected(near: _Neighbours, a: int, b: int) -> bool:
    seen, queue = {a}, [a]
    while queue:
        fresh = near[queue.pop()].keys() - seen
        seen |= fresh
        queue.extend(fresh)
    return b in seen


def _add_parallel_edge(near: _Neighbours, one: int, other: int, p: float) -> None:
    """Add an edge, beside the one that there may be."""
    both = 1 - (1 - near[one].get(other, 0.0)) * (1 - p)
    near[one][other] = near[other][one] = both


def _contract_edge(near: _Neighbours, a: int, other: int) -> None:
    """Make another vertex one with a."""
    ends = near.pop(other)
    del near[a][other]
    for end, p in ends.items():
        if end != a:
            del near[end][other]
            _add_parallel_edge(near, a, end, p)
