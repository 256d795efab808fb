"""One of k assignments beside a secret matching: python -m benchmarks.uniform_draw [--records N].

Doka et al. publish one of the k assignments, drawn uniformly. Ours draws a matching from the same
chances. Alone, every record sits in its likeliest row with the chance 1/k either way. The benchmark
asks what an insider learns who also knows where one other person sits: how often the likeliest row
of a record, given that seat, is right. Half of the draws teach the insider, the other half judge.
"""

import argparse
import dataclasses

import numpy as np

from anon_core.anonymizers import Freeform
from anon_core.engines import local
from anon_core.seating.matching import random_matching
from benchmarks import prepare
from benchmarks.baselines.uniform_draw import uniform_draw

PAIRS = 2000


def main(records, k, draws):
    everyone = prepare("adult-ncp.toml", "adult/adult.data.gz")[1]
    generator = np.random.default_rng(5)
    table = everyone.at(np.sort(generator.permutation(everyone.records)[:records]))
    table = dataclasses.replace(table, k=np.full(records, k, dtype=np.int32))
    made = local.run(Freeform(exact=0.0, segment=0, exchanges=False), table)

    def words(count):
        return generator.integers(0, 2**32, count, dtype=np.uint32)

    seats = {
        "uniform": [uniform_draw(made.holders, generator.integers(k)) for _ in range(draws)],
        "secret": [random_matching(made, words) for _ in range(draws)],
    }
    known, asked = generator.integers(0, records, (2, PAIRS))
    known = np.where(known == asked, (known + 1) % records, known)
    print(f"records: {records}")
    print(f"k: {k}")
    print(f"draws: {draws}")
    for name, drawn in seats.items():
        half = np.array(drawn).reshape(2, -1, records)
        print(f"{name}.alone: {guessed(half, asked, None):.4f}")
        print(f"{name}.one_seat_known: {guessed(half, asked, known):.4f}", flush=True)


def guessed(half, asked, known):
    """How often the row that was most frequent in one half of the draws is right in the other."""
    right = tries = 0
    for place, v in enumerate(asked):
        mine = half[:, :, v]
        given = np.zeros_like(mine) if known is None else half[:, :, known[place]]
        for row in np.unique(given[0]):
            seen = np.bincount(mine[0][given[0] == row])
            judged = mine[1][given[1] == row]
            right += (judged == seen.argmax()).sum()
            tries += len(judged)
    return right / tries


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=500)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--draws", type=int, default=4000)
    given = parser.parse_args()
    main(given.records, given.k, given.draws)
