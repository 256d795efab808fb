"""What the ranks write as they go: progress, a checkpoint an iteration in as many parts as there are ranks, the result."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from anon_core.engines.mpi.job import (
    CHECKPOINT,
    UNREADABLE,
    Job,
    Progress,
    read_part,
    write_json,
    write_part,
    write_progress,
    write_result,
)
from anon_core.engines.mpi.ranks import Ranks
from anon_core.tables.records import Checkpoint, Edges, Iteration, MaskedTable, Observer

EVERY = 1.0  # seconds between two messages about one iteration


class Keeper(Observer):
    """Sees an iteration end on every rank. Rank 0 names the parts once all have written theirs."""

    def __init__(self, folder: Path, job: Job, ranks: Ranks) -> None:
        self._folder, self._job, self._ranks = folder, job, ranks
        self._rank_of = np.empty_like(job.order)
        self._rank_of[job.order] = np.arange(len(job.order))
        self._seconds: list[float] = []
        self._iteration: Iteration | None = None
        self._best: list[dict[str, Any]] = []
        self._began = self._told = MPI.Wtime()

    def resume(self) -> Checkpoint | None:
        """The edges at the own vertices of the last finished iteration, whatever number of ranks wrote them."""
        if self._ranks.rank == 0:  # no other rank writes before they have agreed
            for leftover in self._folder.glob(".*.npy.*.partial"):
                leftover.unlink(missing_ok=True)
        record = self._ranks.agree(self._read_checkpoint() if self._ranks.rank == 0 else None)
        if record is None:
            return None
        latest = self._own(record["latest"])
        best = latest if record["best"] == record["latest"] else self._own(record["best"])
        iterations = tuple(Iteration(**iteration) for iteration in record["iterations"])
        self._seconds, self._best, self._iteration = (
            list(record["seconds"]),
            record["best"],
            iterations[-1],
        )
        self._began = MPI.Wtime()
        self._tell(0)
        return Checkpoint(latest, best, iterations)

    def _read_checkpoint(self) -> dict[str, Any] | None:
        """The last checkpoint if there is one of this order and all of it can be read, else the iterations are made again."""
        try:
            record = dict(json.loads((self._folder / CHECKPOINT).read_text()))
            if record["digest"] != self._job.digest:
                return None
            for part in record["latest"] + record["best"]:
                read_part(self._folder, part)
        except UNREADABLE:
            return None
        return record

    def _own(self, parts: Sequence[dict[str, Any]]) -> Edges:
        """The edges of all parts with an end among the own vertices."""
        chosen = []
        for part in parts:
            edges = read_part(self._folder, part)
            near = self._ranks.owns(self._rank_of[edges.u]) | self._ranks.owns(
                self._rank_of[edges.v]
            )
            chosen.append(np.stack([edges.u[near], edges.v[near], edges.weight[near]]))
        return Edges(*np.concatenate(chosen, axis=1))

    def searched(self, records: int) -> None:
        """Rank 0 speaks for all: the shares are alike."""
        now = MPI.Wtime()
        if now - self._told >= EVERY:
            self._tell(records)

    def iterated(self, checkpoint: Checkpoint) -> None:
        """Write the own part of the cover; with the last part written the iteration can be resumed."""
        self._iteration = checkpoint.iterations[-1]
        now = MPI.Wtime()
        self._seconds.append(round(now - self._began, 3))
        self._began = now
        latest = self._write(f"cover-{self._iteration.number}", checkpoint.latest)
        self._best = latest if checkpoint.best is checkpoint.latest else self._best
        if self._ranks.rank == 0:
            record = self._record(checkpoint.iterations)
            write_json(self._folder / CHECKPOINT, {**record, "latest": latest, "best": self._best})
            named = {part["file"] for part in latest + self._best}
            for leftover in self._folder.glob("cover-*.npy"):
                if leftover.name not in named:
                    leftover.unlink(missing_ok=True)
        self._tell(0)
        self._ranks.agree(None)  # nobody writes a next part while leftovers go

    def finish(self, masked: MaskedTable) -> None:
        """Write what to hide, the cover in parts, and that it is done."""
        parts = self._write("result", masked.cover)
        sent = self._ranks.total(self._ranks.sent)
        if self._ranks.rank == 0:
            made = {"parts": parts, "bytes_sent": int(sent[0]), "ranks": self._ranks.size}
            write_result(self._folder, masked.hidden, {**self._record(masked.iterations), **made})
        self._ranks.agree(None)

    def _record(self, iterations: Sequence[Iteration]) -> dict[str, Any]:
        """What was reached so far, and in which order's service."""
        reached = [dataclasses.asdict(iteration) for iteration in iterations]
        return {"digest": self._job.digest, "iterations": reached, "seconds": self._seconds}

    def _write(self, name: str, cover: Edges) -> list[dict[str, Any]]:
        """Write the edges whose first end is an own vertex; returns the parts of all ranks."""
        ranks = self._ranks
        own = ranks.owns(np.minimum(self._rank_of[cover.u], self._rank_of[cover.v]))
        part = Edges(cover.u[own], cover.v[own], cover.weight[own])
        return ranks.collect(
            write_part(self._folder, f"{name}-{ranks.rank}-of-{ranks.size}.npy", part)
        )

    def _tell(self, searched: int) -> None:
        self._told = MPI.Wtime()
        if self._ranks.rank == 0:
            iteration = self._iteration
            progress = Progress(
                iteration=iteration.number if iteration else 0,
                most=self._job.anonymizer.max_iterations,
                searched=searched,
                records=self._job.table.records,
                utility=iteration.utility if iteration else None,
                cover_edges=iteration.cover_edges if iteration else None,
                seconds=self._seconds,
                ranks=self._ranks.size,
                host=MPI.Get_processor_name(),
            )
            write_progress(self._folder, progress)
