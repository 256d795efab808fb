"""The cost of an iteration on many ranks, by a model.

python -m benchmarks.cost_model --records 10000000 --features 95 --mean-b 51.5 [...]

Measured on one thread of two shared virtual cores (100,000 poker hands, docs/scaling.md). The
network is an assumption, given as options.
"""

import argparse
import math
from dataclasses import dataclass

# Seconds, one thread.
PAIR = 1.57e-11  # a pair of records and an attribute in the search, where nothing can be left out
ENTRY = 3.6e-8  # a list entry told to both ends
DELETED = 1.32e-7  # a list entry in the cover: proposals and annulments
LISTED = 9.7e-8  # an agreeing pair found
PRICED = 9.1e-8  # an agreeing pair in six passes of prices
COUNTED = 1.7e-8  # an agreeing pair counted
SHOWN = 1.5e-6  # a record in six passes of showing: one rank after the other
REPEATED = 1.2e-6  # a record in what every rank does for itself
KEPT = 4.3e-8  # a list entry renamed, written, cleared
# Messages per list entry, counted: of lists that lack a vertex, of suitors, of agreeing pairs, and
# of lists that lack one of these.
LACKING, SUITORS, AGREEING, AGREEING_LACKING = 0.3, 0.9, 1.5, 0.1
MESSAGE = 12
ROUNDS = 50  # of the b-Suitor on two ranks, ten more each time they double


@dataclass(frozen=True, kw_only=True)
class Load:
    """The work and the machine.

    `searched` is the share of pairs that pruning leaves, `words` the uint64 words of a row.
    """

    records: float
    features: int
    attributes: int
    mean_b: float
    searched: float = 1.0
    ranks: int = 1
    threads: int = 1
    latency: float = 2e-6
    bandwidth: float = 2e9

    @property
    def entries(self) -> float:
        return self.records * self.mean_b

    @property
    def words(self) -> int:
        return -(-self.features // 64)


def bytes_sent(load: Load) -> float:
    """Bytes that leave all ranks together in an iteration; a broadcast counts once."""
    if load.ranks == 1:
        return 0.0
    away = 1 - 1 / load.ranks
    lists = 1 + LACKING + SUITORS + AGREEING * AGREEING_LACKING
    arrays = 8 * 2 * (2 * load.ranks - 1)  # last keys and numbers of messages, at both exchanges
    rows = load.features + 7 * 8 * load.words + 8 + 4 * (8 + 8 * load.words)
    return MESSAGE * lists * load.entries * away + load.records * (arrays + rows)


def phases(load: Load) -> dict[str, float]:
    """Seconds of an iteration, by phase."""
    n, entries, cores = load.records, load.entries, load.ranks * load.threads
    agreeing = AGREEING * entries
    received = bytes_sent(load) / load.ranks + n * (load.features + 7 * 8 * load.words) * (
        load.ranks > 1
    )
    rounds = (ROUNDS + 10 * math.log2(max(1, load.ranks / 2))) * (load.ranks > 1)
    return {
        "search": PAIR * load.attributes * n * n * load.searched / cores,
        "closure": ENTRY * (entries + agreeing) / load.ranks,
        "cover": DELETED * entries / load.ranks,
        "agreement": (LISTED + PRICED + COUNTED) * agreeing / cores,
        "showing": SHOWN * n,
        "repeated": REPEATED * n,
        "keeping": KEPT * entries / load.ranks,
        "network": received / load.bandwidth + rounds * load.latency * load.ranks,
    }


def memory(load: Load) -> float:
    """Return the bytes of a rank beyond the table, for one-hot features.

    `anon_core.anonymizers.adaptive.memory.rank_memory` states them for a table.
    """
    replicated = load.records * (5.2 * load.features + 34 * load.attributes + 40 * load.words + 250)
    popular = 36 * load.entries * (1 - 1 / load.ranks)  # of whom all others list
    return replicated + 156 * 1.2 * load.entries / load.ranks + popular


def main(load: Load) -> None:
    times = phases(load)
    for phase, seconds in times.items():
        print(f"{phase}_seconds: {seconds:.4g}")
    alone = sum(phases(Load(**{**load.__dict__, "ranks": 1, "threads": 1})).values())
    print(f"iteration_seconds: {sum(times.values()):.4g}")
    print(f"efficiency: {alone / (sum(times.values()) * load.ranks * load.threads):.3g}")
    print(f"bytes_sent: {bytes_sent(load):.4g}")
    print(f"memory_of_a_rank_GiB: {memory(load) / 2**30:.3g}")


def parsed() -> Load:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost_model")
    parser.add_argument("--records", type=float, default=1e5)
    parser.add_argument("--features", type=int, default=95)
    parser.add_argument("--attributes", type=int, default=11)
    parser.add_argument("--mean-b", type=float, default=51.5)
    parser.add_argument(
        "--searched", type=float, default=1.0, help="share of the pairs that pruning leaves"
    )
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="of each rank")
    parser.add_argument("--latency", type=float, default=2e-6, help="seconds of a message")
    parser.add_argument("--bandwidth", type=float, default=2e9, help="bytes a second into a rank")
    return Load(**vars(parser.parse_args()))


if __name__ == "__main__":
    main(parsed())
