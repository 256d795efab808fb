"""What `block` costs in similarity, k = 8: python -m benchmarks.smooth.blocks [SET|RECORDS...].

A number is a planted set of so many records and a tenth as many items. Each line has the similarity
after each pass; block = 0 is the default, whose steps are sweeps: its last one stands. `search` is
the search for near records, which no block shares.
"""

import sys

from anon_core.anonymizers.smooth.counts_kernels import ItemRows
from anon_core.anonymizers.smooth.neighbours import list_neighbours
from anon_core.anonymizers.smooth.smooth import Smooth
from benchmarks import timed
from benchmarks.smooth.matrices import SETS, planted

K = 8
BLOCKS = (0, 1000, 10_000)


def measure(name):
    if name.isdigit():
        matrix, _ = planted(int(name), int(name) // 10, K)
    else:
        matrix = SETS[name](K)
    print(f"{name}: {matrix.records} x {matrix.items}, {matrix.entries} entries")
    rows = ItemRows(matrix.indptr, matrix.indices, matrix.k)
    _, _, processor = timed(lambda: list_neighbours(rows, matrix.items))
    print(f"{name}.search: {processor:.1f} s of processor")
    for block in BLOCKS:
        maker = Smooth(block=block)
        made, _, processor = timed(lambda maker=maker: maker.anonymize(matrix))
        steps = made.steps if block else made.steps[-1:]
        reached = ", ".join(f"{100 * step.figures['jaccard']:.1f}" for step in steps)
        print(f"{name}.{block}: {reached} ({processor:.1f} s of processor)", flush=True)


def main():
    for block in BLOCKS:
        Smooth(block=block).anonymize(SETS["caltech36"](K))  # compiles
    for name in sys.argv[1:] or ("adult-dec13", "play-cat7", "100000"):
        measure(name)


if __name__ == "__main__":
    main()
