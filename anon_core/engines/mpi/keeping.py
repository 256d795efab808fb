"""What the ranks write: progress, checkpoints in one part a rank, the result."""

import json
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from anon_core.anonymizers.base import Arrays, Made, Ranked
from anon_core.engines.mpi.files import FILE_ERRORS, read_part, write_job_file, write_part
from anon_core.engines.mpi.job import (
    CHECKPOINT_FILE,
    Progress,
    RankJob,
    steps_from_json,
    steps_to_json,
    write_progress,
    write_result,
)
from anon_core.engines.mpi.ranks import MpiRanks
from anon_core.steps import Observer, Pace, State, Step

_EVERY = 1.0  # seconds between two messages about one step

_Parts = list[dict[str, Any]]  # of one array: file and hash of each rank's part


class Keeper(Observer):
    """Sees every step end on every rank. Rank 0 names the parts once all ranks have written."""

    def __init__(self, folder: Path, job: RankJob, ranks: MpiRanks, spread: Ranked) -> None:
        self._folder, self._job, self._ranks, self._spread = folder, job, ranks, spread
        self._seconds: list[float] = []
        self._pace = Pace()
        self._step: Step | None = None
        self._most: int | None = None
        # Weak: an array that the method has dropped must not stay in memory for its parts.
        self._kept: list[tuple[weakref.ref[NDArray[Any]], _Parts]] = []  # of the last state
        self._began = self._told = MPI.Wtime()

    def resume(self) -> State | None:
        """Return this rank's share of the last checkpoint, however many ranks wrote it."""
        if self._ranks.rank == 0:  # no other rank writes before all have agreed
            for leftover in self._folder.glob(".*.np[yz].*.partial"):
                leftover.unlink(missing_ok=True)
        record = self._ranks.agree(self._read_checkpoint() if self._ranks.rank == 0 else None)
        if record is None:
            return None
        joined: dict[str, NDArray[Any]] = {}
        for name, parts in record["arrays"].items():
            same = [other for other in joined if record["arrays"][other] == parts]
            joined[name] = joined[same[0]] if same else self._join_shares(name, parts)
            self._kept.append((weakref.ref(joined[name]), parts))
        steps = steps_from_json(record["steps"])
        self._seconds, self._step, self._began = list(record["seconds"]), steps[-1], MPI.Wtime()
        return State(joined, steps)

    def _read_checkpoint(self) -> dict[str, Any] | None:
        """Return the last checkpoint of this job if all of it can be read."""
        try:
            record = dict(json.loads((self._folder / CHECKPOINT_FILE).read_text()))
            if record["digest"] != self._job.digest:
                return None
            for parts in record["arrays"].values():
                for part in parts:
                    read_part(self._folder, part)
        except FILE_ERRORS:
            return None
        return record

    def _join_shares(self, name: str, parts: _Parts) -> NDArray[Any]:
        """Return this rank's share of all parts of an array."""
        shares = [
            self._spread.share(
                {name: read_part(self._folder, part)}, self._job.tie_order, self._ranks
            )
            for part in parts
        ]
        return np.ascontiguousarray(np.concatenate([each[name] for each in shares], axis=-1))

    def expects(self, steps: int | None) -> None:
        """Tell the greatest possible number of steps."""
        self._most = steps
        self._tell(0)

    def report_records(self, records: int) -> None:
        """Let rank 0 tell for all: the shares are alike."""
        if MPI.Wtime() - self._told >= _EVERY:
            self._tell(records)

    def on_step(self, state: State) -> None:
        """Write the own part where that is due; once the last one is written, all go on from it."""
        self._step = state.steps[-1]
        now = MPI.Wtime()
        self._seconds.append(round(now - self._began, 3))
        self._began = now
        if self._ranks.agree(self._pace.is_due(now)):  # by the clock of rank 0
            self._write_checkpoint(state)
            self._pace.set_next(now, MPI.Wtime())
        self._tell(0)

    def _write_checkpoint(self, state: State) -> None:
        arrays = self._write_parts(state.steps[-1].number, state.arrays)
        if self._ranks.rank == 0:
            record = {**self._record(), "steps": steps_to_json(state.steps), "arrays": arrays}
            write_job_file(self._folder / CHECKPOINT_FILE, record)
            named = {part["file"] for parts in arrays.values() for part in parts}
            for leftover in self._folder.glob("state-*.npy"):
                if leftover.name not in named:
                    leftover.unlink(missing_ok=True)
        self._ranks.agree(None)  # no rank writes a next part while leftovers are removed

    def _write_parts(self, number: int, arrays: Arrays) -> Mapping[str, _Parts]:
        """Write the parts of new arrays. Arrays that were written before keep their parts."""
        kept, result = self._kept, {}
        self._kept = []
        for place, (name, array) in enumerate(arrays.items()):
            stem = f"state-{number}-{place}-{self._ranks.rank}-of-{self._ranks.size}.npy"
            known = [parts for each, parts in kept + self._kept if each() is array]
            new = self._ranks.greatest(int(not known))  # one rank may know what another does not
            result[name] = (
                self._ranks.collect(write_part(self._folder, stem, array)) if new else known[0]
            )
            self._kept.append((weakref.ref(array), result[name]))
        return result

    def finish(self, made: Made) -> None:
        """Write what was made; every rank has all of it."""
        sent = self._ranks.total(self._ranks.sent)
        if self._ranks.rank == 0:
            about = {"bytes_sent": int(sent[0]), "ranks": self._ranks.size}
            write_result(self._folder, made, {**self._record(), **about})
        self._ranks.agree(None)

    def _record(self) -> dict[str, Any]:
        return {"digest": self._job.digest, "seconds": self._seconds}

    def _tell(self, advanced: int) -> None:
        self._told = MPI.Wtime()
        if self._ranks.rank == 0:
            step = self._step
            progress = Progress(
                step=step.number if step else 0,
                most=self._most,
                advanced=advanced,
                records=self._job.data.records,
                figures=dict(step.figures) if step else {},
                seconds=self._seconds,
                ranks=self._ranks.size,
                host=MPI.Get_processor_name(),
            )
            write_progress(self._folder, progress)
