"""Where a killed run goes on: the last finished step of the anonymizer, kept in the vault.

The file holds a line with the SHA-256 of the rest, a line of JSON, then the arrays. It stays until
the stage is finished.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.steps import State, Step
from storage.encryption.encryption import SealedError
from storage.vault.build import compute_code_stamp, stamp_of
from storage.vault.files import find_readable_path, open_private_replacement


@dataclass(frozen=True)
class CheckpointFile:
    """One checkpoint on disk, bound to the build and to the hashes of its inputs."""

    path: Path
    inputs: Sequence[str]

    def load(self) -> tuple[State | None, list[float]]:
        """Return the state and the seconds of its steps.

        There is none if the file is absent, damaged, or was made by another build or from other
        inputs. The anonymizer checks the state.
        """
        try:
            with find_readable_path(self.path).open("rb") as handle:
                # The digest covers all bytes behind its line: a cut or longer file fails, too.
                digest, start = handle.readline().decode().strip(), handle.tell()
                if hashlib.file_digest(handle, "sha256").hexdigest() != digest:
                    return None, []
                handle.seek(start)
                record = json.loads(handle.readline())
                if stamp_of(record) != compute_code_stamp() or record["inputs"] != list(
                    self.inputs
                ):
                    return None, []
                blocks = [_read_array(handle, block) for block in record["blocks"]]
            arrays = {name: blocks[number] for name, number in record["arrays"].items()}
            steps = tuple(Step(each["number"], each["figures"]) for each in record["steps"])
            seconds = [float(each["seconds"]) for each in record["steps"]]
        # A missing key is no damage: without this clause the run would silently begin anew.
        except SealedError:
            raise
        except Exception:  # whatever is wrong with it, the steps can be made again
            return None, []
        return State(arrays, steps), seconds

    def save(self, state: State, seconds: Sequence[float]) -> None:
        """Replace the checkpoint before. An array with two names is written once."""
        blocks: list[NDArray[Any]] = []
        places: dict[str, int] = {}
        for name, array in state.arrays.items():
            # Identity, not equality: `load` gives both names one array again, as before.
            known = [number for number, block in enumerate(blocks) if block is array]
            places[name] = known[0] if known else len(blocks)
            if not known:
                blocks.append(array)
        # `block.data` below must be in C order: `_read_array` takes the bytes in that order.
        blocks = [np.ascontiguousarray(block) for block in blocks]
        record = {
            **compute_code_stamp(),
            "inputs": list(self.inputs),
            "arrays": places,
            "blocks": [{"dtype": block.dtype.str, "shape": block.shape} for block in blocks],
            "steps": [
                {"number": step.number, "figures": dict(step.figures), "seconds": taken}
                for step, taken in zip(state.steps, seconds, strict=True)
            ],
        }
        parts: list[Any] = [json.dumps(record).encode() + b"\n", *(block.data for block in blocks)]
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part)
        with open_private_replacement(self.path) as handle:
            handle.writelines([digest.hexdigest().encode() + b"\n", *parts])

    def discard(self) -> None:
        """Remove the file once the stage is finished."""
        self.path.unlink(missing_ok=True)


def _read_array(handle: Any, block: Mapping[str, Any]) -> NDArray[Any]:
    """Return the next array of the file."""
    shape = tuple(block["shape"])
    count = int(np.prod(shape, dtype=np.int64))
    return np.fromfile(handle, np.dtype(block["dtype"]), count).reshape(shape)
