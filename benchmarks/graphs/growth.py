"""Time and memory by the number of edges: python -m benchmarks.graphs.growth [EDGES ...].

Drawn graphs with five edges a vertex and a few vertices of many edges. k = 100, and half of the
vertices that hide among fewer in the source may stay so: the demand is as hard at each size. The
exponent is that of processor time over edges, from the first size to the last.
"""

import sys
from dataclasses import replace

import numpy as np

from anon_core.anonymizers import Obfuscate
from anon_core.anonymizers.uncertain_graph.degrees import GraphEdges
from anon_core.anonymizers.uncertain_graph.hiding import Hiding
from anon_core.graphs.records import UncertainGraph
from benchmarks import memory, timed
from benchmarks.graphs.sets import with_drawn

K = 100


def drawn(edges):
    """Pairs of vertices, v drawn in proportion to (v + 10)^(-0.6)."""
    n = edges // 5
    draws = np.random.default_rng(edges)
    chance = np.cumsum((np.arange(n) + 10.0) ** -0.6)
    ends = np.searchsorted(chance / chance[-1], draws.random((2, edges + edges // 4)))
    u, v = ends.min(axis=0), ends.max(axis=0)
    keys = np.unique(u[u < v] * n + v[u < v])
    keys = np.sort(draws.permutation(keys)[:edges])
    u, v = (keys // n).astype(np.int32), (keys % n).astype(np.int32)
    graph = with_drawn(UncertainGraph(u, v, u, np.full(n, K, dtype=np.int32)))
    hiding = Hiding.of(graph)
    bits = hiding.entropies(GraphEdges(n, graph.u, graph.v, graph.p))
    return replace(graph, exempt=int(np.count_nonzero(hiding.below(bits))) // 2)


def measure(edges):
    graph, maker = drawn(edges), Obfuscate()
    before = memory("VmRSS")
    made, seconds, processor = timed(lambda: maker.anonymize(graph))
    steps = made.steps
    print(f"{edges}.below: {steps[0].figures['below']} of {graph.exempt} exempt")
    print(f"{edges}.degree_error: {steps[-1].figures['degree error']:.3f}")
    print(f"{edges}.added: {100 * steps[-1].figures['added degree']:+.1f} %")
    print(f"{edges}.steps: {len(steps)}")
    print(f"{edges}.seconds: {seconds:.1f}")
    print(f"{edges}.processor_seconds: {processor:.1f}")
    print(f"{edges}.added_mib: {memory('VmHWM') - before:.0f}")
    print(f"{edges}.stated_mib: {maker.memory(graph) / 2**20:.0f}", flush=True)
    return graph.edges, processor


def main():
    Obfuscate().anonymize(drawn(20_000))  # compiles
    found = [measure(int(size)) for size in sys.argv[1:] or ("10000", "100000", "1000000")]
    if len(found) > 1:
        (few, soon), (many, late) = found[0], found[-1]
        print(f"exponent: {np.log(late / soon) / np.log(many / few):.2f}")


if __name__ == "__main__":
    main()
