"""Where a killed run goes on: the last finished step of the anonymizer, kept in the vault.

A file holds a line with the SHA-256 of the rest, a line of JSON, then the arrays. It stays until
the stage is finished.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.steps import GrowingArrays, State, Step
from crowdcover.storage.encryption.encryption import SealedError
from crowdcover.storage.vault.build import compute_code_stamp, stamp_of
from crowdcover.storage.vault.files import find_readable_path, open_private_replacement


class _Links(NamedTuple):
    """What is on disk of a state: files, the digest of the last, places of the last axis, steps."""

    files: int = 0
    digest: str = ""
    records: int = 0
    steps: int = 0


@dataclass
class CheckpointFile:
    """One checkpoint on disk, bound to the build and to the hashes of its inputs.

    Arrays that only grow (`GrowingArrays`) are kept in several files: after the first, each file
    has what was added, and the digest of the file before. So one that was made for another is not
    taken up.
    """

    path: Path
    inputs: Sequence[str]
    _kept: _Links = field(default=_Links(), init=False, repr=False, compare=False)

    def load(self) -> tuple[State | None, list[float]]:
        """Return the state and the seconds of its steps.

        There is none if the file is absent, damaged, or was made by another build or from other
        inputs. Of files that go on from it, those before the first damaged one count. The
        anonymizer checks the state.
        """
        found: list[dict[str, NDArray[Any]]] = []
        steps: list[Step] = []
        seconds: list[float] = []
        self._kept = _Links()
        while (link := self._read_link(self._kept)) is not None:
            digest, record, arrays = link
            found.append(arrays)
            steps += [Step(each["number"], each["figures"]) for each in record["steps"]]
            seconds += [float(each["seconds"]) for each in record["steps"]]
            records = self._kept.records + record["added"]
            self._kept = _Links(len(found), digest, records, len(steps))
        if not found:
            return None, []
        whole = found[0]
        if len(found) > 1:
            whole = {name: np.concatenate([f.pop(name) for f in found], -1) for name in [*whole]}
        return State(whole, tuple(steps)), seconds

    def _read_link(self, before: _Links) -> tuple[str, Any, dict[str, NDArray[Any]]] | None:
        """Return digest, record and arrays of the file that goes on from these, if there is one."""
        try:
            with find_readable_path(self._path_of(before.files)).open("rb") as handle:
                # The digest covers all bytes behind its line: a cut or longer file fails, too.
                digest, start = handle.readline().decode().strip(), handle.tell()
                if hashlib.file_digest(handle, "sha256").hexdigest() != digest:
                    return None
                handle.seek(start)
                record = json.loads(handle.readline())
                wanted = compute_code_stamp(), list(self.inputs), before.digest
                if (stamp_of(record), record["inputs"], record["before"]) != wanted:
                    return None
                blocks = [_read_array(handle, block) for block in record["blocks"]]
            return digest, record, {name: blocks[at] for name, at in record["arrays"].items()}
        # A missing key is no damage: without this clause the run would silently begin anew.
        except SealedError:
            raise
        except Exception:  # whatever is wrong with it, the steps can be made again
            return None

    def save(self, state: State, seconds: Sequence[float]) -> None:
        """Replace the checkpoint before, or add to it. An array with two names is written once."""
        before, arrays = _Links(), state.arrays
        if grows := isinstance(arrays, GrowingArrays):
            before = self._kept if self._kept.records else before
            arrays = arrays.after(before.records)
        blocks: list[NDArray[Any]] = []
        places: dict[str, int] = {}
        for name, array in arrays.items():
            # Identity, not equality: `load` gives both names one array again, as before.
            known = [number for number, block in enumerate(blocks) if block is array]
            places[name] = known[0] if known else len(blocks)
            if not known:
                blocks.append(array)
        # `block.data` below must be in C order: `_read_array` takes the bytes in that order.
        blocks = [np.ascontiguousarray(block) for block in blocks]
        added = blocks[0].shape[-1] if grows else 0
        taken = list(zip(state.steps, seconds, strict=True))
        record = {
            **compute_code_stamp(),
            "inputs": list(self.inputs),
            "before": before.digest,
            "added": added,
            "arrays": places,
            "blocks": [{"dtype": block.dtype.str, "shape": block.shape} for block in blocks],
            "steps": [
                {"number": step.number, "figures": dict(step.figures), "seconds": each}
                for step, each in taken[before.steps :]
            ],
        }
        parts: list[Any] = [json.dumps(record).encode() + b"\n", *(block.data for block in blocks)]
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part)
        with open_private_replacement(self._path_of(before.files)) as handle:
            handle.writelines([digest.hexdigest().encode() + b"\n", *parts])
        records = before.records + added
        self._kept = _Links(before.files + 1, digest.hexdigest(), records, len(state.steps))

    def discard(self) -> None:
        """Remove the files once the stage is finished."""
        for path in (self.path, *self.path.parent.glob(f"{self.path.name}.*")):
            path.unlink(missing_ok=True)

    def _path_of(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}") if number else self.path


def _read_array(handle: Any, block: Mapping[str, Any]) -> NDArray[Any]:
    """Return the next array of the file."""
    shape = tuple(block["shape"])
    count = int(np.prod(shape, dtype=np.int64))
    return np.fromfile(handle, np.dtype(block["dtype"]), count).reshape(shape)
