"""A release that a fault meets, and what must hold after it."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass

from flows.audit import audit_release
from tests.flows.orders import Order, data_bytes, people

ROWS = 2_000


@dataclass(frozen=True)
class Outcome:
    """One try. `met`: the fault hit a run at work; else the run was faster."""

    met: bool
    half: bool  # something half was visible
    lost: bool  # a finished stage was made again, or the bytes differ
    completed: bool  # the rerun published and its audit holds


def ordered(folder, seed, **sections):
    """A plan, a table and secrets that follow from a seed."""
    order = Order(folder, people(ROWS, draws=seed), **sections)
    return order.fix_seed(seed.to_bytes(32, "little"))


def expected(folder, seed, **sections):
    """The bytes that an undisturbed run publishes, and the seconds of its stages."""
    order = ordered(folder, seed, **sections)
    return data_bytes(order.release()), {
        name: record["seconds"] for name, record in order.run.stages().items()
    }


def after(order, whole, met=True):
    """Look at what is visible, run again, and compare."""
    half = any(
        folder.name != "v1" or data_bytes(folder) != whole or not holds(order, folder)
        for folder in order.releases.glob("[!.]*")
    )
    finished = order.stage_times()
    folder = order.release()
    same = data_bytes(folder) == whole
    kept = order.stage_times().items() >= finished.items()
    tidy = {path.name for path in order.releases.iterdir()} == {".vault", "v1"}
    tidy = tidy and not list(order.vault.rglob("*.partial"))
    one = entries(order) == [("people", "v1", ROWS, 1)]
    return Outcome(met, half, not (same and kept), tidy and one and holds(order, folder))


def holds(order, folder):
    """Whether the audit of a release passes."""
    return audit_release(folder, order.plan).passed


def entries(order):
    """The ledger's releases: name, version, records, whether it is known to be visible."""
    with closing(sqlite3.connect(order.vault / "ledger.sqlite")) as ledger:
        return ledger.execute("select name, version, records, published from releases").fetchall()
