"""Triangles by other packages, for `benchmarks.triangles`: NAME GRAPH.npz ROUNDS.

Runs under an interpreter of its own, on one thread. Each package builds its graph before the time
is taken; a package that is missing is left out and named.
"""

import os
import sys
import time
from statistics import median

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np


def usual(work, rounds):
    taken = []
    for _ in range(rounds):
        wall, processor = time.perf_counter(), time.process_time()
        result = work()
        taken.append((time.perf_counter() - wall, time.process_time() - processor))
    return result, median(t[0] for t in taken), median(t[1] for t in taken)


def networkit_count(u, v, n):
    import networkit

    networkit.setNumberOfThreads(1)
    ends = (u.astype(np.uint64), v.astype(np.uint64))
    graph = networkit.graph.GraphFromCoo((np.ones(len(u)), ends), n=n)
    graph.indexEdges()

    def work():
        score = networkit.sparsification.TriangleEdgeScore(graph)
        score.run()
        return sum(score.scores()) // 3

    return work


def graphblas_counts(u, v, n, ordered):
    import graphblas

    graphblas.ss.config["nthreads"] = 1
    ends = (np.r_[u, v], np.r_[v, u])
    whole = graphblas.Matrix.from_coo(*ends, values=True, nrows=n, ncols=n)
    degree = np.bincount(ends[0], minlength=n)

    def work():
        matrix = whole
        if ordered:
            place = np.argsort(degree, kind="stable")
            matrix = whole[place, place].new()
        part = matrix.select("triu" if ordered else "tril", 1 if ordered else -1).new()
        counts = graphblas.Matrix(int, n, n)
        counts(part.S) << graphblas.semiring.plus_pair(part @ part)
        return int(counts.reduce_scalar("plus").new())

    return work


def igraph_list(u, v, n):
    import igraph

    graph = igraph.Graph(n=n, edges=np.c_[u, v])
    return lambda: len(graph.list_triangles())


def igraph_tuples(u, v, n):
    import igraph

    triangles = igraph.Graph(n=n, edges=np.c_[u, v]).list_triangles()
    corners = list(zip(*triangles, strict=True))
    return lambda: len(list(zip(*corners, strict=True)))


WORKS = {
    "networkit.count": networkit_count,
    "graphblas.count": lambda *graph: graphblas_counts(*graph, ordered=False),
    "graphblas_by_degree.count": lambda *graph: graphblas_counts(*graph, ordered=True),
    "igraph.list": igraph_list,
    "igraph.tuples": igraph_tuples,
}


def main(name, path, rounds):
    held = np.load(path)
    graph = held["u"], held["v"], int(held["n"])
    for what, make in WORKS.items():
        try:
            work = make(*graph)
        except ImportError as missing:
            print(f"{name}.{what}.left_out: {missing.name} is not installed", flush=True)
            continue
        number, wall, processor = usual(work, int(rounds))
        print(f"{name}.{what}: {number}")
        print(f"{name}.{what}_wall_seconds: {wall:.4g}")
        print(f"{name}.{what}_processor_seconds: {processor:.4g}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
