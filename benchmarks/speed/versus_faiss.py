"""A whole run beside one exact pass of faiss: python -m benchmarks.versus_faiss [--records N].

faiss finds each record's 100 nearest by Hamming distance (IndexBinaryFlat, 128 bits) and by inner
product (float32), once. Ours finds up to 100 under weights that differ by record, covers and hides,
in each iteration until it converges: with the default settings, and with schedule = "falling". The
runs take turns on the same threads; a ratio is the median over the rounds.
"""

import argparse
import statistics

import numba
import numpy as np

from anon_core.anonymizers import Adaptive
from anon_core.engines import local
from benchmarks import leave_out, tables, timed

NEAREST = 100


def binary_pass(faiss, packed):
    index = faiss.IndexBinaryFlat(8 * packed.shape[1])
    index.add(packed)
    return index.search(packed, NEAREST)


def inner_product_pass(faiss, floats):
    index = faiss.IndexFlatIP(floats.shape[1])
    index.add(floats)
    return index.search(floats, NEAREST)


def main(records, rounds, threads):
    try:
        import faiss
    except ImportError:
        leave_out("faiss is not installed; run `make -C benchmarks bench`")
    table = tables.table("adult", records)
    threads = threads or numba.config.NUMBA_NUM_THREADS
    faiss.omp_set_num_threads(threads)
    packed = np.ascontiguousarray(table.bits).view(np.uint8)
    floats = np.unpackbits(packed, axis=1, bitorder="little", count=table.codebook.features).astype(
        np.float32
    )
    print(f"records: {table.records}")
    print(f"features: {table.codebook.features}")
    print(f"threads: {threads}")
    print(f"k: {table.k.min()}..{table.k.max()}")
    order, falling = (
        np.random.default_rng(1).permutation(table.records),
        Adaptive(weights="bits", schedule="falling"),
    )
    local.run(Adaptive(weights="bits", max_iterations=1), table)  # compiles
    works = {
        "ours": lambda: local.run(
            Adaptive(weights="bits"), table, tie_order=order, threads=threads
        ),
        "falling": lambda: local.run(falling, table, tie_order=order, threads=threads),
        "faiss_binary": lambda: binary_pass(faiss, packed),
        "faiss_inner_product": lambda: inner_product_pass(faiss, floats),
    }
    seconds, ours = {name: [] for name in works}, {}
    for _ in range(rounds):
        for name, work in works.items():
            result, wall, processor = timed(work)
            seconds[name].append(wall)
            print(f"{name}_seconds: {wall:.4g}")
            print(f"{name}_processor_seconds: {processor:.4g}", flush=True)
            if not name.startswith("faiss"):
                ours[name] = [step.figures["utility"] for step in result.steps]
    for name, utilities in ours.items():
        print(f"{name}_utility: {max(utilities):.4f}")
        for other in ("faiss_binary", "faiss_inner_product"):
            ratios = [
                mine / theirs for mine, theirs in zip(seconds[name], seconds[other], strict=True)
            ]
            print(f"{name}_over_{other}: {statistics.median(ratios):.2f}")
        print(f"{name}_iterations: {len(utilities)}")


def parsed():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versus_faiss")
    parser.add_argument("--records", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    given = parsed()
    main(given.records, given.rounds, given.threads)
