"""Bermuda-VC as a job of a shuffle: pivot messages wait in a buffer for the keys that need them.

Keys come in ascending order. A pivot message of v goes to each reducer of v's effective neighbours,
with the first of them as its key. How often each bucket of keys uses it, its access pattern, the
reducer counts in the list of these neighbours: it knows the partition function and the buckets. The
paper sends the pattern along. Three ways to track the messages in the buffer (section 3.3.1):

"usage": one bucket; a message leaves after its last use.
"bucket": keys fall into buckets; a message is written to the file of each later bucket that uses
it. Between two buckets the buffer is emptied and filled from the file of the next (Fig. 3.4).
"bucket-usage": both.

References
----------
Algorithm 4 of Xiao, Towards Graph Analytic and Privacy Protection, section 3.3.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import LimitError
from anon_core.measures.graph.triangles.jobs import CORE, PIVOT, Piece, new_rows, pivot_pairs
from anon_core.measures.graph.triangles.mapping_kernels import (
    VERTEX_CENTRIC,
    size_buckets,
    sum_loads,
    write_cores,
)
from anon_core.measures.graph.triangles.reducing_kernels import (
    BUFFER_FULL,
    CURSOR_PAIR,
    CURSOR_PLACE,
    CURSOR_ROWS,
    CURSOR_TOP,
    HEADER_WORDS,
    BucketSchedule,
    Buffer,
    PairBlock,
    close_buffered,
    close_stream,
    compact_buffer,
    size_backups,
    write_backups,
)
from anon_core.spread import Inbox, Pairs

Tracking = Literal["usage", "bucket", "bucket-usage"]
Lists = tuple[NDArray[np.int64], NDArray[np.int32]]  # `start` and `higher` of a `Piece`
_MOST_BUCKETS = 2**12
_FULL = (
    "the buffer of a reducer cannot hold the pivot messages that it still needs; raise the number "
    "of reducers or the memory, or track messages by bucket"
)


@dataclass(frozen=True, repr=False)
class VertexCentric:
    """Bermuda-VC.

    Attributes
    ----------
    longest : int
        Length of the longest list of effective neighbours.
    tracking : {"usage", "bucket", "bucket-usage"}
    bounds : int64 (buckets + 1,)
        Bucket b holds the keys bounds[b] .. bounds[b + 1] - 1, of every reducer.
    """

    longest: int
    tracking: Tracking
    bounds: NDArray[np.int64]
    channels: int = field(default=2, init=False)

    def to(self, _channel: int, key: NDArray[np.int32], reducers: int) -> NDArray[np.int32]:
        """Return the reducer of each vertex."""
        return key % np.int32(reducers)

    def map(self, piece: Piece, reducers: int) -> Iterator[tuple[int, Pairs]]:
        """Yield core messages with both lists, then pivot messages."""
        size = len(piece.start) - 1
        words = int(piece.start[-1] + piece.lower_start[-1])
        key, word = np.empty(size, dtype=np.int32), np.empty(words, dtype=np.int32)
        at = np.zeros(size + 1, dtype=np.int64)
        lists = piece.start, piece.higher, piece.lower_start, piece.lower
        sent = write_cores(piece.first, *lists, key, at, word)
        yield CORE, Pairs(key[:sent], at[: sent + 1], word[: at[sent]])
        for pairs in pivot_pairs(piece, VERTEX_CENTRIC, reducers):
            yield PIVOT, pairs

    def reduce(self, inbox: Inbox) -> Iterator[NDArray[np.int32]]:
        """Yield triangles (v, u, w), by rank."""
        work = _Work(self, inbox)
        for channel, pairs in inbox.pairs(CORE, PIVOT):
            block = PairBlock(channel, *pairs)
            ends = np.searchsorted(pairs.key, self.bounds[1:]).tolist()
            begin = 0
            for bucket, end in enumerate(ends):
                if begin < end:
                    part, passing = _cut_block(block, begin, end), work.enter(bucket)
                    work.back_up(part)
                    yield from work.list_closed_triangles(part)
                    if passing:
                        yield from work.stream_triangles()
                begin = end


def _cut_block(block: PairBlock, begin: int, end: int) -> PairBlock:
    return PairBlock(
        block.channel[begin:end], block.key[begin:end], block.start[begin : end + 1], block.word
    )


class _Work:
    """What a reducer holds: buffer, present core message, rows."""

    def __init__(self, job: VertexCentric, inbox: Inbox) -> None:
        self._job, self._inbox, self._bucket = job, inbox, 0
        self._schedule = BucketSchedule(inbox.reducer, inbox.reducers, job.bounds)
        self._core = np.empty(job.longest, dtype=np.int32)
        self._rows = new_rows(inbox.memory // 2, job.longest)
        size = buffer_words(inbox.memory)
        self._buffer = Buffer(np.empty(size, np.int32), np.zeros(count_table_slots(size), np.int32))
        self._cursor = np.array([0, 0, 0, -1, 0, 0])

    def enter(self, bucket: int) -> bool:
        """Empty the buffer and fill it from a bucket's file, unless this is the present bucket.

        Returns whether the file does not fit. Its messages then pass by the core message: this
        happens only in buckets of one key of this reducer.
        """
        if bucket == self._bucket:
            return False
        self._bucket, self._cursor[CURSOR_TOP] = bucket, 0
        fits = self._inbox.count_words(bucket) <= len(self._buffer.word)
        if fits:
            self._cursor[CURSOR_TOP] = self._inbox.read_words(bucket, 0, self._buffer.word)
            self._inbox.drop(bucket)
        compact_buffer(self._buffer, self._cursor)
        return not fits

    def back_up(self, block: PairBlock) -> None:
        """Write pivot messages to the files of later buckets that use them."""
        sizes = np.zeros(len(self._job.bounds) - 1, dtype=np.int64)
        if self._bucket + 1 < len(sizes):
            size_backups(block, self._bucket, self._schedule, sizes)
        for bucket in np.flatnonzero(sizes).tolist():
            out = np.empty(int(sizes[bucket]), dtype=np.int32)
            write_backups(block, bucket, self._schedule, out)
            self._inbox.keep(bucket, out)

    def list_closed_triangles(self, block: PairBlock) -> Iterator[NDArray[np.int32]]:
        """Yield the triangles of a block of one bucket."""
        cursor, evict = self._cursor, self._job.tracking != "bucket"
        held = self._core, self._buffer, cursor, self._rows
        cursor[CURSOR_PAIR] = cursor[CURSOR_PLACE] = 0
        while cursor[CURSOR_PAIR] < len(block.key):
            cursor[CURSOR_ROWS] = 0
            state = close_buffered(block, self._bucket, evict, self._schedule, *held)
            if state == BUFFER_FULL:
                raise LimitError(_FULL)
            yield self._rows[: cursor[CURSOR_ROWS]]

    def stream_triangles(self) -> Iterator[NDArray[np.int32]]:
        """Yield the triangles of the messages of the present bucket's file with the present key."""
        begin, words = 0, self._buffer.word
        while (size := self._inbox.read_words(self._bucket, begin, words)) > 0:
            self._cursor[CURSOR_ROWS] = 0
            done = close_stream(words[:size], self._core, self._cursor, self._rows)
            begin += done
            if not done:  # it is longer than the buffer
                raise LimitError(_FULL)
            yield self._rows[: self._cursor[CURSOR_ROWS]]
        self._inbox.drop(self._bucket)


def count_table_slots(words: int) -> int:
    """Return the size of the table of a buffer: a message that stays has 5 words or more."""
    # More slots than messages: a search for a sender always ends at an empty slot.
    return int(1 << (words // 4).bit_length())


def buffer_words(memory: int) -> int:
    """Return the words of the buffer of a job that may hold so many bytes."""
    return max(64, memory // 8)


def bucket_bounds(
    read_lists: Callable[[], Iterable[Lists]],
    vertices: int,
    reducers: int,
    memory: int,
    tracking: Tracking,
) -> NDArray[np.int64]:
    """Return bounds of the fewest buckets, doubled from 1, whose messages fit into the buffer.

    Each bucket uses about as many words of messages (range partitioning). The paper states
    p = O(m / (k M)). A bucket of one key of each reducer need not fit: its messages are used once,
    by one core message, and pass by it from the file. The paper leaves open what happens then.

    Parameters
    ----------
    read_lists : callable
        Gives the effective neighbours of all vertices in pieces, once for each number of buckets.
    vertices : int
    reducers, memory : int
        k, and the bytes that the job may hold in a reducer.

    Raises
    ------
    LimitError
        The messages of a bucket do not fit, however many there are.
    """
    heaped, buckets, most = np.zeros(vertices, dtype=np.int64), 1, buffer_words(memory)
    for start, higher in read_lists():
        sum_loads(start, higher, heaped)
    np.cumsum(heaped, out=heaped)
    while buckets <= min(_MOST_BUCKETS, max(1, vertices)):
        shares = np.arange(1, buckets) * (int(heaped[-1]) // buckets if vertices else 0)
        inner = np.unique(np.searchsorted(heaped, shares) + 1)
        inner = inner[inner < vertices]
        bounds = np.array([0, *inner.tolist(), max(1, vertices)], dtype=np.int64)
        if tracking == "usage":
            return bounds
        sizes = np.zeros((reducers, len(bounds) - 1), dtype=np.int64)
        for start, higher in read_lists():
            size_buckets(start, higher, reducers, bounds, HEADER_WORDS, sizes)
        # Of `reducers` successive keys no two are of one reducer, so such a bucket may pass from
        # the file.
        wide = np.diff(bounds) > reducers
        if sizes[:, wide].max(initial=0) <= most:
            return bounds
        buckets *= 2
    raise LimitError(_FULL)
