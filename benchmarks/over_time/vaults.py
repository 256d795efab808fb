"""What a run costs when its vault is old: python -m benchmarks.vaults [--months 122].

A series of about 1,000 people of whom 5 % move in a month, k = 5, released every month in a
temporary folder. Prints, month by month, processor seconds, seconds, the size of the vault in MiB
and the number of its files; then the medians of the months 3 to 6 and of the last four. By the
course in this process, which leaves out the start of the command; with `--command` those months
are released by the command, without Prefect.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.over_time.months import PLAN, People
from crowdcover.flows.course import release_plan
from crowdcover.flows.plan.plan import ReleasePlan

FIRST, LAST = slice(2, 6), slice(-4, None)  # months that are compared


def run(months, folder, by_command):
    """Processor seconds, seconds, MiB and files of the vault, month by month."""
    people = People(1)
    people.k = 5
    people.here = dict(list(people.here.items())[:1000])
    people.rates[:] = 0.01, 0.02, 0.05, 0.02
    (folder / "plan.toml").write_text(PLAN.format(k=people.k), encoding="utf-8")
    compared = {*range(months)[FIRST], *range(months)[LAST]}
    found = []
    for month in range(months):
        if month:
            people.move()
        people.write(folder / "months.csv")
        used, began = spent(), time.monotonic()
        if by_command and month in compared:
            release_by_command(folder / "plan.toml")
        else:
            release_plan(ReleasePlan.load(folder / "plan.toml"))
        seconds = spent() - used, time.monotonic() - began
        files = [path for path in (folder / "vault").rglob("*") if path.is_file()]
        found.append((*seconds, sum(path.stat().st_size for path in files) / 2**20, len(files)))
        print(f"month {month + 1}:", *(f"{each:.2f}" for each in found[-1]), flush=True)
    return found


def release_by_command(plan):
    """`crowdcover release` where no Prefect server is named."""
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    program = [sys.executable, "-m", "crowdcover.flows.cli", "release", "--quiet", str(plan)]
    subprocess.run(program, env=alone, stdout=subprocess.DEVNULL, check=True)


def spent():
    """Processor seconds of this process and of those that it has waited for."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--months", type=int, default=122)
    parser.add_argument("--command", action="store_true", help="measure the whole command")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        found = run(asked.months, Path(name), asked.command)
    for which, column in (("processor seconds", 0), ("seconds", 1)):
        first, last = (statistics.median(each[column] for each in found[w]) for w in (FIRST, LAST))
        print(f"{which}: first {first:.2f}, last {last:.2f}, growth {last / first:.2f}")


if __name__ == "__main__":
    main()
