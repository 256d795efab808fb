"""The folder of a job: what the flow writes, what the ranks write, and how each reads the other.

    job.json, data.npz                the job: settings, data without names and labels, ties
    progress.json                     rewritten by rank 0 as the work goes on
    checkpoint.json, state-*.npy      a finished step, in as many parts as there were ranks
    result.json, made.npz
    failure.json                      why resubmitting cannot help

Files are written aside and renamed once. Records are named as the data names them.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers import ANONYMIZERS, Anonymizer
from anon_core.anonymizers.base import Data, Made, TableAnonymizer
from anon_core.build import hash_packages
from anon_core.engines.local import check_memory
from anon_core.engines.mpi.files import (
    DAMAGED_FILE_ERRORS,
    FILE_ERRORS,
    digest_of,
    has_arrays,
    load_arrays,
    read_job_file,
    write_arrays,
    write_job_file,
)
from anon_core.engines.spreading import load_mpi_module
from anon_core.errors import ClusterError, InputError
from anon_core.steps import Step
from anon_core.tables.records import BinaryTable

_JOB, _DATA, _PROGRESS, CHECKPOINT_FILE, RESULT_FILE, _MADE, _FAILURE = (
    *("job.json", "data.npz", "progress.json", "checkpoint.json"),
    *("result.json", "made.npz", "failure.json"),
)
_ORDER = "order"  # name of an array in data.npz; those of the data have a prefix
_PREFIX = "data."
EXIT_REFUSED = 2  # exit code of ranks that have written failure.json


@dataclass(frozen=True, kw_only=True)
class RankJob:
    """What the ranks are to do.

    Attributes
    ----------
    tie_order : int64 (n,)
        See `Anonymizer.anonymize`.
    ranks : int
        How many are to be started.
    threads : int
        Of each rank; 0 takes all that it is given.
    memory : int or None
        Bytes that a rank may hold beyond the data.
    digest : str
        SHA-256 of what shapes the result.
    """

    anonymizer: Anonymizer[Any]
    data: Data
    tie_order: NDArray[np.int64]
    ranks: int
    threads: int
    memory: int | None
    digest: str


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far the ranks are.

    Attributes
    ----------
    step : int
        Number of the last finished step, 0 before the first.
    most : int or None
        Greatest possible number of steps, None where unknown.
    advanced, records : int
        How many of all records the step after it has finished.
    figures : dict
        Of the last finished step.
    seconds : list of float
        Of each finished step.
    """

    step: int
    most: int | None
    advanced: int
    records: int
    figures: dict[str, float]
    seconds: list[float]
    ranks: int
    host: str


def afford_rank(
    anonymizer: Anonymizer[Any], data: Data, *, ranks: int, threads: int, memory: int | None
) -> None:
    """Refuse work that ranks cannot do, or that needs more bytes of a rank than are allowed.

    Raises
    ------
    InputError, InfeasibleError, LimitError
    """
    spread = load_mpi_module(anonymizer)
    anonymizer.admit(data)
    need = spread.memory(anonymizer, data, ranks=ranks, threads=threads)
    check_memory(need, data, memory, where=f" on each of {ranks} ranks", instead="take more ranks")


def write_job(
    folder: Path,
    anonymizer: TableAnonymizer,
    data: BinaryTable,
    tie_order: NDArray[np.int64],
    *,
    ranks: int,
    threads: int,
    memory: int | None,
) -> bool:
    """Write a job, unless the same is there; files of another job are removed.

    Returns whether another job was there, if only for other ranks: ranks at work on it are to be
    stopped.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    document, packed = data.pack_arrays(numbers=anonymizer.reads_numbers)
    arrays = {**{f"{_PREFIX}{name}": array for name, array in packed.items()}, _ORDER: tie_order}
    shape = {**_describe_build(), **_describe_anonymizer(anonymizer), "data": document}
    digest = digest_of(shape, arrays)
    (folder / _FAILURE).unlink(missing_ok=True)
    before = read_job_file(folder / _JOB)
    if before.get("digest") != digest:
        for leftover in folder.iterdir():
            if leftover.suffix in {".json", ".npy", ".npz", ".partial"}:
                leftover.unlink(missing_ok=True)  # its writer may be at work
    if not has_arrays(folder / _DATA, arrays):
        write_arrays(folder / _DATA, arrays)
    record = {"digest": digest, "ranks": ranks, "threads": threads, "memory": memory, **shape}
    write_job_file(folder / _JOB, record)
    return bool(before) and before != record


def _describe_build() -> dict[str, str]:
    """Return the version of this program, and the hash of the code that ranks run."""
    return {"version": version("crowdcover"), "code": hash_packages("anon_core")}


def _describe_anonymizer(anonymizer: Anonymizer[Any]) -> dict[str, Any]:
    """Return the anonymizer by name, with its settings."""
    names = [name for name, each in ANONYMIZERS.items() if each is type(anonymizer)]
    if not names or not dataclasses.is_dataclass(anonymizer):
        raise InputError("only an anonymizer of anon_core.ANONYMIZERS can be sent to ranks")
    return {"anonymizer": {"name": names[0], **dataclasses.asdict(anonymizer)}}


def read_job(folder: Path) -> RankJob:
    """Return the job in a folder.

    Raises
    ------
    InputError
        There is none, one of another build of this program, or one that cannot be read.
    """
    if not (folder / _JOB).exists():
        raise InputError(
            "the folder holds no job.json; `crowdcover release` writes a job, nobody by hand"
        )
    try:
        record = dict(json.loads((folder / _JOB).read_text()))
        build = _describe_build()
        if {key: record.get(key) for key in build} != build:
            raise InputError(
                "the job was written by another build of crowdcover; "
                "install the same one on all machines, and run `crowdcover release` again"
            )
        settings = dict(record["anonymizer"])
        anonymizer = ANONYMIZERS[settings.pop("name")]
        arrays = load_arrays(folder / _DATA)
        tie_order = arrays.pop(_ORDER)
        packed = {name.removeprefix(_PREFIX): array for name, array in arrays.items()}
        data = anonymizer.data.unpack_arrays(record["data"], packed)
    except InputError:
        raise
    except (*DAMAGED_FILE_ERRORS, FileNotFoundError) as error:
        raise InputError(
            f"job.json or data.npz cannot be read ({type(error).__name__}); "
            "run `crowdcover release` again to write them anew"
        ) from None
    return RankJob(
        anonymizer=anonymizer(**settings),
        data=data,
        tie_order=tie_order,
        ranks=record["ranks"],
        threads=record["threads"],
        memory=record["memory"],
        digest=record["digest"],
    )


def write_progress(folder: Path, progress: Progress) -> None:
    """Replace the progress before."""
    write_job_file(folder / _PROGRESS, dataclasses.asdict(progress))


def read_progress(folder: Path) -> Progress | None:
    """Return the last progress if it can be read: a shared file system may lose it meanwhile."""
    try:
        return Progress(**json.loads((folder / _PROGRESS).read_text()))
    except FILE_ERRORS:
        return None


def write_failure(folder: Path, reason: str) -> None:
    """Write why resubmitting cannot help."""
    write_job_file(folder / _FAILURE, {"reason": reason})


def read_failure(folder: Path) -> str | None:
    """Return why resubmitting cannot help, if so."""
    path = folder / _FAILURE
    return str(json.loads(path.read_text())["reason"]) if path.exists() else None


def has_result(folder: Path) -> bool:
    """Return whether the result is that of this job; ranks of another may have been at work."""
    same = read_job_file(folder / RESULT_FILE).get("digest") == read_job_file(folder / _JOB).get(
        "digest"
    )
    return same and (folder / RESULT_FILE).exists()


def steps_to_json(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return steps as JSON holds them."""
    return [{"number": step.number, "figures": dict(step.figures)} for step in steps]


def steps_from_json(documents: Sequence[Mapping[str, Any]]) -> tuple[Step, ...]:
    """Return the inverse of `steps_to_json`."""
    return tuple(Step(each["number"], each["figures"]) for each in documents)


def write_result(folder: Path, made: Made, record: Mapping[str, Any]) -> None:
    """Write what was made, then the record of what belongs to it: digest, seconds and others."""
    arrays = made.arrays()
    write_arrays(folder / _MADE, arrays)
    result = {
        "steps": steps_to_json(made.steps),
        "kept": made.result_step,
        "made": digest_of({}, arrays),
    }
    write_job_file(folder / RESULT_FILE, {**record, **result})


def read_result(folder: Path, data: Data) -> tuple[Made, list[float]]:
    """Return what the ranks made of this data, and the seconds of each step.

    Raises
    ------
    ClusterError
        It cannot be read. It is removed, so that ranks make it again from their last checkpoint.
    """
    try:
        result = json.loads((folder / RESULT_FILE).read_text())
        arrays = load_arrays(folder / _MADE)
        if digest_of({}, arrays) != result["made"]:
            raise InputError("made.npz is not as it was written")
        made = data.restore_result(arrays, steps_from_json(result["steps"]), result["kept"])
        seconds = [float(each) for each in result["seconds"]]
    except FILE_ERRORS as error:  # an InputError is a ValueError, too
        (folder / RESULT_FILE).unlink(missing_ok=True)
        raise ClusterError(
            f"the result of the batch job cannot be read ({type(error).__name__}); "
            "run again to have it made again"
        ) from None
    return made, seconds
