"""Compile the kernels of makers and auditors in two processes, before test workers ask for them.

numba keeps the machine code; two workers and the ranks of their jobs would all compile it at once.
A step calls what tests of other files call, too. Each runs in a process of its own.
"""

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import get_args

import numpy as np

from anon_core.anonymizers import (
    Adaptive,
    Freeform,
    KMember,
    LocalSearch,
    Obfuscate,
    Optimal,
    Smooth,
)
from anon_core.anonymizers.freeform.settings import SegmentMethod
from anon_core.anonymizers.weights import feature_weights
from anon_core.engines import local
from anon_core.engines.local import LocalFarm
from anon_core.engines.shuffle import FarmShuffle
from anon_core.graphs.records import UncertainGraph
from anon_core.matrices.records import SparseMatrix
from anon_core.measures.graph.degrees import Degrees, UncertainEdges
from anon_core.measures.graph.discrepancy import estimate_discrepancy
from anon_core.measures.graph.hops import path_lengths
from anon_core.measures.graph.posteriors import compute_posteriors
from anon_core.measures.graph.structure import compute_expected_clustering
from anon_core.measures.graph.triangles import counting, expected, mapreduce
from anon_core.measures.graph.triangles.oriented import orient_edges
from anon_core.measures.table.classes import ReleasedCells
from anon_core.measures.table.fitting import find_fitting_rows
from anon_core.seating.even import build_even_rows
from anon_core.seating.matching import draw_by_holders
from anon_core.seating.reseating import mix_values
from anon_core.series.fits import Fits
from anon_core.series.withdrawing import widen_withdrawal
from anon_core.specs.graphs import ONE, Knowledge
from crowdcover.kinds.table.pipeline import warm
from tests.anon_core.engines.mpi.mpirun import MPIRUN, mpirun, ordered

FURTHER = (
    *(Freeform(method=method, exchanges=False) for method in get_args(SegmentMethod)),
    Adaptive(cover="lse", max_iterations=2),
    Optimal(),
    KMember(),
    LocalSearch(effort=3, seats="even"),
)
OF_GRAPHS = (
    Obfuscate(),
    Obfuscate(selection="relevance", start="representative"),
    Obfuscate(selection="betweenness"),
)
OF_MATRICES = (
    Smooth(annealing=1),
    Smooth(block=20),
    Smooth(method="alg2"),
    Smooth(method="alg1"),
)


def compile_makers():
    """Call the kernels of a release on the small table of kinds/table/pipeline/warm.py."""
    warm.compile_makers(warm.tiny_table())


def compile_further():
    """Call those of methods that a release by default does not call, and exchange seats."""
    table = warm.tiny_table()
    for method in FURTHER:
        local.run(method, table)
    weights = feature_weights(table.codebook, "columns")
    even = build_even_rows(table, np.zeros_like(table.bits), weights)
    draw = np.random.default_rng(0)

    def words(count):
        return np.frombuffer(draw.bytes(4 * count), dtype=np.uint32)

    seat = draw_by_holders(table, even.holders, words)
    value = np.arange(table.records) % 3
    value.flags.writeable = False
    mix_values(table, even.hidden, even.holders, seat, value, words)


def compile_ranks():
    """Let one rank search and cover the small table."""
    if MPIRUN.exists():
        with tempfile.TemporaryDirectory() as folder:
            table = warm.tiny_table()
            job = ordered(Path(folder) / "job", Adaptive(max_iterations=2), table, ranks=1)
            mpirun(1, "-m", "anon_core.engines.mpi", job).check_returncode()


def compile_audit():
    """Call those of the audit of a table."""
    warm.compile_judge(warm.tiny_table())


def compile_matrices():
    """Call those of a release of a matrix."""
    for method in OF_MATRICES:
        local.run(method, tiny_matrix())


def compile_graphs():
    """Call those of a release of a graph."""
    for method in OF_GRAPHS:
        local.run(method, tiny_graph())
    local.run(Obfuscate(), replace(tiny_graph(), knowledge="distribution"))


def compile_measures_of_graphs():
    """Call those of the audit of a graph."""
    graph = tiny_graph()
    edges = UncertainEdges(graph.u, graph.v, graph.p, graph.records)
    degrees = Degrees.of(edges)
    for knowledge in get_args(Knowledge):
        compute_posteriors(degrees, degrees, knowledge)
    estimate_discrepancy(edges, edges, worlds=10)
    path_lengths(edges, edges, worlds=2)
    compute_expected_clustering(edges)


def compile_triangles():
    """Call those that count and list triangles, on one machine and by each job."""
    graph, p = tiny_graph(), tiny_graph().p
    whole = orient_edges(graph.u, graph.v, graph.records)
    counting.list_triangles(whole)
    counting.count_triangles(whole)
    counting.per_vertex(whole, counting.per_edge(whole))
    expected.compute_expected_triangles(whole, p)
    expected.compute_triangle_variance(whole, p)
    for method in get_args(mapreduce.MapReduceMethod):
        with tempfile.TemporaryDirectory() as folder:
            mapreduce.list_triangles_by_shuffle(
                whole, FarmShuffle(LocalFarm(), Path(folder), 2, 2**18), method
            )


def compile_series():
    """Let one record of a table that shows nothing and its companions go, rows as the auditor's."""
    table = warm.tiny_table()
    shown = [np.ones((1, attribute.levels), dtype=bool) for attribute in table.codebook.attributes]
    cell = np.zeros((len(shown), table.records), dtype=np.int32)
    fits = Fits(*find_fitting_rows(table.codes, ReleasedCells(cell, tuple(shown))))
    widen_withdrawal(fits, table.k, np.arange(table.records) == 0)


STEPS = (  # the longest first
    compile_makers,
    compile_graphs,
    compile_further,
    compile_matrices,
    compile_triangles,
    compile_measures_of_graphs,
    compile_audit,
    compile_series,
    compile_ranks,
)


def tiny_matrix():
    """40 records of two items each."""
    items = chain.from_iterable((v % 7, 7 + v % 5) for v in range(40))
    indptr = np.arange(0, 82, 2, dtype=np.int64)
    return SparseMatrix(indptr, np.fromiter(items, np.int32), 12, np.full(40, 3, dtype=np.int32))


def tiny_graph():
    """60 vertices; three of them have many edges, and two hide among so many."""
    pairs = [(v, w) for v in range(3) for w in range(v + 4, 60, 2 + v)]
    u, v = np.array(pairs, dtype=np.int32).T.copy()
    p = np.where((u + v) % 3 == 0, ONE // 3, ONE).astype(np.int32)
    return UncertainGraph(u, v, p, np.full(60, 2, dtype=np.int32), exempt=2)


def run(step):
    """Run a step by its name: what a process is sent."""
    globals()[step]()


def main():
    """Run all steps, two at a time; raises what one of them raises."""
    names = [step.__name__ for step in STEPS]
    with ProcessPoolExecutor(2, get_context("spawn"), max_tasks_per_child=1) as processes:
        list(processes.map(run, names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
