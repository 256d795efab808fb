"""The anonymizers side by side: python -m benchmarks.methods [--records N] [--k K] [METHOD...].

Records of Adult, 8 quasi-identifiers as in examples/adult-ncp.toml: NCP, exact cells and
seconds. N = 0: all 30,162.
"""

import argparse
import dataclasses

import numpy as np

from anon_core.anonymizers import Adaptive, Freeform, KMember, Optimal
from anon_core.engines import local
from anon_core.measures.table.utility import utility
from benchmarks import prepare, released_cells, timed

METHODS = {
    "adaptive": Adaptive(seats="even"),
    "greedy": Freeform(method="greedy", exact=0.0, exchanges=False),
    "sort-greedy": Freeform(method="sort-greedy", exact=0.0, exchanges=False),
    "hungarian": Freeform(exact=0.0, exchanges=False),
    "greedy-exchanges": Freeform(method="greedy", exact=0.0),
    "hungarian-exchanges": Freeform(exact=0.0),
    "freeform-16th": Freeform(exact=0.0625),
    "freeform": Freeform(),
    "freeform-wide": Freeform(segment=2500, exact=0.085),
    "optimal": Optimal(method="greedy", loss="rank"),
    "initial": Optimal(method="initial", loss="rank"),
    "k-member": KMember(),
}


def main(names, records, k):
    table = prepare("adult-ncp.toml", "adult/adult.data.gz")[1]
    if records:
        chosen = np.random.default_rng(5).permutation(table.records)[:records]
        table = table.at(np.sort(chosen))
    table = dataclasses.replace(table, k=np.full(table.records, k, dtype=np.int32))
    order = np.random.default_rng(1).permutation(table.records)
    for name in names or METHODS:
        maker = METHODS[name]
        made, wall, _ = timed(lambda maker=maker: local.run(maker, table, order=order))
        kept = utility(table.codebook.ordinal, released_cells(made))
        print(f"{name}: NCP {kept.gcp:.5f}, exact {kept.cells_exact:.4f}, {wall:.1f} s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("methods", nargs="*", choices=[*METHODS, []])
    parser.add_argument("--records", type=int, default=0)
    parser.add_argument("--k", type=int, default=10)
    given = parser.parse_args()
    main(given.methods, given.records, given.k)
