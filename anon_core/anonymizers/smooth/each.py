"""Who does a task on many chunks: this process, one by one, or a farm."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from anon_core.spread import Chunk, Ground, TaskResult


class Each(Protocol):
    """Do a task on each chunk; yield every chunk with its result, in any order."""

    def __call__(
        self, task: Callable[[Ground, Chunk], TaskResult], ground: Ground, chunks: Iterable[Chunk]
    ) -> Iterator[tuple[Chunk, TaskResult]]:
        """Do task(ground, chunk), a function of a module, on each."""
        ...


def one_by_one(
    task: Callable[[Ground, Chunk], TaskResult], ground: Ground, chunks: Iterable[Chunk]
) -> Iterator[tuple[Chunk, TaskResult]]:
    """Do the task on the threads of this process; see `Each`."""
    for chunk in chunks:
        yield chunk, task(ground, chunk)
