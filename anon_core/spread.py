"""What an engine offers to work that many processes share: ranks of a job, or a farm of tasks.

An anonymizer takes these objects and imports no engine.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Messages = NDArray[np.int32]  # (count, 3); the first column names the vertex that is to be told
Make = Callable[[int, int], NDArray[Any]]
Take = Callable[[int, int, NDArray[Any]], None]

Ground = TypeVar("Ground")
Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


def in_flight(chunks: int) -> int:
    """Bytes of chunks that travel: as they are, packed, and in a scheduler; 14 times was measured.

    `chunks`: bytes of all chunks of a step.
    """
    return 16 * chunks + 2**24


class Farm(Protocol):
    """Workers that run one task on many chunks. A worker may die; its chunks are done again."""

    def each(
        self,
        task: Callable[[Ground, Chunk, int], Result],
        ground: Ground,
        chunks: Sequence[Chunk],
    ) -> Iterator[tuple[Chunk, Result]]:
        """Run the task on each chunk; yield every chunk with its result, in any order.

        Parameters
        ----------
        task : callable
            task(ground, chunk, threads), a function of a module; threads are those of the worker,
            which runs as many tasks at a time.
        ground : object
            What all tasks read: pickled once for each worker. Its repr must show no data, because
            the log of a worker may show the arguments of a task that failed.
        chunks : sequence
            The same holds for each of them.

        Raises
        ------
        ClusterError
            No worker is left, or workers die again and again.
        """
        ...


class Ranks(Protocol):
    """The ranks of a job over n vertices: rank r owns the vertices r * per .. r * per + per - 1.

    Attributes
    ----------
    rank, size : int
    vertices : int
        n.
    per : int
        Vertices of a rank; the last ranks may own fewer.
    low, high : int
        The own vertices are low .. high - 1.
    """

    rank: int
    size: int
    vertices: int
    per: int
    low: int
    high: int

    def over(self, vertices: int) -> Self:
        """Return the same ranks over another number of vertices."""
        ...

    def owns(self, vertices: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which of some vertices are own ones."""
        ...

    def own(self, wanted: NDArray[Any]) -> NDArray[Any]:
        """Return the same (n,) with zeros at the vertices of other ranks."""
        ...

    def share(self, rows: NDArray[Any]) -> None:
        """Fill in (n, ...) the rows of all vertices from the ranks that own them."""
        ...

    def deliver(self, messages: Messages) -> Messages:
        """Send each message to the owner of its first vertex; return those for the own vertices."""
        ...

    def total(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of these numbers over all ranks."""
        ...

    def total_of_own(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of int64 (n,) over all ranks, at the own vertices."""
        ...

    def greatest_of_each(self, numbers: NDArray[np.int64]) -> None:
        """Replace each number (n,) by the greatest of all ranks."""
        ...

    def greatest(self, number: int) -> int:
        """Return the greatest of all ranks' numbers."""
        ...

    def in_turn(self, work: Callable[[], None], *changing: NDArray[Any]) -> None:
        """Let the ranks work one by one; send the changed rows of these (n, ...) to the others."""
        ...

    def batches(self, make: Make, take: Take, size: int) -> None:
        """Make arrays about the own vertices in batches and send each batch to all ranks."""
        ...
