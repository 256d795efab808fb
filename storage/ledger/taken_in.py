"""Which runs of a vault the ledger has taken in, so that each run reads only those that changed.

A run's releases.json is replaced as a whole, so its inode, time and size tell whether it is the one
that was read. What the ledger does not hold any more is read again.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from crowdcover.storage.ledger.transaction import Ask
from crowdcover.storage.vault import secret_streams
from crowdcover.storage.vault.run import RELEASES, Run
from crowdcover.storage.vault.vault import Vault

TABLE = (
    "create table if not exists looked (run text primary key, seal text, releases bigint, "
    "stamp text)"
)
# Of those whose releases stand in the ledger as they did when they were read.
_KNOWN = (
    "select run, stamp from looked where (select count(*) from releases where "
    "releases.run = looked.seal and published = 1) = looked.releases"
)


def list_changed_runs(ask: Ask, vault: Vault, key: bytes) -> Iterator[tuple[Run, str, str]]:
    """Each run that marked a release since it was read last, with its name here and its stamp.

    Names are digests: a ledger tells nothing of plan and source. Vaults that share a ledger may
    have runs of one name.
    """
    known: dict[str, str] = dict(ask(_KNOWN))
    place = str(vault.path.resolve())
    for run in vault.every_run():
        stamp = _stamp_file(run.path / RELEASES)
        if not stamp:
            continue
        name = secret_streams.digest_with_key(key, f"{place}/{run.path.name}".encode()).hex()
        if known.get(name) != stamp and (run.path / "seed").exists():
            yield run, name, stamp


def note_run(ask: Ask, run: Run, name: str, stamp: str) -> None:
    """Note that a run was read; one that has not confirmed a release is read again."""
    ask("delete from looked where run = $1", name)
    visible = run.ever_visible()
    if run.has_confirmed_all():
        ask("insert into looked values ($1, $2, $3, $4)", name, run.seal, len(visible), stamp)


def forget_reading(ask: Ask, run: Run) -> None:
    """Let a run be read again, in each copy of its vault, since it lost an entry.

    Its number of entries may soon be as it was: one vault retracts a release and publishes another.
    """
    ask("delete from looked where seal = $1", run.seal)


def _stamp_file(path: Path) -> str:
    """What tells a file from the one that replaces it; empty where there is none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return ""
    return f"{found.st_ino} {found.st_mtime_ns} {found.st_size}"
