"""Anonymize and judge one example: python -m benchmarks.anonymize EXAMPLE.toml DATA_FILE."""

import sys

import numpy as np

from anon_core.engines import local
from anon_core.measures.table.crowds import crowds
from anon_core.measures.table.utility import utility
from anon_core.seating.matching import random_matching
from benchmarks import memory, prepare, released_cells, timed


def main(example, data):
    plan, table = prepare(example, data)
    generator = np.random.default_rng(1)
    order = generator.permutation(table.records)
    print(f"records: {table.records}")
    print(f"features: {table.codebook.features}")
    local.run(type(plan.build_anonymizer())(max_iterations=2), table, tie_order=order)  # compiles
    masked, seconds, _ = timed(lambda: local.run(plan.build_anonymizer(), table, tie_order=order))
    print(f"anonymize_seconds: {seconds:.2f}")
    steps = len(masked.steps)
    print(f"iterations: {steps}")
    nanoseconds = 1e9 * seconds / steps / table.records**2
    print(f"nanoseconds_per_pair_and_iteration: {nanoseconds:.3f}")
    seat, seconds, _ = timed(
        lambda: random_matching(
            masked, lambda count: generator.integers(0, 2**32, count, dtype=np.uint32)
        )
    )
    print(f"seat_seconds: {seconds:.2f}")
    print(f"in_own_row: {(seat == np.arange(table.records)).mean():.4f}")
    print(f"mean_of_1_over_k: {(1 / table.k).mean():.4f}")
    released, seconds, _ = timed(lambda: released_cells(masked))
    print(f"cells_seconds: {seconds:.2f}")
    crowds(table.codes, table.k, released, seat)  # compiles
    found, seconds, _ = timed(lambda: crowds(table.codes, table.k, released, seat))
    print(f"judge_seconds: {seconds:.2f}")
    kept = utility(table.codebook.ordinal, released)
    print(f"below_k: {found.below_k}")
    print(f"matchable_below_k: {found.matchable_below_k}")
    print(f"utility: {kept.suppression:.4f}")
    print(f"ncp: {kept.gcp:.4f}")
    print(f"cells_exact: {kept.cells_exact:.4f}")
    print(f"stated_memory_MiB: {plan.build_anonymizer().memory(table) / 2**20:.0f}")
    print(f"peak_memory_MiB: {memory('VmHWM'):.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
