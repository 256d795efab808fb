"""Checkpoints of an anonymizer's steps, as files of the vault."""

import dataclasses
import json
import stat

import numpy as np
import pytest

from anon_core.anonymizers import Adaptive
from anon_core.engines import local
from anon_core.steps import Observer, State, Step
from anon_core.tables import encoding
from crowdcover.storage.vault import build
from crowdcover.storage.vault.checkpoint import CheckpointFile

INPUTS = ["i" * 64, "b" * 64]


class Files(Observer):
    """Keeps every checkpoint in a file of its own."""

    def __init__(self, folder):
        self.files, self.folder, self.states = [], folder, []

    def on_step(self, state):
        self.states.append(state)
        self.files.append(CheckpointFile(self.folder / f"{len(self.files)}", INPUTS))
        self.files[-1].save(state, seconds(state))


class OneFile(Observer):
    """Keeps the steps in one checkpoint; tells where arrays ended when each was kept."""

    def __init__(self, folder, every=1):
        self.file, self.every, self.steps = CheckpointFile(folder / "parts", INPUTS), every, 0

    def on_step(self, state):
        self.steps = len(state.steps)
        if self.steps % self.every == 0:
            self.file.save(state, seconds(state))


def seconds(state):
    return [0.125 * step.number for step in state.steps]


def content(state: State):
    arrays = {
        name: (array.dtype, array.shape, array.tobytes()) for name, array in state.arrays.items()
    }
    return arrays, state.steps


def is_best(state):
    return state.arrays["best"] is state.arrays["latest"]


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
    MAKER.anonymize(table, tie_order=SHUFFLED, observer=files)
    return files


def test_what_is_kept_comes_back_to_the_last_bit(table, kept):
    whole = MAKER.anonymize(table, tie_order=SHUFFLED)
    assert {is_best(state) for state in kept.states} == {True, False}
    for file, state in zip(kept.files, kept.states, strict=True):
        found, taken = file.load()
        assert content(found) == content(state)
        assert is_best(found) == is_best(state)
        assert taken == seconds(state)
        again = MAKER.anonymize(table, tie_order=SHUFFLED, resume=found)
        assert (again.hidden == whole.hidden).all()
        assert again.steps == whole.steps


def test_nobody_else_can_read_it_and_nothing_lies_beside_it(kept, tmp_path):
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    assert len(list(tmp_path.iterdir())) == len(kept.files)


def test_a_new_one_takes_the_place_of_the_one_before(kept):
    file, last = kept.files[0], kept.states[-1]
    file.save(last, seconds(last))
    assert content(file.load()[0]) == content(last)
    file.discard()
    file.discard()
    assert file.load() == (None, [])


def test_a_best_cover_that_is_the_latest_is_written_once(kept):
    for file, state in zip(kept.files, kept.states, strict=True):
        record = json.loads(file.path.read_bytes().split(b"\n")[1])
        assert len(record["blocks"]) == (1 if is_best(state) else 2)


def test_arrays_of_any_type_and_shape_are_kept(tmp_path):
    arrays = {
        "groups": np.arange(5),
        "shares": np.linspace(0, 1, 6).reshape(2, 3).T,
        "flags": np.array([[True], [False]]),
        "none": np.empty((3, 0), dtype=np.uint16),
    }
    state = State(arrays, (Step(1, {"clusters": 7, "sigma": 0.25}),))
    file = CheckpointFile(tmp_path / "file", INPUTS)
    file.save(state, [1.5])
    found, taken = file.load()
    assert (content(found), taken) == (content(state), [1.5])


def test_it_is_bound_to_what_it_was_made_from(kept, monkeypatch):
    file = kept.files[-1]
    assert dataclasses.replace(file, inputs=INPUTS[::-1]).load() == (None, [])
    for part, other in (("CODE_VERSION", "another"), ("hash_packages", lambda *_: "another")):
        assert file.load() != (None, [])
        with monkeypatch.context() as patch:
            patch.setattr(build, part, other)
            assert file.load() == (None, [])


def test_a_damaged_one_is_none(kept):
    file = kept.files[-1]
    whole = file.path.read_bytes()
    rng = np.random.default_rng(1)
    for place in range(0, len(whole), 3):
        spoilt = bytearray(whole)
        spoilt[place] ^= int(rng.integers(1, 256))
        file.path.write_bytes(spoilt)
        assert file.load() == (None, [])
    file.path.write_bytes(whole + b"\0")
    assert file.load() == (None, [])


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_part_of_it_is_none(kept, share):
    file = kept.files[-1]
    whole = file.path.read_bytes()
    file.path.write_bytes(whole[: int(share * len(whole))])
    assert file.load() == (None, [])


def test_a_cover_without_edges_is_kept(tmp_path):
    nobody = encoding.from_bits(np.eye(3, dtype=int), np.ones(3, dtype=int))
    files = Files(tmp_path)
    MAKER.anonymize(nobody, observer=files)
    assert content(files.files[0].load()[0]) == content(files.states[0])


DIVIDED = Adaptive(seats="even", part=100)


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(8)
    return encoding.from_bits(rng.integers(0, 2, (600, 12)), np.full(600, 3))


def run_in_parts(table, watch, resume=None):
    return local.run(DIVIDED, table, threads=1, observer=watch, resume=resume)


@pytest.fixture
def parts(large, tmp_path):
    """A finished run of six parts, of which every second one was kept, and its files."""
    watch = OneFile(tmp_path, every=2)
    made = run_in_parts(large, watch)
    files = [watch.file.path, *(tmp_path / f"parts.{number}" for number in (1, 2))]
    assert sorted(tmp_path.iterdir()) == files
    return watch, made, files


def test_parts_are_written_once_and_come_back_together(large, parts):
    watch, made, files = parts
    assert max(path.stat().st_size for path in files) < 1.1 * min(
        path.stat().st_size for path in files
    )
    found, taken = CheckpointFile(watch.file.path, INPUTS).load()
    assert taken == [0.125 * number for number in range(1, 7)]
    assert sorted(found.arrays["record"].tolist()) == list(range(600))
    again = run_in_parts(large, Observer(), found)
    assert (again.hidden == made.hidden).all()
    assert (again.holders == made.holders).all()


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_parts_behind_a_damaged_file_are_made_again(large, parts, lost):
    watch, made, files = parts
    files[lost].write_bytes(files[lost].read_bytes()[:-1])
    file = CheckpointFile(watch.file.path, INPUTS)
    found, taken = file.load()
    assert len(taken) == 2 * lost
    assert (found is None) == (lost == 0)
    watch = OneFile(watch.file.path.parent)
    watch.file = file
    again = run_in_parts(large, watch, found)
    assert (again.hidden == made.hidden).all()
    whole = CheckpointFile(file.path, INPUTS).load()[0]
    assert sorted(whole.arrays["record"].tolist()) == list(range(600))
    file.discard()
    assert not list(file.path.parent.iterdir())


def test_a_file_of_another_checkpoint_is_not_gone_on_from(parts, tmp_path):
    watch, _, files = parts
    files[1].write_bytes(files[2].read_bytes())
    assert len(CheckpointFile(watch.file.path, INPUTS).load()[1]) == 2
