"""What a ledger costs when it is old: python -m benchmarks.ledgers [--releases 10000].

Enters releases of 100 people each, by runs of one vault, and measures at 100, 1,000, ... of them,
in processor seconds: `mend`, which each run of a plan does twice, `others`, which compares its
people with those of all other releases, and the entry of one more release.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

import numpy as np

from crowdcover.storage.ledger.digests import COLUMN, People
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.vault.run import RELEASES, Run
from crowdcover.storage.vault.secret_streams import new_seed
from crowdcover.storage.vault.vault import Vault, run_name

PEOPLE = 100


def draw_people(draw):
    """People whom no other release has."""
    return People(PEOPLE, {f"{COLUMN}id": draw.bytes(16 * PEOPLE)}, frozenset())


def add_run(vault, parent, number):
    """A run that published a version; its stages are gone, as those of old runs are.

    Written without flushing each file, which would take most of the time.
    """
    run = Run(vault.runs / run_name("plan", f"source {number}"))
    run.path.mkdir()
    hashes = {"plan_sha256": "plan", "source_sha256": f"source {number}", "kind": "table"}
    marks = {str(parent): {"version": f"v{number}", "files": {}, "published": True}}
    (run.path / "run.json").write_text(json.dumps(hashes), encoding="utf-8")
    (run.path / "seed").write_bytes(new_seed())
    (run.path / RELEASES).write_text(json.dumps(marks), encoding="utf-8")
    return run


def measure(work):
    """Processor seconds of some work."""
    began = time.process_time()
    work()
    return time.process_time() - began


def run(releases, folder):
    draw = np.random.default_rng(1)
    vault, parent = Vault(folder / "vault").open(), folder / "releases" / "people"
    people: dict[Path, People] = {}
    ledger = Ledger(vault, lambda run, _: people[run.path])
    print("releases mend others enter", flush=True)
    at, made = 100, 0
    while at <= releases:
        for number in range(made, at):
            people[add_run(vault, parent, number).path] = draw_people(draw)
        made = at
        ledger.mend()
        ours = draw_people(draw)
        new: Run = vault.run("plan", f"new {at}")
        mend = measure(ledger.mend)
        others = ledger.others(new, new.source_sha256, ours)
        compare = measure(lambda new=new, ours=ours: ledger.others(new, new.source_sha256, ours))
        seen = [other.run for other in others]
        enter = measure(
            lambda new=new, ours=ours, seen=seen: ledger.announce(
                new, str(parent), "next", ours, seen
            )
        )
        ledger.drop(new)
        print(at, *(f"{each:.3f}" for each in (mend, compare, enter)), flush=True)
        at *= 10


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--releases", type=int, default=10_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        run(asked.releases, Path(name))


if __name__ == "__main__":
    main()
