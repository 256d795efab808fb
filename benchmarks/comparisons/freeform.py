"""Freeform in one segment and in many: python -m benchmarks.freeform [METHOD...] [options].

    python -m benchmarks.freeform greedy --records 10000 --segments 0
    python -m benchmarks.freeform greedy hungarian --records 100000 --segments 1000
    python -m benchmarks.freeform hungarian --records 1000 --segments 0
    python -m benchmarks.freeform --records 10000 --segments 500 1000 2000 4000 10000

Records of Adult (8 quasi-identifiers, examples/adult-ncp.toml) drawn with replacement, or poker
hands. Seconds of the wall and of the processor for partitioning (order and cut), all partitions,
and extracting k random assignments. `each_its_machine` is what Doka et al. count, section 8.1: the
first, and one partition's part of the others. Then the draw that crowdcover publishes, NCP and
exact cells. Without exchanges, unless --exchanges.
"""

import argparse
import time
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from anon_core.anonymizers import Freeform
from anon_core.engines import local
from anon_core.measures.table.utility import utility
from anon_core.seating.matching import random_matching
from anon_core.specs.demands import Demand
from anon_core.steps import Observer
from benchmarks import prepare, released_cells, tables

METHODS = ("greedy", "sort-greedy", "hungarian")


def adult(records):
    """Adult records, drawn with replacement."""
    whole = prepare("adult-ncp.toml", "adult/adult.data.gz")[1]
    return whole.at(np.random.default_rng(5).integers(0, whole.records, records))


SETS = {"adult": adult, "poker": tables.poker}


class Clock(Observer):
    """Notes when each step ended: seconds of the wall, and of the processor."""

    def __init__(self):
        self.times = [now()]

    def on_step(self, _state):
        self.times.append(now())


def now():
    return np.array([time.perf_counter(), time.process_time()])


def assignments(holders, generator):
    """k perfect matchings, none of them twice, drawn one after the other from who holds what."""
    n, k = holders.shape
    graph = csr_array(
        (np.ones(n * k, dtype=np.int8), (np.repeat(np.arange(n), k), holders.ravel())), (n, n)
    )
    found = []
    for _ in range(k):
        rows, records = generator.permutation(n), generator.permutation(n)
        drawn = maximum_bipartite_matching(graph[rows][:, records], perm_type="column")
        assert (drawn >= 0).all()  # a regular graph has a perfect matching
        matching = np.empty(n, dtype=np.int64)
        matching[rows] = records[drawn]
        found.append(matching)
        graph = graph - csr_array((np.ones(n, dtype=np.int8), (np.arange(n), matching)), (n, n))
        graph.eliminate_zeros()
    return found


def main(methods, given):
    table = SETS[given.set](given.records)
    table = replace(table, k=tables.demanded(Demand(constant=given.k), table.records))
    order = np.random.default_rng(1).permutation(table.records)
    few = table.at(np.arange(2 * given.k))
    for method in methods:
        local.run(Freeform(method=method), few, threads=given.threads)  # compiles
        for segment in given.segments:
            maker = Freeform(method=method, segment=segment, exact=0.0, exchanges=given.exchanges)
            measure(f"{method}.{segment or table.records}", maker, table, order, given)


def measure(name, maker, table, order, given):
    clock = Clock()
    made = local.run(maker, table, tie_order=order, observer=clock, threads=given.threads)
    begun, first, last = clock.times[0], clock.times[1], clock.times[given.k]
    partitions = len(maker.segments(table)) - 1
    spent = first - begun + (last - first) / partitions
    show(f"{name}.partitioning", first - begun)
    show(f"{name}.partitions", last - first)
    if given.exchanges:
        show(f"{name}.exchanges", clock.times[-1] - last)
    else:  # equal records that exchange hold shares in common: then a row may hold one twice
        begun = now()
        assert len(assignments(made.holders, np.random.default_rng(2))) == given.k
        drawing = now() - begun
        show(f"{name}.assignments", drawing)
        show(f"{name}.each_its_machine", spent + drawing / partitions)
    generator, begun = np.random.default_rng(3), now()
    random_matching(made, lambda count: generator.integers(0, 2**32, count, dtype=np.uint32))
    show(f"{name}.secret_draw", now() - begun)
    kept = utility(table.codebook.ordinal, released_cells(made))
    print(f"{name}.stated_memory: {maker.memory(table) / 2**20:.0f} MiB")
    print(f"{name}.ncp: {kept.gcp:.5f}")
    print(f"{name}.exact: {kept.cells_exact:.4f}", flush=True)


def show(name, seconds):
    print(f"{name}: {seconds[0]:.2f} s, processor {seconds[1]:.2f} s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("methods", nargs="*", choices=[*METHODS, []])
    parser.add_argument("--set", choices=SETS, default="adult")
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--segments", type=int, nargs="*", default=[0])
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--exchanges", action="store_true")
    arguments = parser.parse_args()
    main(arguments.methods or METHODS, arguments)
