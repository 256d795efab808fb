"""Which rank owns which vertex, and how messages and rows travel; all use of a communicator."""

from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from anon_core.engines.mpi.ranks_kernels import sort_by_owner
from anon_core.spread import Make, Messages, Take


class MpiRanks:
    """The ranks of a job over n vertices; see `anon_core.spread.Ranks`.

    Vertices are numbered in a secret random order, so these ranges are as good as drawn.

    Attributes
    ----------
    rank, size : int
    per : int
        Vertices a rank, fewer on the last ones.
    low, high : int
        The own vertices low .. high - 1.
    sent : int64 (1,)
        Bytes that left this rank so far, those of `over` included; a broadcast counts once.
    """

    def __init__(
        self, comm: MPI.Intracomm, vertices: int, sent: NDArray[np.int64] | None = None
    ) -> None:
        self._comm, self.rank, self.size, self.vertices = comm, comm.rank, comm.size, vertices
        # At least 1: `sort_by_owner` divides by it.
        self.per = max(1, -(-vertices // comm.size))
        self.low, self.high = self.range_of(comm.rank)
        self.sent = np.zeros(1, dtype=np.int64) if sent is None else sent

    def over(self, vertices: int) -> "MpiRanks":
        """Return the same ranks over another number of vertices."""
        return self if vertices == self.vertices else MpiRanks(self._comm, vertices, self.sent)

    def range_of(self, rank: int) -> tuple[int, int]:
        """Return the first and last + 1 of the vertices of a rank."""
        low = min(self.vertices, rank * self.per)
        return low, min(self.vertices, low + self.per)

    def owns(self, vertices: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which of some vertices are own ones."""
        owned: NDArray[np.bool_] = (self.low <= vertices) & (vertices < self.high)
        return owned

    def clear_others(self, wanted: NDArray[Any]) -> NDArray[Any]:
        """Return the same (n,) with zeros at the vertices of other ranks."""
        mine = np.zeros_like(wanted)
        mine[self.low : self.high] = wanted[self.low : self.high]
        return mine

    def share(self, rows: NDArray[Any]) -> None:
        """Fill in (n, ...) the rows of all vertices from the ranks that own them."""
        width = rows.itemsize * int(np.prod(rows.shape[1:], dtype=np.int64))
        sizes = [(high - low) * width for low, high in map(self.range_of, range(self.size))]
        flat = rows.reshape(-1).view(np.uint8)
        self._comm.Allgatherv(MPI.IN_PLACE, [flat, (sizes, np.cumsum([0, *sizes[:-1]])), MPI.BYTE])
        self.sent += sizes[self.rank] * (self.size > 1)

    def deliver(self, messages: Messages) -> Messages:
        """Send each message to the owner of its first vertex; return those for the own vertices."""
        going = np.zeros(self.size, dtype=np.int64)
        ordered = np.empty_like(messages)
        sort_by_owner(messages, self.per, going, ordered)
        coming = np.empty_like(going)
        self._comm.Alltoall(going, coming)
        inbox = np.empty((int(coming.sum()), messages.shape[1]), dtype=np.int32)
        kind = MPI.INT32_T.Create_contiguous(messages.shape[1]).Commit()
        try:
            self._comm.Alltoallv(
                [ordered, (going, _compute_offsets(going)), kind],
                [inbox, (coming, _compute_offsets(coming)), kind],
            )
        finally:
            kind.Free()
        self.sent += (len(messages) - int(going[self.rank])) * 4 * messages.shape[1]
        return inbox

    def total(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of these int64 numbers over all ranks."""
        totals = np.empty_like(numbers)
        self._comm.Allreduce(numbers, totals)
        return totals

    def total_of_own(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of int64 (n,) over all ranks, at the own vertices."""
        sizes = [high - low for low, high in map(self.range_of, range(self.size))]
        totals = np.empty(sizes[self.rank], dtype=np.int64)
        self._comm.Reduce_scatter(numbers, totals, sizes)
        self.sent += numbers.nbytes - totals.nbytes
        return totals

    def greatest_of_each(self, numbers: NDArray[np.int64]) -> None:
        """Replace each number (n,) by the greatest of all ranks."""
        self._comm.Allreduce(MPI.IN_PLACE, numbers, MPI.MAX)
        self.sent += numbers.nbytes * (self.size > 1)

    def greatest(self, number: int) -> int:
        """Return the greatest of all ranks' numbers."""
        return int(self._comm.allreduce(number, MPI.MAX))

    def collect(self, one: dict[str, Any]) -> list[dict[str, Any]]:
        """Return a small object of every rank, to all."""
        return list(self._comm.allgather(one))

    def agree(self, one: Any) -> Any:
        """Return a small object of rank 0 to all, once all ranks have come here."""
        # A broadcast alone would let some ranks go on before all others have come here.
        self._comm.Barrier()
        return self._comm.bcast(one, root=0)

    def in_turn(self, work: Callable[[], None], *changing: NDArray[Any]) -> None:
        """Let the ranks work one by one; send the changed rows of these (n, ...) to the others."""
        for turn in range(self.size):
            # Only the rank at work needs a copy: it sends the rows that differ from it.
            before = [rows.copy() for rows in changing] if turn == self.rank else []
            if turn == self.rank:
                work()
            for index, rows in enumerate(changing):
                changed = (
                    _find_changed_rows(rows, before[index])
                    if before
                    else np.empty(0, dtype=np.int64)
                )
                self._tell(turn, rows, changed)

    def _tell(self, turn: int, rows: NDArray[Any], changed: NDArray[np.int64]) -> None:
        count = np.array([len(changed)])
        self._comm.Bcast(count, root=turn)
        # On the other ranks this makes room for what is coming.
        changed = np.resize(changed, int(count[0]))
        values = (
            rows[changed]
            if turn == self.rank
            else np.empty((len(changed), *rows.shape[1:]), dtype=rows.dtype)
        )
        self._comm.Bcast(changed, root=turn)
        self._comm.Bcast(values.view(np.uint8), root=turn)
        if turn == self.rank:
            self.sent += (changed.nbytes + values.nbytes) * (self.size > 1)
        else:
            rows[changed] = values

    def batches(self, make: Make, take: Take, size: int) -> None:
        """Make arrays about the own vertices in batches; send each to all while the next is made.

        Algorithm 4 of Khan et al. `make(first, last)` gives the batch of the own vertices first ..
        last - 1, (f, size), contiguous and padded; `take(first, last, batch)` receives those of
        every rank, the own ones included.
        """
        pending: tuple[MPI.Request, int, NDArray[Any]] | None = None
        # As many steps on every rank, the last ones perhaps with empty batches: all must exchange.
        for step in range(0, self.per, size):
            first = min(self.high, self.low + step)
            batch = make(first, min(self.high, first + size))
            received = np.empty((self.size, *batch.shape), dtype=batch.dtype)
            request = self._comm.Iallgather(batch.view(np.uint8), received.view(np.uint8))
            self.sent += batch.nbytes * (self.size > 1)
            if pending:
                self._take(pending, take, size)
            pending = (request, step, received)
        if pending:
            self._take(pending, take, size)

    def _take(self, pending: tuple[MPI.Request, int, NDArray[Any]], take: Take, size: int) -> None:
        request, step, received = pending
        request.Wait()
        for rank in range(self.size):
            low, high = self.range_of(rank)
            first = min(high, low + step)
            take(first, min(high, first + size), received[rank])


def _find_changed_rows(rows: NDArray[Any], before: NDArray[Any]) -> NDArray[np.int64]:
    """Return where rows differ, int64 ascending."""
    return np.flatnonzero((rows != before).reshape(len(rows), -1).any(axis=1))


def _compute_offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(sizes) - sizes
