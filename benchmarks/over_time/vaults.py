"""What a run costs when its vault is old: python -m benchmarks.vaults [--months 120].

A series of about 1,000 people of whom 5 % move in a month, k = 5, released every month by the real
course in a temporary folder. Prints processor seconds of the first months, behind the first one,
and of the last months, what they read of the vault, and how large the vault is.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.over_time.months import PLAN, People
from crowdcover.flows.course import release_plan
from crowdcover.flows.plan.plan import ReleasePlan

WINDOW = 6  # months that are compared


def run(months, folder):
    """Processor seconds, seconds and MiB of the vault, month by month."""
    people = People(1)
    people.k = 5
    people.here = dict(list(people.here.items())[:1000])
    people.rates[:] = 0.01, 0.02, 0.05, 0.02
    (folder / "plan.toml").write_text(PLAN.format(k=people.k), encoding="utf-8")
    found = []
    for month in range(months):
        if month:
            people.move()
        people.write(folder / "months.csv")
        used, began = time.process_time(), time.monotonic()
        release_plan(ReleasePlan.load(folder / "plan.toml"))
        files = [path for path in (folder / "vault").rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files) / 2**20
        found.append((time.process_time() - used, time.monotonic() - began, size, len(files)))
        print(f"month {month + 1}:", *(f"{each:.2f}" for each in found[-1]), flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--months", type=int, default=120)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        found = run(asked.months, Path(name))
    first = statistics.median(each[0] for each in found[1 : 1 + WINDOW])
    last = statistics.median(each[0] for each in found[-WINDOW:])
    print(f"first months: {first:.2f} processor seconds")
    print(f"last months: {last:.2f} processor seconds")
    print(f"growth: {last / first:.2f}")


if __name__ == "__main__":
    main()
