"""The vault: the finished stages, the secrets and the releases of each run.

    <vault>/vault.json                   of an encrypted vault, see storage/encryption/encryption.py
    <vault>/ledger.sqlite, ledger.key    see storage/ledger/ledger.py
    <vault>/runs/<run>/                  run.json, seed, lock, releases.json, docs/, <stage>/...;
                                         a checkpoint while anonymize runs

A run is one plan applied to one source. Its folder is named by the hashes of both, so the same plan
and source find the same run. Folders have mode 0700, files 0600.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from crowdcover.storage.encryption.encryption import (
    PARTS,
    SEAL,
    Seal,
    key_is_given,
    recipient_of_key,
    require_key,
)
from crowdcover.storage.vault import secret_streams
from crowdcover.storage.vault.disk_space import describe_full_disk, is_full
from crowdcover.storage.vault.files import is_partial, read_private, write_json, write_private
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.run import Run, lock_file

LEDGER, LEDGER_KEY = "ledger.sqlite", "ledger.key"
FOLDERS_KEY = "folders.key"
# While a backup is made; the lock stays. What a prune is removing.
BACKUP, BACKUP_LOCK, REMOVED = ".backup", ".backup.lock", ".removed"
_OF_A_VAULT = {SEAL, *PARTS, LEDGER, f"{LEDGER}-journal", BACKUP, BACKUP_LOCK, REMOVED}


@dataclass(frozen=True)
class Vault:
    """A folder that only its owner can read."""

    path: Path

    @property
    def runs(self) -> Path:
        """The folder of the runs."""
        return self.path / "runs"

    def open(self) -> "Vault":
        """Create the vault if it is missing, and close it to other users.

        Refuses an open folder that contains other things than a vault does.
        """
        with refuse_unusable(self.path, "opening the vault"):
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            # mkdir keeps the mode of a folder that exists; a foreign folder is refused, not closed.
            refuse_open_folder(self.path)
            if self.path.stat().st_mode & 0o077:
                self.path.chmod(0o700)
            # Before `runs` is made: a plain vault that has this folder stays plain.
            self._seal_if_new()
            require_key(self.path)
            self.runs.mkdir(mode=0o700, exist_ok=True)
        return self

    def _seal_if_new(self) -> None:
        """Encrypt a vault without runs where a key is given; keys of other vaults may be in it."""
        if not key_is_given() or self.runs.exists():
            return
        seal = Seal.read(self.path)
        if seal is None or seal.rotating:  # the latter if it was stopped
            # While it rotates, plain files are read, too: a kill between two keys loses none.
            write_json(self.path / SEAL, Seal(recipient_of_key(), rotating=True).document())
            for path in (self.path / LEDGER_KEY, self.path / FOLDERS_KEY):
                if path.exists():
                    write_private(path, read_private(path))
            write_json(self.path / SEAL, Seal(recipient_of_key()).document())

    def run(self, plan_sha256: str, source_sha256: str, kind: str = "table") -> Run:
        """The run of this plan and source; created if there is none."""
        run = Run(self.open().runs / run_name(plan_sha256, source_sha256))
        run.path.mkdir(mode=0o700, exist_ok=True)
        order, seed = run.path / "run.json", run.path / "seed"
        if not (order.exists() and seed.exists()):
            # Two processes may find no run at once; a second seed would change every secret.
            with run.hold_lock():
                if not order.exists():
                    hashes = {"plan_sha256": plan_sha256, "source_sha256": source_sha256}
                    write_json(order, {**hashes, "kind": kind})
                if not seed.exists():
                    write_private(seed, secret_streams.new_seed())
        return run

    def find(self, plan_sha256: str, source_sha256: str) -> Run | None:
        """The run of this plan and source, or None."""
        return self.run_called(run_name(plan_sha256, source_sha256))

    def run_called(self, name: str) -> Run | None:
        """The run whose folder has this name, or None."""
        run = Run(self.runs / name)
        return run if (run.path / "seed").exists() else None

    def by_seal(self) -> dict[str, Run]:
        """All runs by their seals, as the ledger identifies them."""
        return {run.seal: run for run in self.every_run() if (run.path / "seed").exists()}

    def every_run(self) -> list[Run]:
        """All runs, ordered by the names of their folders."""
        # Not `glob`, which takes five times as long: a vault may have thousands of runs.
        names = sorted(os.listdir(self.runs)) if self.runs.is_dir() else []
        return [
            Run(self.runs / name)
            for name in names
            if name[0] != "." and os.path.exists(f"{self.runs}/{name}/run.json")
        ]

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Hold every lock of the vault; refused while a run or a series is at work."""
        with ExitStack() as held:
            # No deadlock with a run that waits to publish: locks of runs are tried without waiting.
            held.enter_context(self.lock_publishing())
            for path in sorted(self.path.glob("series/*")):
                held.enter_context(Run(path).hold_lock())
            for run in self.every_run():
                held.enter_context(run.hold_lock())
            yield

    @contextmanager
    def lock_publishing(self) -> Iterator[None]:
        """Let one run at a time read what other runs published, and publish."""
        with lock_file(self.runs / "lock", fcntl.LOCK_EX):
            yield


@contextmanager
def refuse_unusable(vault: Path, what: str) -> Iterator[None]:
    """Refuse a vault that cannot be written: its disk is full or read-only, or it is closed."""
    try:
        yield
    except OSError as error:
        refusal = (
            f"publish.vault {vault} cannot be used ({type(error).__name__}); name another folder"
        )
        if is_full(error):
            refusal = describe_full_disk(what, [vault])
        raise FolderError(refusal) from None


def refuse_open_folder(path: Path) -> None:
    """Refuse a folder that is open to others and holds other things than a vault does."""
    others = [
        each
        for each in path.iterdir()
        # What a kill left half-written has the name of its file inside its own.
        if each.name not in _OF_A_VAULT
        and not (is_partial(each) and each.name.startswith(tuple(f".{of}." for of in _OF_A_VAULT)))
    ]
    if others and path.stat().st_mode & 0o077:
        raise FolderError(
            f"publish.vault {path} is no vault and open to others; "
            "name an empty folder or chmod it to 700"
        )


def run_name(plan_sha256: str, source_sha256: str) -> str:
    """The folder name of a run."""
    return hashlib.sha256(f"{plan_sha256} {source_sha256}".encode()).hexdigest()[:16]
