"""Noise of reliability relevance, 1000 worlds: python -m benchmarks.graphs.relevance [SET ...].

Ours toggles each edge in each world; Algorithm 6 compares the worlds with an edge and those without
it. Over 10 seeds: variance of an estimate, mean over the edges; correlation of two seeds; and the
processor seconds of one. The mean of Algorithm 6 is too great, since noise below 0 becomes 0.
"""

import sys
from functools import partial

import numpy as np

from anon_core.anonymizers.uncertain_graph.worlds.relevance import estimate_relevance
from benchmarks import timed
from benchmarks.graphs.groups import estimate_by_groups
from benchmarks.graphs.sets import load

WORLDS, SEEDS = 1000, 10
ESTIMATES = {"toggled": estimate_relevance, "groups": estimate_by_groups}


def main(*names):
    for name in names or ("collins", "krogan"):
        graph, variance = load(name), {}
        for way, estimate in ESTIMATES.items():
            estimate(graph, 1, 0)  # compiles
            runs = [timed(partial(estimate, graph, WORLDS, seed)) for seed in range(SEEDS)]
            found = np.array([values for values, _, _ in runs])
            variance[way] = found.var(axis=0, ddof=1).mean()
            print(f"{name}.{way}.mean: {found.mean():.1f}")
            print(f"{name}.{way}.variance: {variance[way]:.4g}")
            print(f"{name}.{way}.correlation: {np.corrcoef(found[0], found[1])[0, 1]:.4f}")
            print(f"{name}.{way}.processor_seconds: {np.median([c for _, _, c in runs]):.3f}")
        print(f"{name}.ratio: {variance['groups'] / variance['toggled']:.0f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
