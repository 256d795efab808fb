"""One plan applied to one source: its stages, its secret and its releases in the vault.

A stage is written to a temporary folder and renamed once, so a stage that exists is complete. In an
encrypted vault a stage is made in a private folder elsewhere, and read from plain copies there.
"""

import fcntl
import hashlib
import json
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdcover.storage.places.place import Place, place_of
from crowdcover.storage.shelf.content import has_version_files, read_document
from crowdcover.storage.shelf.layout import MANIFEST
from crowdcover.storage.vault import secret_streams
from crowdcover.storage.vault.build import compute_code_stamp, stamp_of
from crowdcover.storage.vault.disk_space import describe_full_disk, is_full
from crowdcover.storage.vault.files import (
    UNREADABLE,
    build_partial_path,
    file_sha256,
    find_readable_path,
    find_scratch_folder,
    flush_folder,
    holds_files,
    move_into_vault,
    prepare_plain_folder,
    read_json,
    read_secret,
    readable_folder,
    remove_folder,
    write_json,
)
from crowdcover.storage.vault.refusals import BusyError, FolderError

RELEASES = "releases.json"


@dataclass(frozen=True)
class Stored:
    """A finished stage on disk; tasks pass it on instead of the data."""

    path: Path
    sha256: str
    shape: tuple[int, ...] = ()

    def file(self, name: str) -> Path:
        """Path of one of the stage's files, or of its plain copy in an encrypted vault."""
        return find_readable_path(self.path / name)

    @property
    def folder(self) -> Path:
        """A folder with all files of the stage, or with their plain copies."""
        return readable_folder(self.path)

    @property
    def record(self) -> dict[str, Any]:
        """The stage's own record: facts, seconds, peak_memory_bytes, files."""
        return dict(read_json(self.path / "stage.json"))

    @property
    def notes(self) -> list[str]:
        """Sentences of the stage for the log: counts and column names."""
        return list(self.facts.get("notes", []))

    @property
    def facts(self) -> dict[str, Any]:
        """The facts that the stage returned."""
        return dict(self.record["facts"])


@dataclass(frozen=True)
class Release:
    """A release folder as its run recorded it, with the hashes that identify its files."""

    folder: Place
    files: Mapping[str, str]
    published: bool = False

    def stands(self) -> bool:
        """Whether the folder exists with these files, unchanged."""
        return has_version_files(self.folder, self.files)


@dataclass(frozen=True)
class Run:
    """One plan applied to one source."""

    path: Path

    @property
    def plan_sha256(self) -> str:
        """Hash of the parts of the plan that shape the release."""
        return str(read_json(self.path / "run.json")["plan_sha256"])

    @property
    def source_sha256(self) -> str:
        """Hash of the source of this run."""
        return str(read_json(self.path / "run.json")["source_sha256"])

    @property
    def kind(self) -> str:
        """Name of the kind of data; runs recorded before there were kinds are tables."""
        return str(read_json(self.path / "run.json").get("kind", "table"))

    @property
    def seed(self) -> bytes:
        """The secret from which every random choice of this run is drawn."""
        return read_secret(self.path / "seed")

    @property
    def scratch(self) -> Path:
        """Where files without a name may lie while this run is at work."""
        return find_scratch_folder(self.path)

    @property
    def seal(self) -> str:
        """Identifies the run in the ledger.

        It depends on the seed: the same plan and source give another seal in another vault.
        """
        return secret_streams.digest_with_key(self.seed, self.path.name.encode()).hex()

    def once(
        self, stage: str, inputs: Sequence[Stored], make: Callable[[Path], Mapping[str, Any]]
    ) -> Stored:
        """Return the finished stage, or make it.

        `make(folder)` writes files and returns facts (JSON), among them "shape". A stage is made
        again if its files changed, or if it came from other inputs or another build.
        """
        needs = [stored.sha256 for stored in inputs]
        final = self.path / stage
        if (finished := _load_finished_stage(final, needs)) is not None:
            return finished
        aside = build_partial_path(final)
        # This also clears `aside`, which a killed attempt may have left: mkdir below would fail.
        remove_folder(final)
        plain = prepare_plain_folder(aside)
        plain.mkdir(mode=0o700)
        refusal = ""
        try:
            self._make(plain, needs, make)
            move_into_vault(plain, aside)
            os.rename(aside, final)
        except Exception as error:
            if is_full(error):
                rooms = [self.path, Path(tempfile.gettempdir()), plain]
                refusal = describe_full_disk(f"stage {stage}", rooms)
            for leftover in (aside, plain):  # after their room was measured
                shutil.rmtree(leftover, ignore_errors=True)
            if not refusal:
                raise
        # Outside of the handler, so that the foreign error is not its context.
        if refusal:
            raise FolderError(refusal)
        stored = _load_finished_stage(final, needs)
        assert stored is not None
        return stored

    @staticmethod
    def _make(aside: Path, needs: Sequence[str], make: Callable[[Path], Mapping[str, Any]]) -> None:
        """Make a stage in a folder, with its record, and flush it to disk."""
        start = time.perf_counter()
        facts = dict(make(aside))
        record = {
            **compute_code_stamp(),
            "inputs": needs,
            "files": {path.name: file_sha256(path) for path in sorted(aside.iterdir())},
            "shape": facts.pop("shape", []),
            "facts": facts,
            "seconds": round(time.perf_counter() - start, 3),
            # ru_maxrss is in KiB on Linux, and the peak of the whole process so far.
            "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
        # Last: the presence of this file says that a stage is finished.
        write_json(aside / "stage.json", record)
        # polars and numpy create their files with the modes of the umask.
        for path in aside.iterdir():
            path.chmod(0o600)
        flush_folder(aside)

    def folder_of(self, stage: str) -> Path:
        """A folder with all files of a stage, whether or not they are unchanged."""
        return readable_folder(self.path / stage)

    def has(self, stage: str) -> bool:
        """Whether a stage is finished; only `once` checks its files."""
        return (self.path / stage / "stage.json").exists()

    def whole(self, stage: str) -> Stored | None:
        """A finished stage with unchanged files, made by any build."""
        whole = _load_unchanged_stage(self.path / stage)
        return None if whole is None else whole[0]

    def stages(self) -> dict[str, dict[str, Any]]:
        """The records of all finished stages."""
        return {
            path.parent.name: read_json(path) for path in sorted(self.path.glob("[!.]*/stage.json"))
        }

    def released(self, parent: Place) -> Release | None:
        """The release that this run published, or was about to publish, in this folder."""
        mark = self._releases().get(str(parent))
        return None if mark is None else _read_mark(parent, mark)

    def find_standing(self, parent: Place) -> tuple[Release, Mapping[str, Any]] | None:
        """The release of this run in this folder, and its manifest, if no file of it changed."""
        release = self.released(parent)
        if release is None or not release.stands():
            return None
        manifest = read_document(release.folder / MANIFEST)
        whole = has_version_files(release.folder, manifest["files"])
        return (release, manifest) if whole else None

    def mark_released(self, release: Release) -> None:
        """Record a release: once before it becomes visible, once after."""
        before = self.released(release.folder.parent)
        # What was visible stays so: a stopped second publication must not make a release unknown.
        published = release.published or (before is not None and before.published)
        mark = {
            "version": release.folder.name,
            "files": dict(release.files),
            "published": published,
        }
        write_json(self.path / RELEASES, {**self._releases(), str(release.folder.parent): mark})

    def forget_released(self, release: Release) -> None:
        """Drop the mark of a release that was retracted."""
        marks = self._releases()
        if marks.get(str(release.folder.parent), {}).get("version") == release.folder.name:
            del marks[str(release.folder.parent)]
            write_json(self.path / RELEASES, marks)

    def ever_visible(self) -> list[Release]:
        """The releases of this run that became visible, also if their folders are gone by now."""
        marks = [_read_mark(place_of(parent), mark) for parent, mark in self._releases().items()]
        # A folder that stands without the note: the process was killed between rename and note.
        return [mark for mark in marks if mark.published or mark.stands()]

    def has_confirmed_all(self) -> bool:
        """Whether every release that this run marked became visible, by its own notes."""
        return all(mark["published"] for mark in self._releases().values())

    def _releases(self) -> dict[str, Any]:
        path = self.path / RELEASES
        return read_json(path) if path.exists() else {}

    @contextmanager
    def hold_lock(self) -> Iterator[None]:
        """Let one process at a time work on this run; the lock ends with its process."""
        with lock_file(self.path / "lock", fcntl.LOCK_EX | fcntl.LOCK_NB):
            yield


def _read_mark(parent: Place, mark: Mapping[str, Any]) -> Release:
    return Release(parent / mark["version"], mark["files"], mark["published"])


@contextmanager
def lock_file(path: Path, how: int) -> Iterator[None]:
    """Hold the lock of this file; the lock ends with its process."""
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "w") as handle:
        try:
            fcntl.flock(handle, how)
        except BlockingIOError:
            raise BusyError(
                "another process is at work on this plan and source; wait for it and run again"
            ) from None
        yield


def _load_finished_stage(folder: Path, needs: Sequence[str]) -> Stored | None:
    """The stage in this folder if it is complete, of this build and from these inputs."""
    match _load_unchanged_stage(folder):
        case stored, made, inputs if made == compute_code_stamp() and inputs == list(needs):
            return stored
    return None


def _load_unchanged_stage(folder: Path) -> tuple[Stored, Any, Any] | None:
    """The stage in this folder if its files are unchanged, with its build and inputs."""
    try:
        record = read_json(folder / "stage.json")
        if not holds_files(folder, record["files"]):
            return None
        # Only what the stage found: made again with the same result, it keeps the stages after it.
        result = _drop_durations({key: record[key] for key in ("files", "shape", "facts")})
        digest = hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()
        stored, made = Stored(folder, digest, tuple(record["shape"])), stamp_of(record)
        return stored, made, record["inputs"]
    # SealedError passes: a missing key must not count as a missing stage.
    except UNREADABLE:
        return None  # the record is missing or cannot be read


def _drop_durations(found: Any) -> Any:
    """What a stage found, without how long it took: no clock decides what is made again."""
    match found:
        case dict():
            return {key: _drop_durations(each) for key, each in found.items() if key != "seconds"}
        case list():
            return [_drop_durations(each) for each in found]
    return found
