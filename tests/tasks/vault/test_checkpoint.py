import dataclasses
import json
import stat

import numpy as np
import pytest

from anon_core.anonymizers import Adaptive
from anon_core.tables import encoding
from anon_core.tables.records import Checkpoint, Observer
from tasks.vault import checkpoint as module
from tasks.vault.checkpoint import CheckpointFile

INPUTS = ["i" * 64, "b" * 64]


class Files(Observer):
    """Keeps every checkpoint in a file of its own."""

    def __init__(self, folder):
        self.files, self.folder, self.checkpoints = [], folder, []

    def iterated(self, checkpoint):
        self.checkpoints.append(checkpoint)
        self.files.append(CheckpointFile(self.folder / f"{len(self.files)}", INPUTS))
        self.files[-1].save(checkpoint, seconds(checkpoint))


def seconds(checkpoint):
    return [0.125 * iteration.number for iteration in checkpoint.iterations]


def content(checkpoint: Checkpoint):
    covers = [
        part.tobytes()
        for cover in (checkpoint.latest, checkpoint.best)
        for part in vars(cover).values()
    ]
    return covers, checkpoint.iterations


MAKER = Adaptive(epsilon=2.0, max_iterations=12, schedule="fixed")
SHUFFLED = np.random.default_rng(5).permutation(60)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(8)
    return encoding.from_bits(rng.integers(0, 2, (60, 12)), rng.integers(1, 9, 60))


@pytest.fixture
def kept(table, tmp_path):
    """Checkpoints of a run, in files."""
    files = Files(tmp_path)
    MAKER.anonymize(table, order=SHUFFLED, observer=files)
    return files


def test_what_is_kept_comes_back_to_the_last_bit(table, kept):
    whole = MAKER.anonymize(table, order=SHUFFLED)
    assert any(checkpoint.best is not checkpoint.latest for checkpoint in kept.checkpoints)
    for file, checkpoint in zip(kept.files, kept.checkpoints, strict=True):
        found, taken = file.load(table)
        assert content(found) == content(checkpoint)
        assert taken == seconds(checkpoint)
        again = MAKER.anonymize(table, order=SHUFFLED, resume=found)
        assert (again.hidden == whole.hidden).all()
        assert again.iterations == whole.iterations


def test_nobody_else_can_read_it_and_nothing_lies_beside_it(kept, tmp_path):
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    assert len(list(tmp_path.iterdir())) == len(kept.files)


def test_a_new_one_takes_the_place_of_the_one_before(table, kept):
    file, last = kept.files[0], kept.checkpoints[-1]
    file.save(last, seconds(last))
    assert content(file.load(table)[0]) == content(last)
    file.discard()
    file.discard()
    assert file.load(table) == (None, [])


def test_a_best_cover_that_is_the_latest_is_written_once(kept):
    for file, checkpoint in zip(kept.files, kept.checkpoints, strict=True):
        record = json.loads(file.path.read_bytes().split(b"\n")[1])
        both = checkpoint.best is not checkpoint.latest
        assert record["edges"] == [len(checkpoint.latest)] + [len(checkpoint.best)] * both


def test_it_is_bound_to_what_it_was_made_from(table, kept, monkeypatch):
    file = kept.files[-1]
    assert dataclasses.replace(file, inputs=INPUTS[::-1]).load(table) == (None, [])
    smaller = encoding.from_bits(np.eye(40, dtype=int), np.ones(40, dtype=int))
    assert file.load(smaller) == (None, [])
    monkeypatch.setattr(module, "CODE_VERSION", "another")
    assert file.load(table) == (None, [])


def test_a_damaged_one_is_none(table, kept):
    file = kept.files[-1]
    whole = file.path.read_bytes()
    rng = np.random.default_rng(1)
    for place in range(0, len(whole), 3):
        spoilt = bytearray(whole)
        spoilt[place] ^= int(rng.integers(1, 256))
        file.path.write_bytes(spoilt)
        assert file.load(table) == (None, [])
    file.path.write_bytes(whole + b"\0")
    assert file.load(table) == (None, [])


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_part_of_it_is_none(table, kept, share):
    file = kept.files[-1]
    whole = file.path.read_bytes()
    file.path.write_bytes(whole[: int(share * len(whole))])
    assert file.load(table) == (None, [])


def test_a_cover_that_is_none_of_the_table_is_none(table, kept):
    thicker = dataclasses.replace(table, k=np.full(60, 60, dtype=np.int32))
    assert kept.files[-1].load(thicker) == (None, [])


def test_a_cover_without_edges_is_kept(tmp_path):
    nobody = encoding.from_bits(np.eye(3, dtype=int), np.ones(3, dtype=int))
    files = Files(tmp_path)
    MAKER.anonymize(nobody, observer=files)
    assert content(files.files[0].load(nobody)[0]) == content(files.checkpoints[0])
