"""The uncertain graphs of the benchmarks; real ones come from CROWDCOVER_DATA.

Two lines that name the same pair, or both directions of it, are joined by `union`: 1 - (1-p)(1-q).
Self loops are left out. `certain` graphs have no probabilities: each edge gets one of a million,
evenly, by a hash of its place.
"""

import gzip

import numpy as np

from anon_core.anonymizers.uncertain_graph.worlds.betweenness_kernels import hash_numbers
from anon_core.graphs.records import UncertainGraph
from anon_core.specs.graphs import ONE
from benchmarks import data_file

MILLIONTH = ONE // 1_000_000


def of_lines(lines, k, exempt):
    """Vertices are numbered in the order of their names."""
    names = sorted({name for line in lines for name in line[:2]})
    number = {name: at for at, name in enumerate(names)}
    absent = {}
    for line in lines:
        ends = number[line[0]], number[line[1]]
        p = float(line[2]) if len(line) > 2 else 0.0
        if ends[0] != ends[1]:
            pair = min(ends), max(ends)
            absent[pair] = absent.get(pair, 1.0) * (1 - p)
    pairs = np.array(sorted(absent), dtype=np.int32).reshape(-1, 2)
    p = np.array([round((1 - absent[u, v]) * ONE) for u, v in pairs.tolist()], dtype=np.int32)
    demand = np.full(len(names), k, dtype=np.int32)
    u, v = np.ascontiguousarray(pairs.T)
    return UncertainGraph(u, v, p, demand, exempt=int(exempt * len(names)))


def read(name, k, exempt):
    with gzip.open(data_file(name), "rt", encoding="utf-8") as text:
        lines = [line.split() for line in text if line.strip() and not line.startswith("#")]
    return of_lines(lines, k, exempt)


def with_drawn(graph):
    """The same edges, each with one of a million probabilities."""
    drawn = hash_numbers(np.arange(graph.edges)) % np.uint64(1_000_000) + np.uint64(1)
    p = drawn.astype(np.int32) * np.int32(MILLIONTH)
    return UncertainGraph(graph.u, graph.v, p, graph.k, graph.knowledge, graph.exempt)


FILES = {
    "collins": "uncertain/collins2007.txt.gz",
    "krogan": "uncertain/krogan2006_core.txt.gz",
    "tap": "uncertain/TAP_core.txt.gz",
    "nethept": "uncertain/nethept_graph_ic.inf.gz",
    "ca-hepth": "graphs/ca-HepTh.txt.gz",
    "enron": "graphs/email-Enron.txt.gz",
}
CERTAIN = ("ca-hepth", "enron")


def load(name, k=1, exempt=0.0):
    """A graph by its name; at most a share `exempt` of the vertices may stay below k."""
    graph = read(FILES[name], k, exempt)
    return with_drawn(graph) if name in CERTAIN else graph
