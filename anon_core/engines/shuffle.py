"""A shuffle by key: map each piece of the input, bring equal keys together, reduce.

Mappers write their pairs to files, sorted by reducer and key; reducers merge what is theirs block
by block, so neither holds more than it is allowed to. A task that is run again, because its worker
died, writes the same bytes under the same name. The answer therefore depends on no worker.

All workers must see the folder of these files. They hold what the job sends: keep the folder
private. Only its owner can open it, and it is removed at the end.
"""

import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from anon_core.engines.merging import Segment, merge_segments
from anon_core.engines.shuffle_kernels import gather_values
from anon_core.errors import LimitError
from anon_core.spread import Farm, Job, Pairs, Traffic

_WORD = 4  # bytes
_HEAD = 8  # bytes of a pair beside its words: key and length
_BLOCKS = 16  # a part of the memory for what a merge has read; in all it holds three times that
LEAST_MEMORY = 2**16  # bytes of memory that a reducer needs for blocks and buffers
_OUT_AT_ONCE = 3 * 2**20  # words of the answer that are handed over at once: whole triangles
_Told = Callable[[str, int, int], None]


@dataclass(frozen=True)
class FarmShuffle:
    """A `Shuffle` on the workers of a farm.

    Attributes
    ----------
    farm : Farm
    folder : Path
        Where files lie for a while; every worker must see it.
    reducers : int
        k, at least 1.
    memory : int
        Bytes that a reducer may hold beside its longest pairs: half for the job, and a quarter for
        each of two merges at a time.
    told : callable, optional
        told("map" or "reduce", tasks done, all tasks), after each task.
    """

    farm: Farm
    folder: Path
    reducers: int
    memory: int
    told: _Told | None = None

    def run(
        self, job: Job, pieces: Iterable[Any], take: Callable[[NDArray[np.int32]], None]
    ) -> Traffic:
        """Run the job; see `Shuffle.run`.

        Each piece is written to the folder when it comes, and read there by the worker that maps
        it: this process holds one piece at a time, and sends none.

        Raises
        ------
        LimitError
            A reducer would need more memory.
        ClusterError
            No worker is left, or workers die again and again.
        """
        if self.reducers < 1:
            raise LimitError("a shuffle needs at least 1 reducer")
        if self.memory < LEAST_MEMORY:
            raise LimitError(f"a reducer needs at least {LEAST_MEMORY} bytes of memory")
        with _make_private_folder(self.folder) as folder:
            ground = _Ground(job, folder, self.reducers, self.memory)
            stored = [ground.store(number, piece) for number, piece in enumerate(pieces)]
            written = self._each("map", _map_piece, ground, stored)
            tables = [_Table(number, *table) for number, table in enumerate(written)]
            shares = [_Share(r, [t.of(r) for t in tables]) for r in range(self.reducers)]
            counted = np.array(self._each("reduce", _reduce_share, ground, shares), dtype=np.int64)
            for share in shares:
                _hand_over(ground.answer(share.number), take)
        shape = (len(stored), job.channels, self.reducers)
        pairs, sent = (np.zeros(shape, dtype=np.int64) for _ in range(2))
        for table in tables:
            table.add_to(pairs[table.number], sent[table.number])
        counted = counted.reshape(self.reducers, 3)
        return Traffic(pairs, sent, counted[:, 0], counted[:, 1:])

    def _each(self, name: str, task: Any, ground: "_Ground", chunks: Sequence[Any]) -> list[Any]:
        """Run a task on each chunk; return the results in the order of chunks."""
        results: list[Any] = [None] * len(chunks)
        for done, (chunk, result) in enumerate(self.farm.each(task, ground, chunks), 1):
            results[chunk.number] = result
            if self.told:
                self.told(name, done, len(chunks))
        return results


@contextmanager
def _make_private_folder(folder: Path) -> Iterator[Path]:
    """Make a folder that only its owner can open; remove it at the end.

    A worker that was given up may still write. It finds no folder after the rename, so nothing
    appears in what is being removed.
    """
    made = Path(tempfile.mkdtemp(prefix="shuffle-", dir=folder))
    try:
        yield made
    finally:
        gone = made.with_name(f"{made.name}-removed")
        os.rename(made, gone)
        shutil.rmtree(gone, ignore_errors=True)


@dataclass(frozen=True, repr=False)
class _Ground:
    """What all tasks read."""

    job: Job
    folder: Path
    reducers: int
    memory: int

    def store(self, number: int, piece: Any) -> "_Piece":
        """Write a piece for the worker that will map it."""
        with (self.folder / f"piece-{number}").open("wb") as file:
            pickle.dump(piece, file, pickle.HIGHEST_PROTOCOL)
        return _Piece(number)

    def load(self, piece: "_Piece") -> Any:
        """Read a piece. Only the owner of the folder can have written it."""
        with (self.folder / f"piece-{piece.number}").open("rb") as file:
            return pickle.load(file)  # noqa: S301 - see above

    def locate_outbox(self, mapper: int) -> Path:
        return self.folder / f"map-{mapper}"

    def answer(self, reducer: int) -> Path:
        return self.folder / f"answer-{reducer}"


@dataclass(frozen=True, repr=False)
class _Piece:
    """What a mapper is to read; it lies in the folder."""

    number: int


class _Table(NamedTuple):
    """Where the pairs of a mapper lie in its file: one row for each block, channel and reducer."""

    number: int
    channel: NDArray[np.int64]
    reducer: NDArray[np.int64]
    offset: NDArray[np.int64]  # bytes
    pairs: NDArray[np.int64]
    words: NDArray[np.int64]
    least: NDArray[np.int64]  # keys
    greatest: NDArray[np.int64]

    def of(self, reducer: int) -> "_Table":
        mine = self.reducer == reducer
        return _Table(self.number, *(column[mine] for column in self[1:]))

    def add_to(self, pairs: NDArray[np.int64], sent: NDArray[np.int64]) -> None:
        """Add to int64 (channels, reducers)."""
        np.add.at(pairs, (self.channel, self.reducer), self.pairs)
        np.add.at(sent, (self.channel, self.reducer), _HEAD * self.pairs + _WORD * self.words)


@dataclass(frozen=True, repr=False)
class _Share:
    """What a reducer is to read."""

    number: int
    tables: list[_Table]


@contextmanager
def _open_replacement(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name when it is complete."""
    part = path.with_name(f"{path.name}-{uuid4().hex}")
    with part.open("wb") as file:
        yield file
    os.replace(part, path)


# ---------------------------------------------------------------- tasks


def _map_piece(ground: _Ground, piece: _Piece, _threads: int) -> tuple[NDArray[np.int64], ...]:
    """Write the pairs of a piece; returns the columns of its table."""
    rows: list[tuple[int, ...]] = []
    with _open_replacement(ground.locate_outbox(piece.number)) as file:
        for channel, pairs in ground.job.map(ground.load(piece), ground.reducers):
            to = ground.job.to(channel, pairs.key, ground.reducers)
            order = np.lexsort((pairs.key, to))
            ends = np.searchsorted(to[order], np.arange(ground.reducers + 1))
            for reducer in range(ground.reducers):
                chosen = order[ends[reducer] : ends[reducer + 1]]
                if len(chosen):
                    words = _write_pairs(file, pairs, chosen)
                    place = file.tell() - _HEAD * len(chosen) - _WORD * words
                    ends_at = pairs.key[chosen[[0, -1]]].tolist()
                    rows.append((channel, reducer, place, len(chosen), words, *ends_at))
    table = np.array(rows, dtype=np.int64).reshape(-1, 7)
    return tuple(table.T.copy())


def _write_pairs(file: IO[bytes], pairs: Pairs, chosen: NDArray[np.int64]) -> int:
    """Write keys, lengths and values of some pairs; return how many words the values have."""
    lengths = (pairs.start[1:] - pairs.start[:-1])[chosen]
    begin = np.empty(len(chosen) + 1, dtype=np.int64)
    out = np.empty(int(lengths.sum()), dtype=np.int32)
    gather_values(chosen, pairs.start, pairs.word, begin, out)
    for part in (pairs.key[chosen], lengths.astype(np.int32), out):
        file.write(part.tobytes())
    return len(out)


def _reduce_share(ground: _Ground, share: _Share, _threads: int) -> tuple[int, int, int]:
    """Write the answer of a reducer; returns the bytes it read and kept."""
    scratch = tempfile.mkdtemp(prefix=f"reduce-{share.number}-", dir=ground.folder)
    try:
        inbox = _Inbox(ground, share, scratch)
        with _open_replacement(ground.answer(share.number)) as file:
            for block in ground.job.reduce(inbox):
                file.write(np.ascontiguousarray(block, dtype=np.int32).tobytes())
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return inbox.read, inbox.wrote, inbox.reread


def _hand_over(path: Path, take: Callable[[NDArray[np.int32]], None]) -> None:
    with path.open("rb") as file:
        while len(block := np.fromfile(file, dtype=np.int32, count=_OUT_AT_ONCE)):
            take(block)


@dataclass(repr=False)
class _Inbox:
    """An `Inbox` of files; counts bytes."""

    ground: _Ground
    share: _Share
    scratch: str
    read: int = 0
    wrote: int = 0
    reread: int = 0
    sizes: dict[int, int] = field(default_factory=dict)  # words
    reducer: int = field(init=False)
    reducers: int = field(init=False)
    memory: int = field(init=False)

    def __post_init__(self) -> None:
        self.reducer, self.reducers = self.share.number, self.ground.reducers
        self.memory = self.ground.memory // 2

    def pairs(self, *channels: int) -> Iterator[tuple[NDArray[np.uint8], Pairs]]:
        """Merge what was sent; see `Inbox.pairs`."""
        segments = [
            Segment(self.ground.locate_outbox(table.number), *row)
            for table in self.share.tables
            for row in np.delete(np.stack(table[1:]), 1, axis=0).T.tolist()
            if row[0] in channels
        ]
        for channel, pairs in merge_segments(segments, self.ground.memory // _BLOCKS):
            self.read += _HEAD * len(pairs.key) + _WORD * len(pairs.word)
            yield channel, pairs

    def keep(self, file: int, words: NDArray[np.int32]) -> None:
        """Append words to a file; see `Inbox.keep`."""
        with open(self._file(file), "ab", buffering=0) as handle:
            handle.write(words.tobytes())
        self.sizes[file] = self.count_words(file) + len(words)
        self.wrote += _WORD * len(words)

    def read_words(self, file: int, begin: int, into: NDArray[np.int32]) -> int:
        """Read a part of a file; see `Inbox.read_words`."""
        words = min(len(into), self.count_words(file) - begin)
        if words <= 0:
            return 0
        with open(self._file(file), "rb", buffering=0) as handle:
            handle.seek(_WORD * begin)
            handle.readinto(into[:words].data.cast("B"))
        self.reread += _WORD * words
        return words

    def count_words(self, file: int) -> int:
        """Return how many words a file holds."""
        return self.sizes.get(file, 0)

    def drop(self, file: int) -> None:
        """Remove a file; see `Inbox.drop`."""
        if self.sizes.pop(file, 0):
            os.unlink(self._file(file))

    def _file(self, file: int) -> str:
        # Each Path would add to the interpreter's table of names, which never shrinks.
        return f"{self.scratch}/{file}"
