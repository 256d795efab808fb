"""The vault: finished stages of each run, its secrets, and which release it led to.

    <vault>/runs/<run>/run.json, seed, lock, release.json, <stage>/...

A run is one plan applied to one source; its folder is named by the hashes of both, so the same order finds the same run.
A stage is written aside and renamed once; what is there is whole. Folders are 0700, files 0600.
"""

import fcntl
import hashlib
import json
import os
import resource
import shutil
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from anon_core.errors import AnonymityError
from tasks import secrecy

CODE_VERSION = version("crowdcover")


class SecondReleaseError(AnonymityError):
    """Another plan has already released this source."""


class StageError(AnonymityError):
    """A stage failed in an unforeseen way; what exactly lies in the vault, since messages may carry values."""


@dataclass(frozen=True)
class Stored:
    """A finished stage on disk; travels between tasks instead of data."""

    path: Path
    sha256: str
    shape: tuple[int, ...] = ()

    def file(self, name: str) -> Path:
        """Path of one of the stage's files."""
        return self.path / name

    @property
    def record(self) -> dict[str, Any]:
        """What the stage wrote about itself: facts, seconds, peak_memory_bytes, files."""
        return dict(read_json(self.path / "stage.json"))

    @property
    def facts(self) -> dict[str, Any]:
        """What the maker of the stage found worth keeping."""
        return dict(self.record["facts"])


@dataclass(frozen=True)
class Run:
    """One plan applied to one source."""

    path: Path

    @property
    def source_sha256(self) -> str:
        """Hash of the source that this run is about."""
        return str(read_json(self.path / "run.json")["source_sha256"])

    @property
    def seed(self) -> bytes:
        """The secret that every random choice of this run is drawn from."""
        return (self.path / "seed").read_bytes()

    def once(self, stage: str, inputs: Sequence[Stored], make: Callable[[Path], Mapping[str, Any]]) -> Stored:
        """Return the finished stage, or make it: `make(folder)` writes files and returns facts (JSON), among them "shape"."""
        needs = [stored.sha256 for stored in inputs]
        final = self.path / stage
        if (found := _finished(final, needs)) is not None:
            return found
        aside = self.path / f".{stage}.partial"
        for leftover in (aside, final):
            shutil.rmtree(leftover, ignore_errors=True)
        aside.mkdir(mode=0o700)
        start = time.perf_counter()
        facts = dict(make(aside))
        record = {
            "version": CODE_VERSION,
            "inputs": needs,
            "files": {path.name: file_sha256(path) for path in sorted(aside.iterdir())},
            "shape": facts.pop("shape", []),
            "facts": facts,
            "seconds": round(time.perf_counter() - start, 3),
            "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
        write_json(aside / "stage.json", record)
        for path in aside.iterdir():
            path.chmod(0o600)
        os.rename(aside, final)
        stored = _finished(final, needs)
        assert stored is not None
        return stored

    def has(self, stage: str) -> bool:
        """Whether a stage is finished (its files are looked at by `once`)."""
        return (self.path / stage / "stage.json").exists()

    def stages(self) -> dict[str, dict[str, Any]]:
        """The records of all finished stages."""
        return {path.parent.name: read_json(path) for path in sorted(self.path.glob("[!.]*/stage.json"))}

    def released(self) -> dict[str, Any] | None:
        """Where this run was, or was about to be, published: path, published; None before."""
        path = self.path / "release.json"
        return read_json(path) if path.exists() else None

    def mark_released(self, folder: Path, *, published: bool) -> None:
        """Remember where this run is about to be (before the rename) or was (after it) published."""
        write_json(self.path / "release.json", {"path": str(folder), "published": published})

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let one process at a time work on this run; the lock dies with its process."""
        with (self.path / "lock").open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StageError("another process is at work on this plan and source; wait for it and run again") from None
            yield

    @contextmanager
    def failures_kept(self, stage: str) -> Iterator[None]:
        """Let refusals pass without what caused them; turn anything else into a StageError that tells no value."""
        try:
            yield
        except AnonymityError as refusal:
            refusal.__cause__ = refusal.__context__ = None
            raise
        except Exception as error:
            path = self.path / f"failure-{stage}.txt"
            write_private(path, traceback.format_exc().encode())
            kind = type(error).__name__
        else:
            return
        raise StageError(f"stage {stage} failed with {kind}; its traceback lies in the vault: {path.name} of {self.path.name}")


@dataclass(frozen=True)
class Vault:
    """A folder only its owner can read."""

    path: Path

    def run(self, plan_sha256: str, source_sha256: str) -> Run:
        """The run of this plan and source, new or found."""
        run = Run(self.path / "runs" / run_name(plan_sha256, source_sha256))
        for folder in (self.path, self.path / "runs", run.path):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (run.path / "seed").exists():
            write_private(run.path / "seed", secrecy.new_seed())
        if not (run.path / "run.json").exists():
            write_json(run.path / "run.json", {"plan_sha256": plan_sha256, "source_sha256": source_sha256})
        return run

    def find(self, plan_sha256: str, source_sha256: str) -> Run | None:
        """The run of this plan and source if there is one."""
        run = Run(self.path / "runs" / run_name(plan_sha256, source_sha256))
        return run if (run.path / "seed").exists() else None

    def other_releases(self, plan_sha256: str, source_sha256: str) -> int:
        """How many other plans have released this source."""
        orders = [(Run(path.parent).released(), read_json(path)) for path in self.path.glob("runs/*/run.json")]
        return sum(
            mark is not None and order["source_sha256"] == source_sha256 and order["plan_sha256"] != plan_sha256
            for mark, order in orders
            if mark is None or mark["published"] or Path(mark["path"]).exists()
        )


def run_name(plan_sha256: str, source_sha256: str) -> str:
    """The folder name of a run."""
    return hashlib.sha256(f"{plan_sha256} {source_sha256}".encode()).hexdigest()[:16]


def _finished(folder: Path, needs: Sequence[str]) -> Stored | None:
    """The stage in this folder if it is whole, of this version and made from these inputs."""
    path = folder / "stage.json"
    if not path.exists():
        return None
    record = read_json(path)
    whole = all((folder / name).exists() and file_sha256(folder / name) == sha for name, sha in record["files"].items())
    if record["version"] != CODE_VERSION or record["inputs"] != list(needs) or not whole:
        return None
    digest = hashlib.sha256(json.dumps(record["files"], sort_keys=True).encode()).hexdigest()
    return Stored(folder, digest, tuple(record["shape"]))


def file_sha256(path: Path) -> str:
    """Hash of a file's bytes."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file."""
    return dict(json.loads(path.read_text(encoding="utf-8")))


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a JSON object aside, mode 0600, and rename it once."""
    write_private(path, (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())


def write_private(path: Path, content: bytes) -> None:
    """Write a file aside, mode 0600, and rename it once."""
    aside = path.with_name(f".{path.name}.partial")
    aside.unlink(missing_ok=True)
    with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())
    os.rename(aside, path)
