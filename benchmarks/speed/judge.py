"""The cost of judging a large release: poker hands, 95 features, a quick maker without search.

    python -m benchmarks.judge [RECORDS]

Records are sorted by their cards. Each shows in each column all values of its six neighbours on
either side: every record has a crowd, and hardly two rows are identical.
"""

import sys
from functools import cache, partial

import numpy as np

from anon_core.measures.table.attackers.attacks import (
    attack_as_insider,
    partial_linkage,
    tightest_rows,
)
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import components_of, crowds, records_per_row
from anon_core.measures.table.diversity import measure_diversity
from anon_core.measures.table.utility import utility
from benchmarks import memory, tables, timed

NEIGHBOURS = 6
RECORDS = 500_000


def windows(table):
    """The released cells, row v that of record v."""
    n, read = table.records, []
    order = np.lexsort(table.codes)
    near = [np.clip(np.arange(n) + step, 0, n - 1) for step in range(-NEIGHBOURS, NEIGHBOURS + 1)]
    for attribute, code in zip(table.codebook.attributes, table.codes, strict=True):
        levels = np.zeros((n, attribute.levels), dtype=np.bool_)
        for places in near:
            levels[order, code[order[places]]] = True
        packed = np.packbits(levels, axis=1)
        _, first, cell = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        read.append((cell.reshape(-1).astype(np.int32), levels[first]))
    return ReleasedCells.of(read)


def judge(table, released, draws):
    """Yield each measure's name and what it takes to make it."""
    seat = np.arange(table.records)
    classes = Classes.of(table.codes, released)
    components = cache(partial(components_of, released, classes, seat))
    yield "components", components
    yield (
        "crowds",
        lambda: crowds(table.codes, table.k, released, seat, classes, components()),
    )
    tightest = cache(partial(tightest_rows, released, classes))
    yield "tightest_row", tightest
    yield "partial_linkage", partial(partial_linkage, released, classes)
    yield "insider", lambda: attack_as_insider(classes, components(), tightest())
    yield "records_per_row", partial(records_per_row, classes)
    yield (
        "diversity_of_12_values",
        partial(measure_diversity, classes, draws.integers(0, 12, table.records), ordered=False),
    )
    yield (
        "closeness_of_5000_ranks",
        partial(measure_diversity, classes, draws.integers(0, 5000, table.records), ordered=True),
    )
    yield "utility", partial(utility, table.codebook.ordinal, released)


def main(records):
    for size in (1_000, records):  # the first compiles
        table = tables.poker(size)
        released = windows(table)
        for name, work in judge(table, released, np.random.default_rng(3)):
            found, seconds, _ = timed(work)
            if size == records:
                print(f"{name}_seconds: {seconds:.1f}", flush=True)
                if name == "crowds":
                    print(f"median_crowd: {int(np.median(found.compatible))}")
    print(f"peak_mebibytes: {memory('VmHWM'):.0f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else RECORDS)
