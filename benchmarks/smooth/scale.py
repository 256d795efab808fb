"""Time, memory and similarity on planted crowds: python -m benchmarks.smooth.scale RECORDS [...].

Items are a tenth of the records. The exponent is that of processor time over entries, from the
first size to the last; `planted` is the similarity of the crowds that were drawn.
"""

import sys

import numpy as np

from anon_core.anonymizers.smooth.counts import compute_matrix_figures
from anon_core.anonymizers.smooth.counts_kernels import ItemRows
from anon_core.anonymizers.smooth.smooth import Smooth
from anon_core.steps import Observer
from benchmarks import memory, timed
from benchmarks.smooth.matrices import planted


class Told(Observer):
    """Prints each step's similarity as it comes."""

    def on_step(self, state):
        step = state.steps[-1]
        print(f"step {step.number}: {100 * step.figures['jaccard']:.2f}", flush=True)


def measure(records):
    data, crowd = planted(records, records // 10, 8)
    best = compute_matrix_figures(
        ItemRows(data.indptr, data.indices, data.k), data.items, crowd.astype(np.int32)
    )
    before, maker = memory("VmRSS"), Smooth()
    print(f"{records}.entries: {data.entries}")
    print(f"{records}.planted: {100 * best['jaccard']:.2f}")
    print(f"{records}.stated_mib: {maker.memory(data) / 2**20:.0f}", flush=True)
    made, seconds, processor = timed(lambda: maker.anonymize(data, observer=Told()))
    print(f"{records}.jaccard: {100 * made.steps[-1].figures['jaccard']:.2f}")
    print(f"{records}.seconds: {seconds:.1f}")
    print(f"{records}.processor_seconds: {processor:.1f}")
    print(f"{records}.added_mib: {memory('VmHWM') - before:.0f}", flush=True)
    return data.entries, processor


def main():
    Smooth().anonymize(planted(60_000, 6000, 8)[0])  # compiles
    found = [measure(int(size)) for size in sys.argv[1:] or ("1000000",)]
    if len(found) > 1:
        (few, soon), (many, late) = found[0], found[-1]
        print(f"exponent: {np.log(late / soon) / np.log(many / few):.2f}")


if __name__ == "__main__":
    main()
