"""MR-Baseline and Bermuda-EC as jobs of a shuffle.

A core message carries the effective neighbours of its key, a pivot message those of another vertex.
MR-Baseline (Algorithm 2) sends a pivot message of v to each effective neighbour of v. Bermuda-EC
(Algorithm 3) sends one to each reducer of such neighbours, and holds core messages in memory: all
of them, or as many as fit, reading the pivot messages anew for each part.

References
----------
Xiao, Towards Graph Analytic and Privacy Protection, sections 2.1.4 and 3.2.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import LimitError
from anon_core.measures.graph.triangles.mapping_kernels import (
    BASELINE,
    EDGE_CENTRIC,
    size_pivots,
    write_pivots,
)
from anon_core.measures.graph.triangles.reducing_kernels import (
    CURSOR_PAIR,
    CURSOR_ROWS,
    PairBlock,
    close_cores,
    close_each,
)
from anon_core.spread import Inbox, Pairs

CORE, PIVOT = 0, 1  # channels
SENT_AT_ONCE = 2**20  # words of pivot messages that a mapper holds, beside one vertex's
_ROW = 12  # bytes of a triangle


@dataclass(frozen=True, repr=False)
class Piece:
    """Some vertices x = first, first + 1, ... with their neighbours, all named by rank.

    Attributes
    ----------
    first : int
    start : int64 (vertices + 1,)
    higher : int32
        higher[start[i] : start[i + 1]], ascending: the effective neighbours of first + i.
    lower_start, lower : int64 (vertices + 1,), int32
        The same for the other neighbours; only for Bermuda-VC.
    """

    first: int
    start: NDArray[np.int64]
    higher: NDArray[np.int32]
    lower_start: NDArray[np.int64]
    lower: NDArray[np.int32]


def core_pairs(piece: Piece) -> Pairs:
    """Return the core messages of vertices that have effective neighbours."""
    (some,) = np.nonzero(np.diff(piece.start))
    # Empty lists take no room, so the lists of the others follow each other without gaps.
    start = np.append(piece.start[some], piece.start[-1])
    return Pairs((piece.first + some).astype(np.int32), start, piece.higher)


def pivot_pairs(piece: Piece, way: int, reducers: int) -> Iterator[Pairs]:
    """Yield the pivot messages, some vertices at a time."""
    counts, words = (np.empty(len(piece.start) - 1, dtype=np.int64) for _ in range(2))
    size_pivots(piece.start, piece.higher, way, reducers, counts, words)
    ends, begin = np.cumsum(words), 0
    while begin < len(words):
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + SENT_AT_ONCE, "right")))
        size = int(counts[begin:end].sum())
        key, word = np.empty(size, np.int32), np.empty(int(ends[end - 1]) - before, np.int32)
        at = np.zeros(size + 1, dtype=np.int64)
        lists = piece.start, piece.higher
        write_pivots(piece.first, begin, end, *lists, way, reducers, key, at, word)
        if size:
            yield Pairs(key, at, word)
        begin = end


def new_rows(memory: int, longest: int) -> NDArray[np.int32]:
    """Return room for triangles: a quarter of the memory, or for one list if that is more."""
    return np.empty((max(longest + 1, memory // 4 // _ROW), 3), dtype=np.int32)


@dataclass(frozen=True, repr=False)
class Baseline:
    """MR-Baseline.

    Attributes
    ----------
    longest : int
        Length of the longest list of effective neighbours.
    """

    longest: int
    channels: int = field(default=2, init=False)

    def to(self, _channel: int, key: NDArray[np.int32], reducers: int) -> NDArray[np.int32]:
        """Return the reducer of each vertex."""
        return key % np.int32(reducers)

    def map(self, piece: Piece, reducers: int) -> Iterator[tuple[int, Pairs]]:
        """Yield core messages, then a pivot message for each edge."""
        yield CORE, core_pairs(piece)
        for pairs in pivot_pairs(piece, BASELINE, reducers):
            yield PIVOT, pairs

    def reduce(self, inbox: Inbox) -> Iterator[NDArray[np.int32]]:
        """Yield triangles (v, u, w), by rank."""
        core, rows = np.empty(self.longest, np.int32), new_rows(inbox.memory, self.longest)
        # Key -1: no core message yet. A vertex without effective neighbours sends none and closes
        # nothing.
        cursor = np.array([0, 0, 0, -1, 0, 0])
        for channel, pairs in inbox.pairs(CORE, PIVOT):
            block = PairBlock(channel, *pairs)
            cursor[CURSOR_PAIR] = 0
            while cursor[CURSOR_PAIR] < len(block.key):
                cursor[CURSOR_ROWS] = 0
                close_each(block, core, cursor, rows)
                yield rows[: cursor[CURSOR_ROWS]]


class _Cores(NamedTuple):
    """Core messages in memory, ascending by key; `held` says how many, and of how many words."""

    key: NDArray[np.int32]
    start: NDArray[np.int64]
    word: NDArray[np.int32]
    held: NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class EdgeCentric:
    """Bermuda-EC.

    Attributes
    ----------
    longest : int
        Length of the longest list of effective neighbours.
    disk : bool
        Read the pivot messages once for each part of the core messages that fits into memory.
        Otherwise all core messages must fit.
    """

    longest: int
    disk: bool = False
    channels: int = field(default=2, init=False)

    def to(self, channel: int, key: NDArray[np.int32], reducers: int) -> NDArray[np.int32]:
        """Return the reducer: of a vertex, or the key itself, which names one."""
        return key % np.int32(reducers) if channel == CORE else key

    def map(self, piece: Piece, reducers: int) -> Iterator[tuple[int, Pairs]]:
        """Yield core messages, then a pivot message for each reducer of a vertex's neighbours."""
        yield CORE, core_pairs(piece)
        for pairs in pivot_pairs(piece, EDGE_CENTRIC, reducers):
            yield PIVOT, pairs

    def reduce(self, inbox: Inbox) -> Iterator[NDArray[np.int32]]:
        """Yield triangles (v, u, w), by rank."""
        rows = new_rows(inbox.memory, self.longest)
        for part, cores in enumerate(self._parts(inbox, inbox.memory // 2)):
            if part and not self.disk:
                raise LimitError(
                    "the core messages of a reducer do not fit into its memory; raise the number "
                    "of reducers or the memory, or let Bermuda-EC work from disk"
                )
            for channel, pairs in inbox.pairs(PIVOT):
                yield from _close_triangles(PairBlock(channel, *pairs), cores, inbox, rows)

    def _parts(self, inbox: Inbox, memory: int) -> Iterator[_Cores]:
        """Yield core messages until they fill the memory, then the next ones."""
        # A quarter of the memory for key and start, 12 bytes a message; the rest for words of 4.
        most = max(1, memory // 4 // 12)
        size = max(self.longest, memory * 3 // 4 // 4)
        cores = _Cores(
            np.empty(most, np.int32),
            np.zeros(most + 1, np.int64),
            np.empty(size, np.int32),
            np.zeros(2, np.int64),
        )
        for _, pairs in inbox.pairs(CORE):
            begin = 0
            while begin < len(pairs.key):
                begin = _load_cores(pairs, begin, cores)
                if begin < len(pairs.key):
                    yield cores
                    cores.held[:] = 0
        if cores.held[0]:
            yield cores


def _load_cores(pairs: Pairs, begin: int, cores: _Cores) -> int:
    """Add core messages until there is no room; returns the first that was not added."""
    count, words = int(cores.held[0]), int(cores.held[1])
    room = int(pairs.start[begin]) + len(cores.word) - words
    # The last place where a message may end; one always fits, for `longest` words have room.
    end = int(np.searchsorted(pairs.start, room, "right")) - 1
    end = min(end, len(pairs.key), begin + len(cores.key) - count)
    added, moved = end - begin, int(pairs.start[end] - pairs.start[begin])
    cores.key[count : count + added] = pairs.key[begin:end]
    ends = pairs.start[begin + 1 : end + 1] - pairs.start[begin]
    cores.start[count + 1 : count + added + 1] = words + ends
    cores.word[words : words + moved] = pairs.word[pairs.start[begin] : pairs.start[end]]
    cores.held[:] = count + added, words + moved
    return int(end)


def _close_triangles(
    block: PairBlock, cores: _Cores, inbox: Inbox, rows: NDArray[np.int32]
) -> Iterator[NDArray[np.int32]]:
    """Yield the triangles of pivot messages with the core messages in memory."""
    cursor = np.zeros(6, dtype=np.int64)
    held, own = int(cores.held[0]), (cores.key, cores.start, cores.word)
    while cursor[CURSOR_PAIR] < len(block.key):
        cursor[CURSOR_ROWS] = 0
        close_cores(block, *own, held, inbox.reducer, inbox.reducers, cursor, rows)
        yield rows[: cursor[CURSOR_ROWS]]
