"""Where a run that is killed goes on: the anonymizer's last finished iteration, kept in the vault until its stage is.

A line with the SHA-256 of what follows, a line of JSON, then u, v and weight of the latest cover and of the best.
"""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anon_core.tables.records import BinaryTable, Checkpoint, Edges, Iteration
from tasks.vault.storage import CODE_VERSION, written_aside


@dataclass(frozen=True)
class CheckpointFile:
    """One checkpoint on disk, bound to the version of the code and to the hashes of what it was made from."""

    path: Path
    inputs: Sequence[str]

    def load(self, table: BinaryTable) -> tuple[Checkpoint | None, list[float]]:
        """The checkpoint and the seconds of its iterations; none if it is absent, damaged or about something else."""
        try:
            with self.path.open("rb") as handle:
                digest, start = handle.readline().decode().strip(), handle.tell()
                if hashlib.file_digest(handle, "sha256").hexdigest() != digest:
                    return None, []
                handle.seek(start)
                record = json.loads(handle.readline())
                if record["version"] != CODE_VERSION or record["inputs"] != list(self.inputs):
                    return None, []
                covers = [
                    Edges(*np.fromfile(handle, np.int32, 3 * edges).reshape(3, edges))
                    for edges in record["edges"]
                ]
            seconds = [float(iteration.pop("seconds")) for iteration in record["iterations"]]
            iterations = tuple(Iteration(**iteration) for iteration in record["iterations"])
            checkpoint = Checkpoint(covers[0], covers[-1], iterations)
            checkpoint.check(table)
        except Exception:  # whatever is wrong with it, the iterations can be made again
            return None, []
        return checkpoint, seconds

    def save(self, checkpoint: Checkpoint, seconds: Sequence[float]) -> None:
        """Take the place of the checkpoint before; the best cover is written only if it is not the latest."""
        covers = (
            [checkpoint.latest]
            if checkpoint.best is checkpoint.latest
            else [checkpoint.latest, checkpoint.best]
        )
        record = {
            "version": CODE_VERSION,
            "inputs": list(self.inputs),
            "edges": [len(cover) for cover in covers],
            "iterations": timed(checkpoint.iterations, seconds),
        }
        parts = [part.data for cover in covers for part in (cover.u, cover.v, cover.weight)]
        blocks: list[bytes | memoryview] = [json.dumps(record).encode() + b"\n", *parts]
        digest = hashlib.sha256()
        for block in blocks:
            digest.update(block)
        with written_aside(self.path) as handle:
            handle.writelines([digest.hexdigest().encode() + b"\n", *blocks])

    def discard(self) -> None:
        """Once the stage is finished it needs none."""
        self.path.unlink(missing_ok=True)


def timed(iterations: Sequence[Iteration], seconds: Sequence[float]) -> list[dict[str, float]]:
    """Iterations as JSON holds them."""
    pairs = zip(iterations, seconds, strict=True)
    return [{**dataclasses.asdict(iteration), "seconds": taken} for iteration, taken in pairs]
