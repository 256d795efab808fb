"""The versions of a series in the vault.

    <vault>/series/<name>/withdrawn.bin      digests of people who asked to be withdrawn
    <vault>/series/<name>/<number>/split/    who stays and who is in the batch
    <vault>/series/<name>/<number>/waiting.json   records that must wait until the next version
    <vault>/series/<name>/<number>/pending/  parts of sources in which nobody could hide
    <vault>/series/<name>/<number>/version.json   the run of the batch, and the counts

The run of a version is that of its batch. It keeps what the next version needs; when that one is
published, all that holds values of people is removed from the runs before it.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from anon_core.errors import GuaranteeError
from crowdcover.storage.series.retractions import Retractions
from crowdcover.storage.vault.files import (
    read_json,
    read_private,
    remove_folder,
    write_json,
    write_private,
)
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.storage.vault.secret_streams import DIGEST_BYTES
from crowdcover.storage.vault.vault import Vault

VERSION = "version.json"
WITHDRAWN = "withdrawn.bin"
_WAITING = "waiting.json"
_PROFILE = "profile"  # of version.json: it names categories
ABANDONED = "abandoned"  # of version.json: runs of batches that were replaced
PENDING = "pending"
_KEPT = {"identify"}  # stages of an older version that hold digests only
# What stays of a run that was given up: why it was refused. None of it holds values.
_WORDS = {"run.json", "docs", "gates.json", "ended.json", "lock"}


class NobodyHidesError(GuaranteeError):
    """No record of the source can hide in a batch."""


@dataclass(frozen=True)
class Version:
    """A version that was published, or is about to be.

    Attributes
    ----------
    number : int
    run : Run
        Of its batch.
    about : mapping
        What version.json states: hashes of plan and source, the partition, counts.
    """

    number: int
    run: Run
    about: Mapping[str, Any]

    @property
    def parts(self) -> Sequence[str]:
        """Labels of the partitions whose rows were new; of sources without partitions, hashes."""
        return list(self.about.get("parts", ()))

    @cached_property
    def published(self) -> bool:
        """Whether it was ever visible; a retracted version counts, since nobody can prove less.

        As it was when it was asked for first: what is read again later knows better.
        """
        return bool(self.run.ever_visible() or Retractions.of(self.run).all)


@dataclass(frozen=True)
class Series:
    """The series of one name in a vault."""

    vault: Vault
    name: str

    @property
    def path(self) -> Path:
        """The folder of the series."""
        return self.vault.path / "series" / self.name

    def open(self) -> "Series":
        """Create the folder."""
        for folder in (self.path.parent, self.path):
            folder.mkdir(mode=0o700, exist_ok=True)
        return self

    @contextmanager
    def hold_lock(self) -> Iterator[None]:
        """Let one process at a time make a version."""
        with Run(self.path).hold_lock():
            yield

    def versions(self) -> list[Version]:
        """The versions that were published, the oldest first."""
        return [each for each in self.list_versions() if each.published]

    @property
    def first(self) -> Version | None:
        """The first version that was published."""
        numbers = reversed(self._numbers())
        return next((each for each in map(self._read, numbers) if each.published), None)

    @property
    def last(self) -> Version | None:
        """The last version that was published."""
        # From the end: there may be a hundred before it.
        return next((each for each in map(self._read, self._numbers()) if each.published), None)

    def load_pending_parts(self, number: int) -> dict[str, Stored]:
        """Parts by the labels of partitions in which nobody could hide, the last one last.

        It holds who waits of all before it. A label stands after a number, which orders them.
        """
        folder = Run(self.path / str(number) / PENDING)
        found = {}
        for path in sorted(folder.path.glob("*-*")):
            stored = folder.whole(path.name)
            if stored is None:
                raise GuaranteeError(
                    f"the vault's series/{self.name}/{number}/{PENDING} is damaged; restore it "
                    "from a backup"
                )
            found[path.name.partition("-")[2]] = stored
        return found

    def set_aside(self, number: int, label: str) -> None:
        """Keep the parts of a source in which nobody could hide until a version has its rows."""
        folder = self.path / str(number) / PENDING
        folder.mkdir(mode=0o700, exist_ok=True)
        # Six digits keep the order of the parts when they are sorted as texts.
        place = len(list(folder.glob("*-*"))) + 1
        (self.path / str(number) / "split").rename(folder / f"{place:06}-{label}")

    def find_version_in_work(self, number: int) -> Version | None:
        """The version that is being made, if its run is known."""
        known = (self.path / str(number) / VERSION).exists()
        return self._read(number) if known else None

    def folder(self, number: int) -> Run:
        """Where the stages of a version lie that come before its run."""
        folder = self.path / str(number)
        folder.mkdir(mode=0o700, exist_ok=True)
        return Run(folder)

    def record(self, number: int, run: Run, about: Mapping[str, Any]) -> None:
        """Note the run of a version. One that was noted before and never published is given up."""
        known, abandoned = self.find_version_in_work(number), set[str]()
        if known is not None:
            # A run that comes back to its own batch is no longer given up.
            abandoned = {known.run.path.name, *known.about.get(ABANDONED, ())} - {run.path.name}
        record = {"run": run.path.name, **about, ABANDONED: sorted(abandoned)}
        write_json(self.path / str(number) / VERSION, record)

    def withdrawn(self) -> frozenset[bytes]:
        """Digests of the people who asked to be withdrawn."""
        path = self.path / WITHDRAWN
        content = read_private(path) if path.exists() else b""
        return frozenset(
            content[at : at + DIGEST_BYTES] for at in range(0, len(content), DIGEST_BYTES)
        )

    def withdraw(self, digests: frozenset[bytes]) -> None:
        """Add people who asked to be withdrawn."""
        # Sorted: the order does not tell which person asked first.
        write_private(self.path / WITHDRAWN, b"".join(sorted(self.withdrawn() | digests)))

    def waiting(self, number: int, source_sha256: str) -> frozenset[int]:
        """Chains of records that must wait in a version, as found while it was made."""
        path = self.path / str(number) / _WAITING
        if not path.exists():
            return frozenset()
        record = read_json(path)
        return frozenset(record["chains"] if record["source_sha256"] == source_sha256 else ())

    def wait(self, number: int, source_sha256: str, chains: frozenset[int]) -> None:
        """Let records wait in a version that is made from this source."""
        record = {"source_sha256": source_sha256, "chains": sorted(chains)}
        write_json(self.path / str(number) / _WAITING, record)

    def forget_values(self, recorded: Sequence[Version]) -> None:
        """Remove what older versions keep of people; the last version keeps what is needed.

        Removed are, too, tracebacks, which may hold values, and the data and secrets of runs that
        were begun and made anew from another batch. Why such a run was refused stays. `recorded`
        are the versions of `list_versions`.
        """
        versions = [each for each in recorded if each.published]
        for version in versions:
            self._forget_version(version, keeps=version is versions[-1])
        given_up = {name for each in recorded for name in each.about.get(ABANDONED, ())}
        # A run that was given up once may be the run of a version by now.
        for name in given_up - {each.run.path.name for each in recorded}:
            _strip_run(self.vault.runs / name)
        runs = (version.run.path for version in versions)
        for folder in (self.vault.runs, *self.path.glob("[0-9]*/"), *runs):
            _sweep(folder)

    def _forget_version(self, version: Version, *, keeps: bool) -> None:
        """Remove what a published version keeps of people, unless it `keeps` all but who waited."""
        folder = self.path / str(version.number)
        # Listed once: there may be a hundred versions, and nearly all of them were emptied before.
        names = os.listdir(folder)
        if PENDING in names:
            remove_folder(folder / PENDING)
        if keeps:
            return
        if "split" in names:
            remove_folder(folder / "split")
        run = version.run.path
        for name in os.listdir(run):
            if name not in _KEPT and name[0] != "." and os.path.exists(run / name / "stage.json"):
                remove_folder(run / name)
        if _PROFILE in version.about:
            about = {name: each for name, each in version.about.items() if name != _PROFILE}
            write_json(folder / VERSION, about)

    def list_versions(self) -> list[Version]:
        """Every version of which the run is known, published or not, the oldest first."""
        return [self._read(number) for number in reversed(self._numbers())]

    def _numbers(self) -> list[int]:
        """The numbers of versions of which the run is known, the newest first."""
        names = [path.parent.name for path in self.path.glob(f"*/{VERSION}")]
        for name in names:
            if not name.isdecimal():
                raise self._explain_unreadable(name)
        return sorted(map(int, names), reverse=True)

    def _read(self, number: int) -> Version:
        try:
            about = read_json(self.path / str(number) / VERSION)
            run = self.vault.run_called(about["run"])
        except (OSError, ValueError, KeyError, TypeError):
            run = None
        # A skipped version would hide its rows from the next one.
        if run is None:
            raise self._explain_unreadable(str(number))
        return Version(number, run, about)

    def _explain_unreadable(self, name: str) -> GuaranteeError:
        return GuaranteeError(
            f"the vault's series/{self.name}/{name} cannot be read, or its run is gone; restore it "
            "from a backup"
        )


def _sweep(folder: Path) -> None:
    """Remove tracebacks, and what a process that was killed left half made or half removed."""
    for name in os.listdir(folder):
        if name.startswith("failure-") and name.endswith(".txt"):
            (folder / name).unlink()
        elif name.startswith(".") and name.endswith(".partial"):
            shutil.rmtree(folder / name, ignore_errors=True)


def _strip_run(run: Path) -> None:
    """Remove what a run holds but its words."""
    for path in sorted(run.glob("*")):
        if path.name not in _WORDS:
            remove_folder(path) if path.is_dir() else path.unlink()
    if run.is_dir():
        _sweep(run)
