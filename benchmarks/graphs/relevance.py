"""Noise of reliability relevance, 1000 worlds: python -m benchmarks.graphs.relevance [SET ...].

Ours toggles each edge in each world; Algorithm 6 compares the worlds with an edge and those without
it. Over 10 seeds: variance of an estimate, mean over the edges; correlation of two seeds; and the
processor seconds of one. The mean of Algorithm 6 is too great, since noise below 0 becomes 0.
"""

import sys
from functools import partial
from typing import get_args

import numpy as np

from anon_core.anonymizers.uncertain_graph.worlds.relevance import Estimate, estimate_relevance
from benchmarks import timed
from benchmarks.graphs.sets import load

WORLDS, SEEDS = 1000, 10


def main(*names):
    for name in names or ("collins", "krogan"):
        graph, variance = load(name), {}
        for estimate in get_args(Estimate):
            estimate_relevance(graph, 1, 0, estimate)  # compiles
            runs = [
                timed(partial(estimate_relevance, graph, WORLDS, seed, estimate))
                for seed in range(SEEDS)
            ]
            found = np.array([values for values, _, _ in runs])
            variance[estimate] = found.var(axis=0, ddof=1).mean()
            print(f"{name}.{estimate}.mean: {found.mean():.1f}")
            print(f"{name}.{estimate}.variance: {variance[estimate]:.4g}")
            print(f"{name}.{estimate}.correlation: {np.corrcoef(found[0], found[1])[0, 1]:.4f}")
            print(f"{name}.{estimate}.processor_seconds: {np.median([c for _, _, c in runs]):.3f}")
        print(f"{name}.ratio: {variance['groups'] / variance['toggled']:.0f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
