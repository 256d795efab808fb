"""Anonymize one set once: python -m benchmarks.one_run SET [--records N] [--iterations N] [...].

The other benchmarks start it in a process of its own. Memory is that of the whole process, about
250 MiB of it libraries. The sha256 is of what is hidden and of a cover by agreeing pairs.
"""

import argparse
import dataclasses
import hashlib
import time

import numpy as np

from anon_core.anonymizers import ANONYMIZERS, Adaptive
from anon_core.anonymizers.adaptive.schedule import WARM_START_RECORDS
from anon_core.covers.named import COVERS
from anon_core.engines import local
from anon_core.errors import AnonymityError
from anon_core.steps import Observer
from benchmarks import covers, leave_out, memory, tables, timed
from benchmarks.covers.agreement import end_cover

SMALL = 64  # records of the run that compiles, where no part goes ahead


def settings(arguments):
    if arguments.anonymizer != "adaptive":
        return ANONYMIZERS[arguments.anonymizer](weights=arguments.weights)
    chosen = {name: getattr(arguments, name) for name in ("weights", "cover", "schedule")}
    chosen["max_iterations"] = arguments.iterations
    return Adaptive(**{name: value for name, value in chosen.items() if value is not None})


class Clock(Observer):
    """When each iteration ended."""

    def __init__(self):
        self.ends = [time.perf_counter()]

    def on_step(self, state):
        self.ends.append(time.perf_counter())
        utility = state.steps[-1].figures["utility"]
        print(f"iteration_{len(self.ends) - 1}: {utility:.4f}", flush=True)


def describe(table):
    print(f"records: {table.records}")
    print(f"features: {table.codebook.features}")
    print(f"distinct_rows: {tables.distinct_rows(table)}")
    print(f"k: {table.k.min()}..{table.k.max()}")


def main(arguments):
    table = tables.table(arguments.set, arguments.records)
    describe(table)
    maker = settings(arguments)
    few = WARM_START_RECORDS if table.records >= WARM_START_RECORDS else SMALL
    quick = dataclasses.replace(maker, max_iterations=2) if isinstance(maker, Adaptive) else maker
    local.run(quick, tables.cut(table, few))  # compiles
    print(f"stated_memory_MiB: {maker.memory(table) / 2**20:.0f}")
    print(f"memory_before_MiB: {memory('VmRSS'):.0f}", flush=True)
    clock = Clock()
    order = np.random.default_rng(1).permutation(table.records)
    masked, wall, processor = timed(
        lambda: local.run(maker, table, tie_order=order, threads=arguments.threads, observer=clock)
    )
    print(f"seconds: {wall:.4g}")
    print(f"processor_seconds: {processor:.4g}")
    utilities = [step.figures["utility"] for step in masked.steps]
    print(f"iterations: {len(utilities)}")
    print(f"seconds_per_iteration: {wall / len(utilities):.4g}")
    print(f"seconds_of_iterations: {' '.join(f'{seconds:.3g}' for seconds in np.diff(clock.ends))}")
    print(f"utility_first: {utilities[0]:.4f}")
    print(f"utility_last: {utilities[-1]:.4f}")
    print(f"utility_best: {max(utilities):.4f}")
    print(f"peak_memory_MiB: {memory('VmHWM'):.0f}")
    print(f"sha256: {digest(masked, order)}")


def digest(masked, order):
    """Of every hidden bit and of every edge of a cover by agreeing pairs."""
    cover = end_cover(masked, order)
    parts = (masked.hidden, cover.u, cover.v, cover.weight)
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def parsed():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_run")
    parser.add_argument("set", choices=tables.SETS)
    parser.add_argument("--records", type=int)
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--weights", default="bits")
    parser.add_argument("--anonymizer", default="adaptive", choices=ANONYMIZERS)
    parser.add_argument("--cover", choices=[*COVERS, *covers.FURTHER])
    parser.add_argument("--schedule")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        with covers.registered():
            main(parsed())
    except AnonymityError as refusal:
        leave_out(str(refusal))
