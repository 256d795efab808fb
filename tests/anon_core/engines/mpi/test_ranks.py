"""Real ranks under mpirun give the bytes of the local engine and go on where others were killed."""

import json
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive, LocalSearch
from anon_core.engines import local
from anon_core.engines.mpi.job import has_result, read_failure, read_progress, read_result
from benchmarks import tables as tables_of_benchmarks
from tests.anon_core.engines.mpi.mpirun import CASES, MPIRUN, mpirun, ordered
from tests.strategies import tables
from tests.support.large import big_table
from tests.support.masked import kept
from tests.support.soaking import soak_after

pytestmark = pytest.mark.skipif(
    not MPIRUN.exists(), reason="mpirun is not installed beside this Python"
)
ENGINE = ["-m", "anon_core.engines.mpi"]
SETTINGS = st.builds(
    Adaptive,
    epsilon=st.sampled_from([0.5, 20.0, 400.0]),
    schedule=st.sampled_from(["falling", "fixed"]),
    reclaim=st.booleans(),
    weights=st.sampled_from(["columns", "cells", "bits"]),
    cover=st.sampled_from(["mce"]),
    max_iterations=st.just(4),
)


@st.composite
def jobs(draw):
    """Settings, a table and an order of ties."""
    table = draw(tables(most_records=20))
    return draw(SETTINGS), table, np.array(draw(st.permutations(range(table.records))))


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 3])
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(jobs(), min_size=12, max_size=12))
def test_small_tables_give_the_bytes_of_the_local_engine(ranks, drawn):
    with tempfile.TemporaryDirectory() as folder:
        paths = [
            ordered(Path(folder) / f"{number:02}", *job, ranks=ranks)
            for number, job in enumerate(drawn)
        ]
        done = mpirun(ranks, *CASES, folder)
        assert done.returncode == 0, done.stderr
        for path, (maker, table, order) in zip(paths, drawn, strict=True):
            assert kept(read_result(path, table)[0]) == kept(
                local.run(maker, table, tie_order=order)
            )


@pytest.fixture(scope="module")
def larger():
    """A table of many blocks, a secret order, and what the local engine makes of them."""
    table = big_table(3000, 9, 12)
    order = np.random.default_rng(5).permutation(table.records)
    maker = Adaptive(max_iterations=6)
    return maker, table, order, kept(local.run(maker, table, tie_order=order))


@pytest.mark.parametrize(("ranks", "threads"), [(2, 1), pytest.param(3, 2, marks=pytest.mark.slow)])
def test_many_blocks_give_the_bytes_of_the_local_engine(larger, tmp_path, ranks, threads):
    maker, table, order, whole = larger
    job = ordered(tmp_path / "job", maker, table, order, ranks=ranks, threads=threads)
    done = mpirun(ranks, *ENGINE, job)
    assert done.returncode == 0, done.stderr
    masked, seconds = read_result(job, table)
    assert kept(masked) == whole
    assert len(seconds) == len(masked.steps)
    assert min(seconds) > 0
    progress = read_progress(job)
    reached = (progress.step, progress.most, progress.ranks, progress.records)
    assert reached == (len(masked.steps), maker.max_iterations, ranks, 3000)
    assert progress.figures == masked.steps[-1].figures
    assert {path.stat().st_mode & 0o777 for path in job.iterdir()} == {0o600}


@pytest.mark.parametrize("part", [0, 300])
@pytest.mark.parametrize("ranks", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_a_local_search_gives_the_bytes_of_one_process(tmp_path, ranks, part):
    """The whole on every rank, or two parts; of five ranks some have none."""
    table = big_table(900, 6, 3)
    order = np.random.default_rng(4).permutation(table.records)
    maker = LocalSearch(seats="even", part=part)
    job = ordered(tmp_path / "job", maker, table, order, ranks=ranks)
    done = mpirun(ranks, *ENGINE, job)
    assert done.returncode == 0, done.stderr
    masked = read_result(job, table)[0]
    expected = local.run(maker, table, tie_order=order)
    assert kept(masked) == kept(expected)
    assert (masked.holders == expected.holders).all()


@pytest.mark.long
def test_no_rank_repeats_a_part_of_another_one(tmp_path):
    """Each record is made on one rank, and no rank makes more than its share of the parts."""
    table = big_table(960, 6, 3)
    maker = LocalSearch(seats="even", effort=0, part=120)
    job = ordered(tmp_path / "job", maker, table, ranks=3)
    done = mpirun(3, *CASES, job, "--counted")
    assert done.returncode == 0, done.stderr
    made = sorted(map(int, done.stdout.split()))
    assert sum(made) == table.records
    assert made == [240, 360, 360]  # two, three and three parts of 120 records


@pytest.mark.slow
@pytest.mark.parametrize("seed", soak_after(1, range(2)))
@pytest.mark.parametrize(("first", "then"), [(2, 3), (3, 1)])
def test_parts_go_on_where_ranks_were_killed(tmp_path, first, then, seed):
    """Eight parts, of which some are done."""
    table, rng = big_table(900, 6, 3), np.random.default_rng(seed)
    order, rank, last = rng.permutation(table.records), rng.integers(first), rng.integers(1, 3)
    maker = LocalSearch(seats="even", effort=0, part=100)
    job = ordered(tmp_path / "job", maker, table, order, ranks=first)
    done = mpirun(first, *CASES, job, "--rank", rank, "--dies-after", last)
    assert done.returncode not in {0, 2}
    assert len(json.loads((job / "checkpoint.json").read_text())["steps"]) == last
    ordered(job, maker, table, order, ranks=then)
    done = mpirun(then, *ENGINE, job)
    assert done.returncode == 0, done.stderr
    masked = read_result(job, table)[0]
    expected = local.run(maker, table, tie_order=order)
    assert kept(masked) == kept(expected)
    assert (masked.holders == expected.holders).all()


@pytest.fixture(scope="module")
def adult():
    """UCI Adult, a secret order, and what the local engine makes of them."""
    try:
        table = tables_of_benchmarks.table("adult", None)
    except SystemExit:
        pytest.skip("left out: Adult is not in CROWDCOVER_DATA")
    order = np.random.default_rng(6).permutation(table.records)
    maker = Adaptive(weights="bits", max_iterations=3)
    return maker, table, order, kept(local.run(maker, table, tie_order=order))


@pytest.mark.slow
@pytest.mark.parametrize("ranks", soak_after(1, [4, 2]))
def test_adult_gives_the_bytes_of_the_local_engine(adult, tmp_path, ranks):
    maker, table, order, whole = adult
    job = ordered(tmp_path / "job", maker, table, order, ranks=ranks)
    done = mpirun(ranks, *ENGINE, job)
    assert done.returncode == 0, done.stderr
    assert kept(read_result(job, table)[0]) == whole


@pytest.mark.slow
@pytest.mark.parametrize(("first", "then"), [(2, 3), (3, 1)])
def test_any_number_of_ranks_goes_on_where_others_were_killed(larger, tmp_path, first, then):
    maker, table, order, whole = larger
    job = ordered(tmp_path / "job", maker, table, order, ranks=first)
    done = mpirun(first, *CASES, job, "--rank", first - 1, "--dies-after", 3)
    assert done.returncode not in {0, 2}
    assert not has_result(job)
    assert read_failure(job) is None
    before = json.loads((job / "checkpoint.json").read_text())
    assert len(before["steps"]) == 3
    ordered(job, maker, table, order, ranks=then)
    done = mpirun(then, *ENGINE, job)
    assert done.returncode == 0, done.stderr
    masked, seconds = read_result(job, table)
    assert kept(masked) == whole
    assert seconds[:3] == before["seconds"]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "then"), [(2, 3), (3, 1)])
def test_any_number_of_ranks_goes_on_after_the_parts_that_are_done(tmp_path, first, then):
    table, maker = big_table(2000, 6, 3), LocalSearch(seats="even", effort=0, part=200)
    order = np.random.default_rng(4).permutation(table.records)
    job = ordered(tmp_path / "job", maker, table, order, ranks=first)
    done = mpirun(first, *CASES, job, "--rank", first - 1, "--dies-after", 2)
    assert done.returncode not in {0, 2}
    assert not has_result(job)
    before = json.loads((job / "checkpoint.json").read_text())
    assert [step["figures"]["records"] for step in before["steps"]] == [250 * first, 500 * first]
    ordered(job, maker, table, order, ranks=then)
    done = mpirun(then, *ENGINE, job)
    assert done.returncode == 0, done.stderr
    masked, seconds = read_result(job, table)
    expected = local.run(maker, table, tie_order=order)
    assert kept(masked) == kept(expected)
    assert masked.steps == expected.steps
    assert len(seconds) == 2 + -(-(8 - 2 * first) // then)


def bits_flipped(job):
    part = next(job.glob("state-2-*.npy"))
    part.write_bytes(part.read_bytes()[:-4] + b"\1\2\3\4")


def part_emptied(job):
    next(job.glob("state-2-*.npy")).write_bytes(b"")


def names_cut_short(job):
    path = job / "checkpoint.json"
    path.write_bytes(path.read_bytes()[:40])


@pytest.mark.slow
@pytest.mark.parametrize("damage", [bits_flipped, part_emptied, names_cut_short])
def test_a_damaged_checkpoint_is_made_again(larger, tmp_path, damage):
    maker, table, order, whole = larger
    job = ordered(tmp_path / "job", maker, table, order, ranks=2)
    mpirun(2, *CASES, job, "--rank", 0, "--dies-after", 2)
    damage(job)
    (job / ".state-3-0-0-of-2.npy.0123abcd.partial").write_bytes(b"of a rank that was killed")
    done = mpirun(2, *ENGINE, job)
    assert done.returncode == 0, done.stderr
    assert kept(read_result(job, table)[0]) == whole
    assert not list(job.glob(".*"))


@pytest.mark.slow
def test_an_order_for_another_table_takes_nothing_over(larger, tmp_path):
    maker, table, order, _ = larger
    job = ordered(tmp_path / "job", maker, table, order, ranks=2)
    mpirun(2, *CASES, job, "--rank", 0, "--dies-after", 1)
    assert (job / "checkpoint.json").exists()
    ordered(job, maker, table, order[::-1].copy(), ranks=2)
    assert sorted(path.name for path in job.iterdir()) == ["data.npz", "job.json"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("given_ranks", "changes", "words"),
    [
        (1, {}, r"started on 1 rank\(s\), 2 are required"),
        (2, {"memory": 1000}, "iB on each of 2 ranks, 1000 bytes are allowed"),
        (2, {"threads": 9999}, "9999 are required; lower cores_per_task"),
    ],
)
def test_what_no_resubmission_can_mend_is_refused_in_words(
    larger, tmp_path, given_ranks, changes, words
):
    maker, table, order, _ = larger
    changes = dict(changes)
    job = ordered(
        tmp_path / "job", changes.pop("anonymizer", maker), table, order, ranks=2, **changes
    )
    done = mpirun(given_ranks, *ENGINE, job)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert re.search(words, read_failure(job))
    ordered(job, maker, table, order, ranks=2)
    assert read_failure(job) is None


@pytest.mark.slow
def test_stated_memory_is_an_upper_bound_on_the_rank_that_all_others_list(tmp_path):
    """Records that agree with many list the first of them, which are rank 0's."""
    maker = Adaptive(max_iterations=2, schedule="falling")
    ordered(tmp_path / "0-compiles", maker, big_table(200, 3, 2), ranks=4)
    ordered(tmp_path / "1", maker, big_table(20_000, 9, 60), ranks=4)
    done = mpirun(4, *CASES, tmp_path, "--traced")
    assert done.returncode == 0, done.stderr
    assert 0.5 < float(done.stdout.split()[-1]) <= 1


def test_a_folder_without_an_order_is_refused(tmp_path):
    done = mpirun(1, *ENGINE, tmp_path)
    assert done.returncode == 2
    assert "holds no job.json" in read_failure(tmp_path)


@pytest.mark.long
def test_a_folder_that_does_not_exist_is_told(tmp_path):
    done = mpirun(1, *ENGINE, tmp_path / "job")
    assert done.returncode
    assert "give the folder of one job, one that exists" in done.stderr
    assert "Traceback" not in done.stderr
