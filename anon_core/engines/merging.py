"""Sorted segments of files, merged block by block."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.engines.shuffle_kernels import gather_values
from anon_core.spread import Pairs

_WORD = 4  # bytes
_HEADS = 4  # a quarter of a block is for keys and lengths
_CODE = 2**8  # more than there are channels


class Segment(NamedTuple):
    """Pairs of one channel in a file: all keys, all lengths, all values; ascending by key."""

    path: Path
    channel: int
    offset: int
    pairs: int
    words: int
    least: int  # keys
    greatest: int

    @property
    def first(self) -> int:
        """The least code: codes ascend by key, then by channel."""
        return self.least * _CODE + self.channel

    @property
    def last(self) -> int:
        """The greatest code."""
        return self.greatest * _CODE + self.channel


def merge_segments(
    segments: Sequence[Segment], memory: int
) -> Iterator[tuple[NDArray[np.uint8], Pairs]]:
    """Yield the pairs of all segments, ascending by key and channel, in blocks.

    A segment is opened when its first code is due. So segments that follow each other are read one
    after the other, in blocks as great as memory allows.

    Memory: about three times `memory`, or one pair of each open segment if they need more.
    """
    waiting = sorted(segments, key=lambda segment: (segment.first, segment.last))[::-1]
    share = memory // max(1, _most_open(waiting))
    readers: list[_Reader] = []
    while True:
        readers = [reader for reader in readers if reader.load()]
        # Otherwise a reader delivers its whole block, so there is progress.
        while waiting and all(waiting[-1].first < reader.end for reader in readers):
            readers.append(_Reader(waiting.pop(), share))
            readers[-1].load()
        if not readers:
            return
        # No open and no waiting segment can still deliver a smaller code than this.
        further = [reader.end for reader in readers if reader.left]
        bound = min([*further, *(segment.first for segment in waiting[-1:])], default=None)
        yield _join_parts([reader.take(bound) for reader in readers])


def _most_open(waiting: Sequence[Segment]) -> int:
    """Return how many segments are open at a time, at most."""
    firsts = np.array([segment.first for segment in waiting], dtype=np.int64)
    lasts = np.sort(np.array([segment.last for segment in waiting], dtype=np.int64))
    # The number of open segments grows only where one begins, so those places are enough.
    begun = np.searchsorted(np.sort(firsts), firsts, "right")
    return int((begun - np.searchsorted(lasts, firsts, "right")).max(initial=0)) + 1


def _join_parts(parts: Sequence["_Part"]) -> tuple[NDArray[np.uint8], Pairs]:
    """Sort what readers delivered by code."""
    code = np.concatenate([part.code for part in parts])
    lengths = np.concatenate([part.lengths for part in parts])
    word = np.concatenate([part.word for part in parts])
    start = np.zeros(len(code) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    if len(parts) > 1:
        order = np.argsort(code, kind="stable")
        begin, out = np.empty_like(start), np.empty_like(word)
        gather_values(order, start, word, begin, out)
        code, start, word = code[order], begin, out
    return (code % _CODE).astype(np.uint8), Pairs((code // _CODE).astype(np.int32), start, word)


class _Part(NamedTuple):
    """Some pairs of a segment."""

    code: NDArray[np.int64]
    lengths: NDArray[np.int32]
    word: NDArray[np.int32]


@dataclass
class _Reader:
    """A segment, and the block of it that was read and not yet taken."""

    segment: Segment
    memory: int
    done: int = 0  # pairs that were read
    told: int = 0  # words that were read
    code: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    lengths: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    word: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))

    @property
    def left(self) -> bool:
        """Whether pairs are still to be read."""
        return self.done < self.segment.pairs

    @property
    def end(self) -> int:
        """The greatest code of the block that was read."""
        return int(self.code[-1])

    def load(self) -> bool:
        """Read the next block if the last was taken; returns whether there is any pair."""
        if not len(self.code) and self.left:
            self._read()
        return len(self.code) > 0

    def take(self, last: int | None) -> _Part:
        """Remove and return codes, lengths and words up to a code; None: all."""
        to = len(self.code) if last is None else int(np.searchsorted(self.code, last, "right"))
        words = int(self.lengths[:to].sum())
        taken = _Part(self.code[:to], self.lengths[:to], self.word[:words])
        self.code, self.lengths, self.word = self.code[to:], self.lengths[to:], self.word[words:]
        return taken

    def _read(self) -> None:
        """Read as many pairs as fit, at least one."""
        path, channel, offset, pairs, *_ = self.segment
        at_once = max(1, self.memory // _HEADS // (4 * _WORD))
        with path.open("rb", buffering=0) as file:
            file.seek(offset + _WORD * (pairs + self.done))
            count = min(at_once, pairs - self.done)
            lengths = np.fromfile(file, dtype=np.int32, count=count)
            ends = np.cumsum(lengths, dtype=np.int64)
            fit = int(
                np.searchsorted(ends, (self.memory - self.memory // _HEADS) // _WORD, "right")
            )
            count = max(1, fit)
            file.seek(offset + _WORD * self.done)
            key = np.fromfile(file, dtype=np.int32, count=count)
            file.seek(offset + _WORD * (2 * pairs + self.told))
            self.word = np.fromfile(file, dtype=np.int32, count=int(ends[count - 1]))
        self.lengths = lengths[:count].copy()
        self.code = key.astype(np.int64) * _CODE + channel
        self.done += count
        self.told += int(ends[count - 1])
