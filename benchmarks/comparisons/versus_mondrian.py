"""Information kept at k = 10 on Adult: ours beside strict Mondrian (LeFevre et al. 2006).

Mondrian's classes are k-anonymous in the strict sense; ours promise k compatible and matchable
rows. Losses are counted alike: NCP of a cell is (levels its set has - 1) / (levels of the column -
1), an interval for ordered columns, the set of values for others.
"""

import time

import numpy as np

from anon_core.engines import local
from anon_core.measures.table.utility import utility
from benchmarks import prepare, released_cells
from benchmarks.baselines.mondrian import by_appearance, mondrian
from benchmarks.baselines.released import of_classes


def main():
    plan, table = prepare("adult-ncp.toml", "adult/adult.data.gz")
    anonymizer = plan.build_anonymizer()
    local.run(type(anonymizer)(max_iterations=2), table)  # compiles
    start = time.perf_counter()
    masked = local.run(
        anonymizer, table, tie_order=np.random.default_rng(1).permutation(table.records)
    )
    ours_seconds = time.perf_counter() - start
    ours = utility(table.codebook.ordinal, released_cells(masked))
    start = time.perf_counter()
    classes = mondrian(by_appearance(table.codebook, table.codes), int(table.k[0]))
    mondrian_seconds = time.perf_counter() - start
    theirs = utility(table.codebook.ordinal, released_cells(of_classes(table, classes)))
    print(f"records: {table.records}")
    print(f"ours_ncp: {ours.gcp:.4f}")
    print(f"mondrian_ncp: {theirs.gcp:.4f}")
    print(f"ours_cells_exact: {ours.cells_exact:.4f}")
    print(f"mondrian_cells_exact: {theirs.cells_exact:.4f}")
    print(f"ours_seconds: {ours_seconds:.2f}")
    print(f"mondrian_seconds: {mondrian_seconds:.2f}")


if __name__ == "__main__":
    main()
