"""A release that a fault meets, and what must hold after it."""

import json
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anon_core.errors import AnonymityError
from tests.faults.moments import counted
from tests.flows.orders import Order, data_bytes, people
from tests.flows.processes import run
from tests.support.audits import audit_release

ROWS = 2_000
CLOCKED = ("created", "iterations", "timings", "peak_memory_bytes", "files")  # of a manifest
PARTS = {"name": "local-search", "part": 100}  # 20 of them


@dataclass(frozen=True)
class Outcome:
    """One try. `met`: the fault hit a run at work; else the run was faster."""

    met: bool
    half: bool  # something half was visible
    lost: bool  # a finished stage was made again, or the bytes differ
    completed: bool  # what was said was clear, the rerun published, and its audit holds

    @property
    def good(self):
        """Whether the fault cost nothing but time."""
        return (self.half, self.lost, self.completed) == (False, False, True)


def ordered(folder, seed, **sections):
    """A plan, a table and secrets that follow from a seed."""
    order = Order(folder, people(ROWS, draws=seed), **{"anonymizer": PARTS, **sections})
    return order.fix_seed(seed.to_bytes(32, "little"))


def published(folder):
    """What a release holds: rows, codebook, names of files, and what no clock decides.

    Pages and other documents repeat the manifest.
    """
    document = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    told = {name: value for name, value in document.items() if name not in CLOCKED}
    return data_bytes(folder) | {"manifest.json": told, "files": sorted(document["files"])}


@cache
def expected(seed):
    """What an undisturbed run publishes, and how many moments its stages have.

    They follow from the seed, so all faults of a seed share one such run.
    """
    with tempfile.TemporaryDirectory(prefix="crowdcover-whole-") as folder:
        order, counts = ordered(Path(folder), seed), Path(folder) / "counts"
        done = run(counted, str(order.plan), str(counts))
        assert done.code == 0, done.err
        return published(order.folder_of_v1), json.loads(counts.read_text())


def after(order, whole, met=True, clear=True):
    """Look at what is visible, run again, and compare."""
    half = any(
        folder.name != "v1" or published(folder) != whole or not holds(order, folder)
        for folder in order.releases.glob("[!.]*")
    )
    finished = order.stage_times()
    folder = order.release()
    same = published(folder) == whole
    kept = order.stage_times().items() >= finished.items()
    tidy = {path.name for path in order.releases.iterdir()} == {".vault", "v1"}
    tidy = tidy and not list(order.vault.rglob("*.partial"))
    one = entries(order) == [("people", "v1", ROWS, 1)]
    completed = clear and tidy and one and holds(order, folder)
    return Outcome(met, half, not (same and kept), completed)


def holds(order, folder):
    """Whether a release is whole and its audit passes."""
    try:
        return audit_release(folder, order.plan).passed
    except AnonymityError:
        return False


def entries(order):
    """The ledger's releases: name, version, records, whether it is known to be visible."""
    with closing(sqlite3.connect(order.vault / "ledger.sqlite")) as ledger:
        return ledger.execute("select name, version, records, published from releases").fetchall()
