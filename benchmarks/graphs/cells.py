"""What hiding costs on real graphs: python -m benchmarks.graphs.cells [SET[:K:EPS] ...] [-s NAME].

One line for each cell, of 5 secret orders: mean and greatest `degree error` (mean absolute change
of an expected degree), the mean expected degree that was added, the probability that was moved (in
parts of all), and steps. NAME is a `selection`, by default "planned". `nothing` says how many
vertices are below their level if nothing changes. An adversary knows the expected degree, rounded
up.
"""

import argparse

import numpy as np

from anon_core.anonymizers import Obfuscate
from anon_core.errors import InfeasibleError
from benchmarks import timed
from benchmarks.graphs.sets import load

CELLS = (
    ("collins", 60, 0.05),
    ("collins", 100, 0.05),
    ("collins", 100, 0.1),
    ("collins", 60, 0.01),
    ("collins", 20, 0.0),
    ("krogan", 60, 0.01),
    ("krogan", 100, 0.01),
    ("krogan", 200, 0.05),
    ("krogan", 20, 0.0),
    ("tap", 60, 0.01),
    ("nethept", 500, 0.0),
    ("nethept", 2000, 0.01),
)
ORDERS = 5


def moved(made):
    """The sum of |change of p| over all pairs, in parts of the sum of p."""
    graph = made.graph
    key = np.concatenate([graph.u.astype(np.int64), made.u]) * graph.records
    key += np.concatenate([graph.v, made.v])
    change = np.concatenate([-graph.p.astype(np.int64), made.p])
    pairs, place = np.unique(key, return_inverse=True)
    of_pair = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(of_pair, place, change)
    return np.abs(of_pair).sum() / graph.p.sum(dtype=np.int64)


def measure(name, k, eps, maker):
    graph = load(name, k, eps)
    figures, seconds = [], []
    for seed in range(ORDERS):
        order = np.random.default_rng(seed).permutation(graph.records)
        try:
            made, _, processor = timed(lambda order=order: maker.anonymize(graph, tie_order=order))
        except InfeasibleError as error:
            print(f"{name}.{k}.{eps:g}: refused: {error}", flush=True)
            return
        kept = made.steps[made.result_step - 1].figures
        row = (kept["degree error"], kept["added degree"], moved(made), len(made.steps))
        figures.append(row)
        seconds.append(processor)
    error, added, part, steps = np.mean(figures, axis=0)
    print(
        f"{name}.{k}.{eps:g}: degree error {error:.3f} (at most {np.max(figures, axis=0)[0]:.3f}), "
        f"added {100 * added:+.1f} %, moved {100 * part:.1f} %, {steps:.1f} steps, "
        f"{np.median(seconds):.1f} s of processor; "
        f"nothing: {made.steps[0].figures['below']} of {graph.exempt} below",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cells", nargs="*")
    parser.add_argument("-s", "--selection", default="planned")
    parser.add_argument("-p", "--perturbation", default="towards half")
    parser.add_argument("--start", default="graph")
    given = parser.parse_args()
    maker = Obfuscate(selection=given.selection, perturbation=given.perturbation, start=given.start)
    stated = [(name, int(k), float(eps)) for name, k, eps in (c.split(":") for c in given.cells)]
    for name, k, eps in stated or CELLS:
        measure(name, k, eps, maker)


if __name__ == "__main__":
    main()
