"""The folder of a job: what the flow writes, what the ranks write, and how either reads the other. Knows no communicator.

    job.json, table.npz                  the order: settings, table, secret order of ties; no label of any level
    progress.json                        rewritten by rank 0 as the work goes on
    checkpoint.json, cover-*.npy         the last finished iteration, in as many parts as there were ranks
    result.json, hidden.npy, result-*.npy
    failure.json                         why resubmitting cannot help

Files are written aside and renamed once. Edges name records as the table does.
"""

import dataclasses
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers import ANONYMIZERS, Adaptive
from anon_core.errors import ClusterError, InputError
from anon_core.tables.records import Attribute, BinaryTable, Codebook, Edges, Iteration, MaskedTable

JOB, TABLE, PROGRESS, CHECKPOINT, RESULT, HIDDEN, FAILURE = (
    *("job.json", "table.npz", "progress.json", "checkpoint.json"),
    *("result.json", "hidden.npy", "failure.json"),
)
REFUSED = 2  # exit code of ranks that have written failure.json
DAMAGED = (
    EOFError,
    KeyError,
    TypeError,
    ValueError,
    BadZipFile,
)  # what reading such a file may raise
UNREADABLE = (*DAMAGED, OSError)  # or what its file system has to say


@dataclass(frozen=True, kw_only=True)
class Job:
    """An order to the ranks.

    Attributes
    ----------
    order : int64 (n,)
        See `Anonymizer.anonymize`.
    ranks : int
        How many are to be started.
    threads : int
        Of each rank; 0 takes all that it is given.
    memory : int or None
        Bytes that a rank may hold beyond the table.
    digest : str
        SHA-256 of what shapes the result.
    """

    anonymizer: Adaptive
    table: BinaryTable
    order: NDArray[np.int64]
    ranks: int
    threads: int
    memory: int | None
    digest: str


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far the ranks are: `searched` of `records` in the iteration after `iteration`, `seconds` of those finished."""

    iteration: int
    most: int
    searched: int
    records: int
    utility: float | None
    cover_edges: int | None
    seconds: list[float]
    ranks: int
    host: str


def write_job(
    folder: Path,
    anonymizer: Adaptive,
    table: BinaryTable,
    order: NDArray[np.int64],
    *,
    ranks: int,
    threads: int,
    memory: int | None,
) -> bool:
    """Write an order, or find it written; what is left of another order is removed, what is left of this one kept.

    Returns whether another one stood here, be it only for other ranks: whoever still works on that is to stop.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    settings = {"name": "adaptive", **dataclasses.asdict(anonymizer)}
    attributes = [
        {"kind": a.kind, "encoding": a.encoding, "levels": a.levels, "weight": a.weight}
        for a in table.codebook.attributes
    ]
    arrays: dict[str, NDArray[Any]] = {
        "codes": table.codes,
        "bits": table.bits,
        "k": table.k,
        "blank": table.blank,
        "order": order,
    }
    shape = {"version": version("crowdcover"), "anonymizer": settings, "attributes": attributes}
    digest = hashlib.sha256(json.dumps(shape, sort_keys=True).encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    (folder / FAILURE).unlink(missing_ok=True)
    before = _document(folder / JOB)
    if before.get("digest") != digest.hexdigest():
        for leftover in folder.iterdir():
            if leftover.suffix in {".json", ".npy", ".npz", ".partial"}:
                leftover.unlink(missing_ok=True)  # whoever wrote it may be at work
    if not _holds(folder / TABLE, arrays):
        with _aside(folder / TABLE) as handle:
            np.savez(handle, allow_pickle=False, **arrays)
    written = {
        "digest": digest.hexdigest(),
        "ranks": ranks,
        "threads": threads,
        "memory": memory,
        **shape,
    }
    write_json(folder / JOB, written)
    return bool(before) and before != written


def read_job(folder: Path) -> Job:
    """The order in a folder.

    Raises
    ------
    InputError
        There is none, one of another version of this program, or one that cannot be read.
    """
    if not (folder / JOB).exists():
        raise InputError(
            "the folder holds no job.json; the job is written by `crowdcover release`, not by hand"
        )
    try:
        order = json.loads((folder / JOB).read_text())
        if order["version"] != version("crowdcover"):
            raise InputError(
                "the job was written by another version of crowdcover; install the same one on all machines"
            )
        settings = dict(order["anonymizer"])
        with (folder / TABLE).open("rb") as handle, np.load(handle) as arrays:
            table = BinaryTable(
                _codebook(order["attributes"]),
                *(arrays[name] for name in ("codes", "bits", "k", "blank")),
            )
            ties = arrays["order"]
    except InputError:
        raise
    except (*DAMAGED, FileNotFoundError) as error:
        kind = type(error).__name__
        raise InputError(
            f"job.json or table.npz cannot be read ({kind}); run `crowdcover release` again to mend it"
        ) from None
    return Job(
        anonymizer=ANONYMIZERS[settings.pop("name")](**settings),
        table=table,
        order=ties,
        ranks=order["ranks"],
        threads=order["threads"],
        memory=order["memory"],
        digest=order["digest"],
    )


def _codebook(attributes: Sequence[Mapping[str, Any]]) -> Codebook:
    """Shapes without names and labels."""
    return Codebook(
        tuple(
            Attribute(
                name=str(a),
                kind=each["kind"],
                encoding=each["encoding"],
                labels=("",) * each["levels"],
                weight=each["weight"],
            )
            for a, each in enumerate(attributes)
        )
    )


def write_part(folder: Path, name: str, edges: Edges) -> dict[str, Any]:
    """Write a rank's share of a cover; returns what the file that names all parts says about it."""
    part = np.stack([edges.u, edges.v, edges.weight])
    write_array(folder / name, part)
    return {"file": name, "sha256": hashlib.sha256(part.data).hexdigest()}


def read_part(folder: Path, part: Mapping[str, Any]) -> Edges:
    """A share of a cover as it was written.

    Raises
    ------
    InputError
        It is another one.
    """
    edges = np.load(folder / part["file"])
    if hashlib.sha256(edges.data).hexdigest() != part["sha256"]:
        raise InputError(
            "a part of a cover is not as it was written; remove the file that names it and start anew"
        )
    return Edges(*edges)


def write_progress(folder: Path, progress: Progress) -> None:
    """Take the place of the progress before."""
    write_json(folder / PROGRESS, dataclasses.asdict(progress))


def read_progress(folder: Path) -> Progress | None:
    """The last progress, if any that can be read: on a shared file system it may go while it is."""
    try:
        return Progress(**json.loads((folder / PROGRESS).read_text()))
    except UNREADABLE:
        return None


def write_failure(folder: Path, reason: str) -> None:
    """Say why resubmitting cannot help."""
    write_json(folder / FAILURE, {"reason": reason})


def read_failure(folder: Path) -> str | None:
    """Why resubmitting cannot help, if so."""
    path = folder / FAILURE
    return str(json.loads(path.read_text())["reason"]) if path.exists() else None


def has_result(folder: Path) -> bool:
    """Whether the ranks have finished what this order asks for: those of an order before may have been at work meanwhile."""
    same = _document(folder / RESULT).get("digest") == _document(folder / JOB).get("digest")
    return same and (folder / RESULT).exists()


def write_result(folder: Path, hidden: NDArray[np.uint64], record: Mapping[str, Any]) -> None:
    """Write what is hidden, then the record of all that belongs to it: digest, iterations, seconds, parts."""
    write_array(folder / HIDDEN, hidden)
    write_json(
        folder / RESULT, {**record, "hidden_sha256": hashlib.sha256(hidden.data).hexdigest()}
    )


def read_result(folder: Path, table: BinaryTable) -> tuple[MaskedTable, list[float]]:
    """What the ranks chose to hide in this table, in the very order of the local engine, and the seconds of each iteration.

    Raises
    ------
    ClusterError
        It cannot be read. It is removed, so that ranks make it again, from their last checkpoint.
    """
    try:
        result = json.loads((folder / RESULT).read_text())
        parts = [read_part(folder, part) for part in result["parts"]]
        hidden = np.load(folder / HIDDEN)
        if hashlib.sha256(hidden.data).hexdigest() != result["hidden_sha256"]:
            raise InputError("what is to be hidden is not as it was written")
        with (folder / TABLE).open("rb") as handle, np.load(handle) as arrays:
            order = arrays["order"]
    except UNREADABLE as error:  # InputError, too, is a ValueError
        (folder / RESULT).unlink(missing_ok=True)
        kind = type(error).__name__
        raise ClusterError(
            f"the result of the batch job cannot be read ({kind}); run again to have it made again"
        ) from None
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    u, v, weight = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("u", "v", "weight")
    )
    low, high = np.minimum(rank[u], rank[v]), np.maximum(rank[u], rank[v])
    ascending = np.lexsort((high, low, weight))
    cover = Edges(u[ascending], v[ascending], weight[ascending])
    iterations = tuple(Iteration(**iteration) for iteration in result["iterations"])
    return MaskedTable(table, hidden, cover, iterations), list(result["seconds"])


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array aside and rename it once."""
    with _aside(path) as handle:
        np.save(handle, array)


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a JSON object aside and rename it once."""
    with _aside(path) as handle:
        handle.write((json.dumps(document, indent=2) + "\n").encode())


@contextmanager
def _aside(path: Path) -> Iterator[BinaryIO]:
    """A new file, mode 0600, that takes the place of this one when all of it is on the disk; ranks may do so together."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
        yield handle
        handle.flush()
        os.fsync(handle.fileno())
    os.rename(aside, path)


def _document(path: Path) -> dict[str, Any]:
    """A JSON object from a file; an empty one if it is absent or damaged."""
    try:
        return dict(json.loads(path.read_text()))
    except UNREADABLE:
        return {}


def _holds(path: Path, arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Whether the file holds these arrays; one at a time is read."""
    try:
        with path.open("rb") as handle, np.load(handle) as found:
            return all(np.array_equal(found[name], array) for name, array in arrays.items())
    except UNREADABLE:
        return False
