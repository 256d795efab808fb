"""Triangles beside other packages, and shuffled: python -m benchmarks.triangles WHAT [options].

versus: count and list on one thread beside networkit, python-graphblas and igraph, on email-Enron
and on a drawn power-law graph: medians of some rounds. `--python` names an interpreter that has
these packages. Our time includes the orientation; others build their graph before. igraph returns
tuples; `igraph.tuples` is the time that Python takes to make as many.
shuffle: bytes, messages and disk reads of MR-Baseline, Bermuda-EC and Bermuda-VC, beside what the
paper expects, on email-Enron and on a drawn graph.
large: counts a drawn graph of 10^8 edges; time and memory.

A drawn graph joins vertices i and j with a probability that falls as (i + 10)^-0.6 and
(j + 10)^-0.6, n = m / 10.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import get_args

import numba
import numpy as np

from anon_core.engines.local import LocalFarm
from anon_core.engines.shuffle import LEAST_MEMORY, FarmShuffle
from anon_core.errors import LimitError
from anon_core.measures.graph.triangles import counting
from anon_core.measures.graph.triangles.mapreduce import (
    MAPPERS,
    MapReduceMethod,
    list_triangles_by_shuffle,
)
from anon_core.measures.graph.triangles.oriented import orient_edges
from benchmarks import data_file, memory, timed
from crowdcover.storage.source.edges import read_edges

ROUNDS = 5
AT_ONCE = 10**7
OTHERS = Path(__file__).with_name("triangles_others.py")


def enron():
    edges = read_edges(data_file("graphs/email-Enron.txt.gz"))
    return edges.u, edges.v, edges.vertices


def drawn(edges, seed=1):
    """Draw m different edges of m / 10 vertices, with hubs."""
    n, rng = edges // 10, np.random.default_rng(seed)
    heaped = np.cumsum((np.arange(n) + 10.0) ** -0.6)
    names = rng.permutation(n).astype(np.int32)
    keys = np.empty(int(1.15 * edges), dtype=np.int64)
    for begin in range(0, len(keys), AT_ONCE):
        part = keys[begin : begin + AT_ONCE]
        ends = [
            names[np.searchsorted(heaped, rng.random(len(part)) * heaped[-1])] for _ in range(2)
        ]
        part[:] = np.minimum(*ends).astype(np.int64) * n + np.maximum(*ends)
    keys.sort()
    keep = np.ones(len(keys), dtype=np.bool_)
    keep[1:] = keys[1:] != keys[:-1]
    keep &= keys // n != keys % n
    over = int(keep.sum()) - edges
    keep[rng.choice(np.flatnonzero(keep), max(0, over), replace=False)] = False
    keys = keys[keep]
    u = (keys // n).astype(np.int32)
    keys %= n
    return u, keys.astype(np.int32), n


def usual(work):
    """Return a result, and the median wall and processor seconds of some rounds."""
    taken = [timed(work) for _ in range(ROUNDS)]
    return taken[0][0], median(each[1] for each in taken), median(each[2] for each in taken)


def versus(name, graph, python):
    u, v, n = graph
    numba.set_num_threads(1)
    print(f"{name}.edges: {len(u)}")
    works = {
        "count": lambda: counting.count_triangles(orient_edges(u, v, n, numbered=False)),
        "per_edge": lambda: int(counting.per_edge(orient_edges(u, v, n)).sum()) // 3,
        "list": lambda: len(counting.list_triangles(orient_edges(u, v, n, numbered=False))),
    }
    for work in works.values():
        work()  # compiles
    for what, work in works.items():
        number, wall, processor = usual(work)
        print(f"{name}.ours.{what}: {number}")
        print(f"{name}.ours.{what}_wall_seconds: {wall:.4g}")
        print(f"{name}.ours.{what}_processor_seconds: {processor:.4g}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.npz"
        np.savez(path, u=u, v=v, n=n)
        subprocess.run([python, OTHERS, name, path, str(ROUNDS)], check=False)


def shuffle(name, graph, reducers, share):
    """Print what each method sends; reducers hold a share of the graph's 8 bytes an edge."""
    whole = orient_edges(*graph)
    expected, m, n = counting.count_triangles(whole), whole.edges, whole.vertices
    held = max(LEAST_MEMORY, int(8 * m * share))
    words = held // 2 // 4
    print(f"{name}.edges: {m}")
    print(f"{name}.memory_of_a_reducer: {held}")
    for k in reducers:
        print(f"{name}.{k}.theorem_1_words: {k * m}")
        print(f"{name}.{k}.core_words_of_a_reducer: {m / k:.0f}")
        print(f"{name}.{k}.ec_disk_words_of_a_reducer: {m * m / (k * words):.0f}")
        print(f"{name}.{k}.vc_disk_words_of_a_reducer: {m * m / (n * k):.0f}")
        print(f"{name}.{k}.rounds_or_buckets: {m / (k * words):.1f}")
        for method in get_args(MapReduceMethod):
            try:
                one(f"{name}.{k}.{method}", whole, k, held, method, expected)
            except LimitError as refusal:
                print(f"{name}.{k}.{method}.refused: {refusal}", flush=True)


def one(prefix, whole, reducers, held, method, expected):
    with tempfile.TemporaryDirectory() as folder:
        way = FarmShuffle(LocalFarm(), Path(folder), reducers, held)
        (rows, traffic), wall, _ = timed(
            lambda: list_triangles_by_shuffle(whole, way, method, MAPPERS)
        )
    assert len(rows) == expected
    sent = traffic.sent.sum(axis=0)
    print(f"{prefix}.messages: {traffic.pairs.sum()}")
    print(f"{prefix}.bytes_shuffled: {sent.sum()}")
    print(f"{prefix}.core_words_of_a_reducer: {sent[0].max() // 4}")
    print(f"{prefix}.words_read_of_a_reducer: {traffic.read.max() // 4}")
    print(f"{prefix}.back_up_words_of_a_reducer: {traffic.kept.sum(axis=1).max() // 4}")
    print(f"{prefix}.variance_of_a_mapper: {traffic.sent.sum(axis=(1, 2)).var():.4g}")
    print(f"{prefix}.wall_seconds: {wall:.4g}", flush=True)


def large(edges):
    u, v, n = drawn(edges)
    print(f"large.edges: {len(u)}")
    print(f"large.memory_before: {memory('VmRSS'):.0f}")
    number, wall, processor = timed(
        lambda: counting.count_triangles(orient_edges(u, v, n, numbered=False))
    )
    print(f"large.triangles: {number}")
    print(f"large.wall_seconds: {wall:.4g}")
    print(f"large.processor_seconds: {processor:.4g}")
    print(f"large.most_memory: {memory('VmHWM'):.0f}")


def main(options):
    if options.what == "large":
        large(options.edges or 10**8)
        return
    graphs = {"enron": enron}
    if options.what == "versus":
        graphs["drawn"] = lambda: drawn(options.edges or 10**7)
        for name, graph in graphs.items():
            versus(name, graph(), options.python)
        return
    graphs["drawn"] = lambda: drawn(options.edges or 10**6)
    for name, graph in graphs.items():
        if options.only in (None, name):
            shuffle(name, graph(), options.reducers, options.share)


def parsed():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.triangles")
    parser.add_argument("what", choices=("versus", "shuffle", "large"))
    parser.add_argument("--python", default=sys.executable, help="has the other packages")
    parser.add_argument("--edges", type=int, help="of the drawn graph")
    parser.add_argument("--only", choices=("enron", "drawn"), help="shuffle this graph alone")
    parser.add_argument("--reducers", type=int, nargs="+", default=[4, 16, 64])
    parser.add_argument("--share", type=float, default=2.0, help="memory over the graph's bytes")
    return parser.parse_args()


if __name__ == "__main__":
    main(parsed())
