"""Table 1 of Epasto et al., k = 8: python -m benchmarks.smooth.table1 [--annealing 500] [SET...].

Each method's Jaccard similarity, suppressed and created entries in per cent, beside the paper's.
The paper's binarisation is not published; `benchmarks.smooth.matrices` has the nearest found.
"""

import argparse

import numpy as np

from anon_core.anonymizers.smooth.smooth import Smooth
from benchmarks import timed
from benchmarks.baselines.sparse import mondrian, suppressed_only
from benchmarks.smooth.matrices import SETS

K = 8
PAPER = {
    "adult-dec13": "paper, adult: mondrian 59.9, non-smooth 64.8, smooth 85.0 / 8.9 / 7.2",
    "play-cat7": "paper, playstore: mondrian 51.2, non-smooth 39.2, smooth 66.1 / 26.2 / 11.6",
}


def show(name, method, figures, processor):
    shown = " / ".join(f"{100 * figures[of]:.1f}" for of in ("jaccard", "suppressed", "created"))
    print(f"{name}.{method}: {shown} ({processor:.1f} s of processor)", flush=True)


def compare(name, annealing):
    matrix = SETS[name](K)
    print(f"{name}: {matrix.records} x {matrix.items}, {matrix.entries} entries")
    makers = {
        "matching": Smooth(),
        f"annealed-{annealing}": Smooth(annealing=annealing),
        "alg2-nearest": Smooth(method="alg2"),
        "alg2-arbitrary": Smooth(method="alg2", merge="arbitrary"),
    }
    if matrix.records <= 2000:
        makers["alg1"] = Smooth(method="alg1")
    kept = {}
    for method, maker in makers.items():
        made, _, processor = timed(lambda maker=maker: maker.anonymize(matrix))
        show(name, method, made.steps[-1].figures, processor)
        kept[method] = suppressed_only(matrix, made.group)
    group, _, processor = timed(lambda: mondrian(matrix, K))
    left = suppressed_only(matrix, group)
    show(name, "mondrian", {"jaccard": left, "suppressed": 1 - left, "created": 0}, processor)
    for method, left in kept.items():
        print(f"{name}.non-smooth.{method}: {100 * left:.1f}")
    if name in PAPER:
        print(f"{name}.{PAPER[name]}")
    assert np.bincount(group).min() >= K


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.smooth.table1")
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    parser.add_argument("--annealing", type=int, default=500)
    given = parser.parse_args()
    Smooth().anonymize(SETS["caltech36"](K))  # compiles
    for name in given.sets or SETS:
        compare(name, given.annealing)


if __name__ == "__main__":
    main()
