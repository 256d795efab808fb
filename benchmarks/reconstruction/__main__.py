"""Guesses of people in a release and of others: python -m benchmarks.reconstruction [RELEASE...].

The memorization test of steveng9/Reconstruction. 10,000 rows of Adult are released. An attacker
knows six columns of a person (age, sex, race, country, education, marital status) and guesses the
other nine from the release. The test: how much better are guesses of the 10,000 people in it than
of 10,000 others? Samples are theirs, and so is the score: a right guess of a rare value counts
more.

Attacks that learn run in a Python with benchmarks/reconstruction/requirements.txt: `make -C
benchmarks attacks`, or ATTACKS=PYTHON. Without it they are left out.

Prints a line for each release, sample and attack (training, holdout, difference, its standard
error), then a table of the differences.
"""

import argparse
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from benchmarks.reconstruction.adult import SAMPLES
from benchmarks.reconstruction.memorization import RELEASES, attacked
from benchmarks.reconstruction.running import PYTHON


def main(releases, count, jobs):
    if not PYTHON.exists():
        print("left out: attacks that learn; for their Python run `make -C benchmarks attacks`")
    found, pairs = defaultdict(list), defaultdict(list)
    tasks = [(release, sample) for sample in range(count) for release in releases]
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:  # forks of Polars hang
        for (release, sample), made in zip(tasks, pool.map(attacked, tasks), strict=True):
            by_attack, wrong = made
            for attack, figures in by_attack.items():
                found[attack, release].append(figures)
                told = " ".join(f"{each:.2f}" for each in figures)
                print(f"{release}.{sample}.{attack}: {told}", flush=True)
            pairs[release].append(wrong)
            print(f"{release}.{sample}.wrong pairs: {wrong:.2f} %", flush=True)
    print_table(found, releases)
    print("| wrong pairs |", " | ".join(f"{np.mean(pairs[each]):.1f} %" for each in releases), "|")


def print_table(found, releases):
    """Means over the samples. The error is the greater of bootstrap's and that between samples."""
    print("\n| attack |", " | ".join(releases), "|")
    print("|---" * (1 + len(releases)) + "|")
    for attack in dict.fromkeys(attack for attack, _ in found):
        cells = [summary(found[attack, release]) for release in releases]
        print(f"| {attack} |", " | ".join(cells), "|")


def summary(figures):
    """One cell: training, holdout, difference, standard error."""
    if not figures:
        return ""
    inside, outside, apart, errors = np.array(figures).T
    error = np.sqrt((errors**2).sum()) / len(errors)
    if len(apart) > 1:
        error = max(error, apart.std(ddof=1) / np.sqrt(len(apart)))
    return f"{inside.mean():.1f}, {outside.mean():.1f}, {apart.mean():+.1f} ± {error:.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("releases", nargs="*", choices=[*RELEASES, []])
    parser.add_argument("--samples", type=int, default=2, choices=range(1, SAMPLES + 1))
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    given = parser.parse_args()
    main(given.releases or RELEASES, given.samples, given.jobs)
