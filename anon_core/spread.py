"""What an engine offers to work that many processes share: ranks of a job, or a farm of tasks.

An anonymizer takes these objects and imports no engine.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Messages = NDArray[np.int32]  # (count, 3); the first column names the vertex that is to be told
# make(first, last) and take(first, last, batch) are about the vertices first .. last - 1.
Make = Callable[[int, int], NDArray[Any]]
Take = Callable[[int, int, NDArray[Any]], None]

Ground = TypeVar("Ground")
Chunk = TypeVar("Chunk")
TaskResult = TypeVar("TaskResult")


def in_flight(chunks: int) -> int:
    """Bytes of chunks that travel: as they are, packed, and in a scheduler; 14 times was measured.

    `chunks`: bytes of all chunks of a step.
    """
    return 16 * chunks + 2**24


class Farm(Protocol):
    """Workers that run one task on many chunks. A worker may die; its chunks are done again."""

    def each(
        self,
        task: Callable[[Ground, Chunk, int], TaskResult],
        ground: Ground,
        chunks: Sequence[Chunk],
    ) -> Iterator[tuple[Chunk, TaskResult]]:
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
        OSError
            A task met a full disk.
        """
        ...


class Pairs(NamedTuple):
    """Keys, each with a value of any length."""

    key: NDArray[np.int32]
    """int32 (count,)"""
    start: NDArray[np.int64]
    """int64 (count + 1,): value i is word[start[i] : start[i + 1]]"""
    word: NDArray[np.int32]
    """int32 (words,)"""


class Inbox(Protocol):
    """What a reducer was sent, and files of its own. All of it lies on disk.

    Attributes
    ----------
    reducer, reducers : int
    memory : int
        Bytes that the job may hold at a time, beside what `pairs` yields.
    """

    reducer: int
    reducers: int
    memory: int

    def pairs(self, *channels: int) -> Iterator[tuple[NDArray[np.uint8], Pairs]]:
        """Read the pairs of these channels from disk, anew on each call; at most two at a time.

        Yields
        ------
        channels, pairs : uint8 (count,), Pairs
            Blocks, ascending by key and then by channel; equal ones in an order that is always the
            same.
        """
        ...

    def keep(self, file: int, words: NDArray[np.int32]) -> None:
        """Append words to a file of this reducer."""
        ...

    def read_words(self, file: int, begin: int, into: NDArray[np.int32]) -> int:
        """Read words of a file from a place on until it ends or the array is full.

        Returns
        -------
        int
            How many words were read.
        """
        ...

    def drop(self, file: int) -> None:
        """Remove a file, if there is one."""
        ...

    def count_words(self, file: int) -> int:
        """Return how many words a file holds; 0 if there is none."""
        ...


class Job(Protocol):
    """A map and a reduce function; it is pickled, and its repr must show no data."""

    @property
    def channels(self) -> int:
        """Pairs are of channels 0 .. channels - 1, such as a first and a second kind of message."""
        ...

    def to(self, channel: int, key: NDArray[np.int32], reducers: int) -> NDArray[np.int32]:
        """Return the reducer of each key: the partition function, the same for all mappers."""
        ...

    def map(self, piece: Any, reducers: int) -> Iterator[tuple[int, Pairs]]:
        """Yield blocks of pairs of a piece of the input, each of one channel."""
        ...

    def reduce(self, inbox: Inbox) -> Iterator[NDArray[np.int32]]:
        """Yield blocks of the answer of one reducer."""
        ...


class Traffic(NamedTuple):
    """What a shuffle moved. A pair counts 8 bytes for key and length, and 4 for each word.

    A task that was run again, because its worker died, counts once.
    """

    pairs: NDArray[np.int64]
    """int64 (mappers, channels, reducers): pairs sent"""
    sent: NDArray[np.int64]
    """int64 (mappers, channels, reducers): bytes sent"""
    read: NDArray[np.int64]
    """int64 (reducers,): bytes that were read of them, more than sent if read again"""
    kept: NDArray[np.int64]
    """int64 (reducers, 2): bytes written to and read from the reducers' own files"""


class Shuffle(Protocol):
    """Runs a job: map each piece, bring pairs of one key together, reduce."""

    @property
    def reducers(self) -> int:
        """Return the number of reducers k."""
        ...

    @property
    def memory(self) -> int:
        """Return the bytes that a reducer may hold; half of them are the job's."""
        ...

    def run(
        self, job: Job, pieces: Iterable[Any], take: Callable[[NDArray[np.int32]], None]
    ) -> Traffic:
        """Run the job; hand the answers over in the order of reducers, block by block.

        Pieces are taken one after the other, each once, so that none need be held.
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

    def clear_others(self, wanted: NDArray[Any]) -> NDArray[Any]:
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
