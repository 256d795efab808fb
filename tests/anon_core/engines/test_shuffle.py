"""A shuffle brings equal keys together, whoever runs it, within its memory, and counts bytes."""

import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.engines import farm as dask
from anon_core.engines import shuffle as engine
from anon_core.engines.farm import DaskFarm, connect_client
from anon_core.engines.local import LocalFarm
from anon_core.engines.shuffle import FarmShuffle
from anon_core.errors import ClusterError, LimitError
from anon_core.spread import Pairs
from tests.anon_core.engines.watched import Watched
from tests.flows.processes import run
from tests.support.farms import spawned


@dataclass(frozen=True, repr=False)
class Echo:
    """Answers what it was sent: channel, key, length, value; `twice` reads and keeps it first."""

    twice: bool = False
    channels: int = 2

    def to(self, channel, key, reducers):
        return (key + channel) % reducers

    def map(self, piece, reducers):
        for channel, values in piece:
            key = np.array([k for k, _ in values], dtype=np.int32)
            start = np.cumsum([0, *(len(value) for _, value in values)])
            word = np.array([w for _, value in values for w in value], dtype=np.int32)
            yield channel, Pairs(key, start, word)

    def reduce(self, inbox):
        if self.twice:
            for _, pairs in inbox.pairs(0):
                inbox.keep(3, pairs.word)
            held = np.zeros(inbox.count_words(3) + 1, dtype=np.int32)
            half = len(held) // 2
            assert inbox.read_words(3, 0, held[:half]) == half
            assert inbox.read_words(3, half, held[half:]) == len(held) - 1 - half
            inbox.drop(3)
            inbox.drop(3)
            assert inbox.count_words(3) == inbox.read_words(3, 0, held) == 0
            yield np.array([-1, len(held) - 1, *held[:-1]], dtype=np.int32)
        for channels, (key, start, word) in inbox.pairs(0, 1):
            for i, channel in enumerate(channels):
                value = word[start[i] : start[i + 1]]
                yield np.array([channel, key[i], len(value), *value], dtype=np.int32)


def ran(shuffle, job, pieces):
    blocks = []
    traffic = shuffle.run(job, pieces, blocks.append)
    return np.concatenate([np.empty(0, dtype=np.int32), *blocks]), traffic


def told(answer):
    """The pairs of an `Echo`, in order."""
    words, out = answer.tolist(), []
    while words:
        channel, key, length = words[:3]
        out.append((key, channel, tuple(words[3 : 3 + length])))
        words = words[3 + length :]
    return out


VALUES = st.tuples(st.integers(0, 9), st.lists(st.integers(-5, 5), max_size=4))
BLOCKS = st.tuples(st.integers(0, 1), st.lists(VALUES, max_size=6))
PIECES = st.lists(st.lists(BLOCKS, max_size=4), max_size=4)


@settings(deadline=None)
@given(PIECES, st.integers(1, 4), st.sampled_from([1, 100, 1000, 2**16]))
def test_every_pair_arrives_once_and_in_order(tmp_path_factory, pieces, reducers, memory):
    folder = tmp_path_factory.mktemp("shuffle")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "LEAST_MEMORY", 1)
        answer, traffic = ran(FarmShuffle(LocalFarm(), folder, reducers, memory), Echo(), pieces)
    sent = [(k, c, tuple(v)) for piece in pieces for c, values in piece for k, v in values]
    arrived = told(answer)
    assert sorted(arrived) == sorted(sent)
    at = [(sum(pair[:2]) % reducers, *pair[:2]) for pair in arrived]
    assert at == sorted(at)
    assert traffic.pairs.shape == (len(pieces), 2, reducers)
    assert traffic.pairs.sum() == len(sent)
    size = 8 * len(sent) + 4 * sum(len(v) for *_, v in sent)
    assert traffic.sent.sum() == traffic.read.sum() == size
    assert traffic.sent.sum(axis=(0, 1)).tolist() == traffic.read.tolist()
    assert list(folder.iterdir()) == []


def pieces_drawn(count=6, values=300, seed=1):
    rng = np.random.default_rng(seed)
    return [
        [
            (
                c,
                [
                    (int(k), rng.integers(0, 99, k % 7).tolist())
                    for k in rng.integers(0, 500, values)
                ],
            )
            for c in (0, 1, 0)
        ]
        for _ in range(count)
    ]


def test_own_files_are_read_as_written_and_counted(tmp_path):
    pieces = pieces_drawn()
    answer, traffic = ran(FarmShuffle(LocalFarm(), tmp_path, 3, 2**16), Echo(twice=True), pieces)
    words = [
        sum(
            len(v)
            for piece in pieces
            for c, values in piece
            for k, v in values
            if not c and k % 3 == r
        )
        for r in range(3)
    ]
    assert traffic.kept.tolist() == [[4 * each, 4 * each] for each in words]
    first = traffic.sent.sum(axis=0)
    assert traffic.read.tolist() == (2 * first[0] + first[1]).tolist()
    assert answer[:2].tolist() == [-1, words[0]]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return ran(FarmShuffle(LocalFarm(), tmp_path_factory.mktemp("own"), 4, 2**16), Echo(), PLENTY)


PLENTY = pieces_drawn(count=12, values=100)


@pytest.mark.slow
@pytest.mark.parametrize("when", [("map", 3), ("reduce", 1)], ids=str)
def test_a_killed_worker_changes_nothing(tmp_path, expected, when):
    killed = []

    def murder(name, done, of):
        if (name, done) == when and not killed:
            killed.append(spawned()[0])
            killed[0].kill()

    with connect_client(None, 2, 1) as client:
        shuffle = FarmShuffle(DaskFarm(client), tmp_path, 4, 2**16, murder)
        answer, traffic = ran(shuffle, Echo(), PLENTY)
    assert len(killed) == 1
    assert answer.tobytes() == expected[0].tobytes()
    for ours, theirs in zip(traffic, expected[1], strict=True):
        assert ours.tolist() == theirs.tolist()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_nobody_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(dask, "PATIENCE", 3.0)

    def murder(*_):
        client.close()

    with connect_client(None, 1, 1) as client, pytest.raises(ClusterError):
        ran(FarmShuffle(DaskFarm(client), tmp_path, 2, 2**16, murder), Echo(), PLENTY)
    assert list(tmp_path.iterdir()) == []


def measure_blocks_that_are_read(folder):
    """Half of the memory is the job's; this one holds nothing."""
    key = np.arange(20_000, dtype=np.int32)
    long = [[(0, Block(key, 50)), (1, Block(key, 3))] for _ in range(4)]
    memory = 2**19
    watched = Watched(memory // 4)
    _, traffic = ran(FarmShuffle(watched, Path(folder), 2, memory), Lengths(), long)
    assert traffic.read.min() > 10 * memory
    assert len(watched.peaks) == 2
    assert max(watched.peaks) <= memory // 4


@pytest.mark.slow
def test_blocks_that_are_read_keep_to_their_memory(tmp_path):
    """In a process of its own: what other tests left running is not measured."""
    finished = run(measure_blocks_that_are_read, str(tmp_path))
    assert finished.code == 0, finished.err


@dataclass(frozen=True, repr=False)
class Block:
    key: np.ndarray
    words: int


class Lengths(Echo):
    """Sends values of one length, and answers nothing."""

    def map(self, piece, reducers):
        for channel, block in piece:
            start = np.arange(len(block.key) + 1, dtype=np.int64) * block.words
            yield channel, Pairs(block.key, start, np.zeros(start[-1], dtype=np.int32))

    def reduce(self, inbox):
        for _ in inbox.pairs(0, 1):
            pass
        yield np.empty(0, dtype=np.int32)


def test_too_little_memory_is_refused(tmp_path):
    for reducers, memory in ((0, 2**20), (1, 2**10)):
        with pytest.raises(LimitError, match="at least"):
            ran(FarmShuffle(LocalFarm(), tmp_path, reducers, memory), Echo(), [])


def test_the_folder_is_private_and_nothing_shows_data(tmp_path):
    modes = []

    def look(*_):
        modes.extend(path.stat().st_mode & 0o777 for path in tmp_path.iterdir())

    ran(FarmShuffle(LocalFarm(), tmp_path, 1, 2**16, look), Echo(), PLENTY[:1])
    assert modes == [0o700, 0o700]
    assert "[" not in repr(engine._Share(1, [7]))


@pytest.mark.long
def test_workers_read_pieces_that_the_caller_does_not_hold(tmp_path):
    """A piece is taken when the one before is on disk; tasks carry its number alone."""
    stored = []

    def one_by_one():
        for piece in PLENTY:
            stored.append(len(list(tmp_path.glob("shuffle-*/piece-*"))))
            yield piece

    class Watched(LocalFarm):
        def each(self, task, ground, chunks):
            assert max(len(pickle.dumps(chunk)) for chunk in chunks) < 200 or "reduce" in str(task)
            yield from super().each(task, ground, chunks)

    answer, traffic = ran(FarmShuffle(Watched(), tmp_path, 2, 2**16), Echo(), one_by_one())
    assert stored == list(range(len(PLENTY)))
    again, _ = ran(FarmShuffle(LocalFarm(), tmp_path, 2, 2**16), Echo(), PLENTY)
    assert answer.tobytes() == again.tobytes()
    assert len(traffic.pairs) == len(PLENTY)
