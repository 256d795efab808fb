"""One machine: numba threads."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Anonymizer, Data
from anon_core.engines.spreading import load_local_module
from anon_core.errors import LimitError
from anon_core.spread import Chunk, Ground, TaskResult
from anon_core.steps import Observer, State


def run(
    anonymizer: Anonymizer[Any],
    data: Data,
    *,
    tie_order: NDArray[np.int64] | None = None,
    threads: int = 0,
    memory: int | None = None,
    observer: Observer | None = None,
    resume: State | None = None,
) -> Any:
    """Anonymize with the threads and within the memory stated; the result depends on neither.

    Parameters
    ----------
    anonymizer : Anonymizer
    data : Data
        Of the anonymizer's kind.
    tie_order, observer, resume
        As for `Anonymizer.anonymize`.
    threads : int
        0 takes all that numba offers.
    memory : int, optional
        Bytes that the anonymizer may hold beyond its input.

    Returns
    -------
    Made
        Such as a `MaskedTable`.

    Raises
    ------
    InputError, InfeasibleError, LimitError
        The anonymizer refuses the data.
    LimitError
        The anonymizer would need more memory, or the machine has fewer threads; nothing was
        started.
    """
    with threads_set(threads):
        anonymizer.admit(data)
        check_memory(compute_memory(anonymizer, data), data, memory)
        if not anonymizer.engines["local"]:
            return anonymizer.anonymize(data, tie_order=tie_order, observer=observer, resume=resume)
        return load_local_module(anonymizer).anonymize(
            *(anonymizer, data), memory=memory,
            tie_order=tie_order, observer=observer, resume=resume,
        )  # fmt: skip


def compute_memory(anonymizer: Anonymizer[Any], data: Data) -> int:
    """Return the bytes that `run` holds at most beyond its input; of parts, with one at work."""
    if not anonymizer.engines["local"]:
        return anonymizer.memory(data)
    return load_local_module(anonymizer).memory(anonymizer, data)


@contextmanager
def threads_set(threads: int) -> Iterator[int]:
    """Let numba use so many threads (0: all) for a while; yields how many.

    Raises
    ------
    LimitError
        The machine has fewer.
    """
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if not 0 <= threads <= most:
        raise LimitError(
            f"threads must be 0 (all) or 1..{most} on this machine; lower [compute] threads"
        )
    before = numba.get_num_threads()
    numba.set_num_threads(threads or most)
    try:
        yield threads or most
    finally:
        numba.set_num_threads(before)


class LocalFarm:
    """A `Farm` of this process alone: one chunk after the other, on all threads of numba."""

    def each(
        self,
        task: Callable[[Ground, Chunk, int], TaskResult],
        ground: Ground,
        chunks: Sequence[Chunk],
    ) -> Iterator[tuple[Chunk, TaskResult]]:
        """Run the task on each chunk; see `Farm.each`."""
        for chunk in chunks:
            yield chunk, task(ground, chunk, numba.get_num_threads())


def check_memory(
    need: int, data: Data, memory: int | None, *, where: str = "", instead: str = "use less data"
) -> None:
    """Raise LimitError where data needs more bytes than are allowed."""
    if memory is not None and need > memory:
        raise LimitError(
            f"{data.records} records need {in_units(need)}{where}, "
            f"{in_units(memory)} are allowed; raise [compute] memory or {instead}"
        )


def in_units(size: int) -> str:
    """Bytes with a unit that leaves a number from 1 to 1024, as `1.5 GiB`."""
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 2**power:
            return f"{size / 2**power:.4g} {unit}"
    return f"{size} bytes"
