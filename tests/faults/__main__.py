"""Try each fault many times; print a table: tries, met, half published, lost, completed.

    python -m tests.faults [--seeds 20] [--plans 50] [--within 6000] [NAME ...]

Ends with 1 if anything was lost, half published or not completed.
"""

import argparse
import contextlib
import sys
import tempfile
import traceback
from pathlib import Path

from tests.faults import queues
from tests.faults.every import FAULTS, needs
from tests.faults.runs import Outcome

QUEUED = "plans queued on one worker"


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--seeds", type=int, default=20, help="tries of each (default: 20)")
    parser.add_argument("--plans", type=int, default=50, help="plans queued (default: 50)")
    parser.add_argument("--within", type=int, help="seconds that the queue may take")
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults whose name contains it")
    options = parser.parse_args()
    print("| fault | tries | met a run | half published | lost | rerun completed |")
    print("|---|---|---|---|---|---|")
    whole = True
    with contextlib.ExitStack() as stack:
        for name in FAULTS:
            if not chosen(name, options.names):
                continue
            if reason := needs(name):
                print(f"| {name} | 0: {reason} | | | | |", flush=True)
                continue
            tries = [tried(name, seed, stack) for seed in range(options.seeds)]
            whole = told(name, tries) and whole
    if chosen(QUEUED, options.names):
        with tempfile.TemporaryDirectory(prefix="crowdcover-fault-") as folder:
            tries = queues.queued(Path(folder), options.plans, options.within)
            whole = told(QUEUED, tries) and whole
    return 0 if whole else 1


def chosen(name, parts):
    """Whether a fault is asked for."""
    return not parts or any(each in name for each in parts)


def told(name, tries):
    """Print the line of a fault; whether nothing was lost."""
    counts = [sum(column) for column in zip(*map(of, tries), strict=True)]
    print(f"| {name} | {len(tries)} | " + " | ".join(map(str, counts)) + " |", flush=True)
    return counts[1:] == [0, 0, len(tries)]


def tried(name, seed, stack):
    """One try, in a folder of its own. A rerun that breaks is one that does not complete."""
    with tempfile.TemporaryDirectory(prefix="crowdcover-fault-") as folder:
        try:
            outcome = FAULTS[name](Path(folder), seed, stack)
        except Exception:  # noqa: BLE001 - whatever broke is counted and shown
            traceback.print_exc()
            outcome = Outcome(met=True, half=False, lost=False, completed=False)
    if not (outcome.good and outcome.met):
        print(f"{name}, seed {seed}: {outcome}", file=sys.stderr, flush=True)
    return outcome


def of(outcome):
    return outcome.met, outcome.half, outcome.lost, outcome.completed


if __name__ == "__main__":
    sys.exit(main())
