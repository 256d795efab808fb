"""Sampled worlds beside networkit and igraph: python -m benchmarks.graphs.worlds [SET ...].

Each draws worlds of an uncertain graph and counts the connected pairs of each. Ours draws, joins
components and counts in one kernel. For the others, numpy draws the edges of a world; each builds
the world by the fastest way found (igraph: a subgraph of the whole graph) and finds its components.
scipy does so, too. "components" is their time without drawing and building. All take turns in one
process, on one thread; times are those of the processor, a ratio is the median over the rounds.

networkit and igraph are no requirement of this package: install them where it is installed.
"""

import statistics
import sys
import time

import numba
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from anon_core.specs.graphs import ONE
from benchmarks import leave_out
from benchmarks.graphs.groups import count_connected_pairs
from benchmarks.graphs.relevance import ESTIMATES
from benchmarks.graphs.sets import load

WORLDS = {"collins": 1000, "krogan": 1000, "enron": 20}
ROUNDS = 5


def pairs_in(sizes):
    """Connected pairs of vertices, from the sizes of all components."""
    sizes = np.asarray(sizes, dtype=np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


class Networkit:
    """Builds a graph from two arrays of ends."""

    def __init__(self, networkit, graph):
        networkit.setNumberOfThreads(1)
        self.kit, self.graph = networkit, graph

    def build(self, exists):
        u, v = self.graph.u[exists], self.graph.v[exists]
        coo = np.ones(len(u)), (u, v)
        return self.kit.GraphFromCoo(coo, n=self.graph.records, weighted=False, directed=False)

    def sizes(self, built):
        found = self.kit.components.ConnectedComponents(built)
        found.run()
        return list(found.getComponentSizes().values())


class Igraph:
    """Takes a subgraph."""

    def __init__(self, igraph, graph):
        self.whole = igraph.Graph(graph.records, np.column_stack([graph.u, graph.v]))

    def build(self, exists):
        return self.whole.subgraph_edges(np.flatnonzero(exists).tolist(), delete_vertices=False)

    def sizes(self, built):
        return built.connected_components(mode="weak").sizes()


class Scipy:
    """Builds a sparse matrix."""

    def __init__(self, graph):
        self.graph = graph

    def build(self, exists):
        u, v = self.graph.u[exists], self.graph.v[exists]
        ones, shape = np.ones(len(u), dtype=np.int8), (self.graph.records, self.graph.records)
        return coo_array((ones, (u, v)), shape=shape).tocsr()

    def sizes(self, built):
        return np.bincount(connected_components(built, directed=False)[1])


def sampled(other, graph, worlds, seed):
    """Mean connected pairs; seconds in all, and of the components alone."""
    p, random = graph.p / ONE, np.random.default_rng(seed)
    total, alone, start = 0, 0.0, time.process_time()
    for _ in range(worlds):
        built = other.build(random.random(graph.edges) < p)
        before = time.process_time()
        sizes = other.sizes(built)
        alone += time.process_time() - before
        total += pairs_in(sizes)
    return total / worlds, time.process_time() - start, alone


def ours(graph, worlds, seed):
    """Mean connected pairs, and seconds."""
    start = time.process_time()
    mean = float(count_connected_pairs(graph, worlds, seed).mean())
    return mean, time.process_time() - start


def measure(name, networkit, igraph):
    graph, worlds = load(name), WORLDS[name]
    print(f"{name}.graph: {graph.records} vertices, {graph.edges} edges, {worlds} worlds")
    others = {
        "networkit": Networkit(networkit, graph),
        "igraph": Igraph(igraph, graph),
        "scipy": Scipy(graph),
    }
    ours(graph, 1, 0)  # compiles
    for estimate in ESTIMATES.values():
        estimate(graph, 1, 0)
    took, means = {}, {}
    for seed in range(ROUNDS):
        means["ours"], seconds = ours(graph, worlds, seed)
        took.setdefault("ours", []).append(seconds)
        for label, other in others.items():
            means[label], seconds, alone = sampled(other, graph, worlds, seed)
            took.setdefault(label, []).append(seconds)
            took.setdefault(f"{label} components", []).append(alone)
        for way, estimate in ESTIMATES.items():
            start = time.process_time()
            estimate(graph, worlds, seed)
            took.setdefault(f"relevance {way}", []).append(time.process_time() - start)
    tell(name, worlds, took, means)


def tell(name, worlds, took, means):
    for label, mean in means.items():
        print(f"{name}.{label}.connected_pairs: {mean:.0f}")
    for label, seconds in took.items():
        print(f"{name}.{label}.ms_per_world: {1000 * statistics.median(seconds) / worlds:.3f}")
        ratios = [b / a for a, b in zip(took["ours"], seconds, strict=True)]
        print(f"{name}.{label}.over_ours: {statistics.median(ratios):.1f}", flush=True)


def main(*names):
    try:
        import igraph
        import networkit
    except ImportError:
        leave_out("networkit and igraph are not installed; pip install networkit igraph")
    numba.set_num_threads(1)
    for name in names or ("collins", "enron"):
        measure(name, networkit, igraph)


if __name__ == "__main__":
    main(*sys.argv[1:])
