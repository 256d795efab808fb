"""The folder of a job: what is left of another order, and files that are damaged."""

from types import SimpleNamespace

import numpy as np
import pytest

from anon_core.anonymizers import Adaptive
from anon_core.engines import local
from anon_core.engines.mpi.job import (
    afford_rank,
    has_result,
    read_job,
    read_progress,
    read_result,
    write_job,
    write_result,
)
from anon_core.errors import ClusterError, InputError, LimitError
from crowdcover.tasks.compute import engines
from crowdcover.tasks.compute.spec import Cluster
from tests.support.large import big_table
from tests.support.masked import kept

MAKER = Adaptive(max_iterations=2)
SHAPE = {"ranks": 2, "threads": 1, "memory": None}


@pytest.fixture
def table():
    return big_table(200, 4, 3)


@pytest.fixture
def folder(table, tmp_path):
    assert not write_job(tmp_path / "job", MAKER, table, np.arange(200), **SHAPE)
    return tmp_path / "job"


def finish(folder, table):
    """What one rank would write; returns the same from the local engine."""
    made = local.run(MAKER, table)
    record = {"digest": read_job(folder).digest, "seconds": [1.0] * len(made.steps)}
    write_result(folder, made, record)
    return kept(made)


def test_a_result_is_that_of_its_own_order(folder, table):
    made = finish(folder, table)
    assert has_result(folder)
    assert kept(read_result(folder, table)[0]) == made
    assert not write_job(folder, MAKER, table, np.arange(200), **SHAPE)
    assert has_result(folder)
    assert write_job(folder, MAKER, table, np.arange(200), **{**SHAPE, "ranks": 3})
    assert has_result(folder)  # for any number of ranks
    late = (folder / "result.json").read_bytes()
    assert write_job(folder, MAKER, table, np.arange(200)[::-1], **SHAPE)
    assert not has_result(folder)
    (folder / "result.json").write_bytes(
        late
    )  # of ranks that were still at work on the order before
    assert not has_result(folder)


@pytest.mark.parametrize("name", ["result.json", "made.npz"])
@pytest.mark.parametrize(
    "damage",
    [lambda _: b"", lambda content: content[:-4] + b"\1\2\3\4", lambda content: content[:90]],
)
def test_a_damaged_result_is_made_again(folder, table, name, damage):
    finish(folder, table)
    path = folder / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(
        ClusterError, match=r"the result of the batch job cannot be read \(.*\); run again"
    ):
        read_result(folder, table)
    assert not has_result(folder)


@pytest.mark.parametrize("name", ["job.json", "data.npz"])
def test_a_damaged_order_is_refused_in_words_and_mended(folder, table, name):
    whole = (folder / name).read_bytes()
    for damaged in (b"", whole[: len(whole) // 2]):
        (folder / name).write_bytes(damaged)
        with pytest.raises(
            InputError, match=r"cannot be read .* run `crowdcover release` again"
        ) as refusal:
            read_job(folder)
        assert refusal.value.__cause__ is None
        assert not write_job(folder, MAKER, table, np.arange(200), **SHAPE)
        assert (read_job(folder).data.codes == table.codes).all()
    (folder / "data.npz").unlink()
    with pytest.raises(InputError, match="FileNotFoundError"):
        read_job(folder)


def test_an_order_of_another_build_is_refused_and_written_anew(folder, table, monkeypatch):
    finish(folder, table)
    monkeypatch.setattr("anon_core.engines.mpi.job.hash_packages", lambda *_: "another")
    with pytest.raises(InputError, match="by another build of crowdcover; install the same one"):
        read_job(folder)
    assert write_job(folder, MAKER, table, np.arange(200), **SHAPE)
    assert not has_result(folder)
    assert read_job(folder).ranks == SHAPE["ranks"]


def test_progress_that_cannot_be_read_is_none(folder):
    assert read_progress(folder) is None
    for content in ("", '{"iteration": 1', '{"iteration": 1}', "[]"):
        (folder / "progress.json").write_text(content)
        assert read_progress(folder) is None


def test_a_job_for_an_order_before_is_cancelled(folder, table, monkeypatch):
    """It may wait in the queue for another number of ranks, and would refuse this one."""
    cancelled = []
    monkeypatch.setattr(engines.clusters, "cancel_folder_job", cancelled.append)
    monkeypatch.setattr(engines, "run_job", lambda folder, *_: finish(folder, table))
    compute, run = (
        engines.Compute(engine="mpi", threads=0, memory=2**40),
        SimpleNamespace(path=folder.parent),
    )
    for ranks, count in ((2, 1), (2, 1), (3, 2)):  # memory, too, is part of an order
        engines._by_jobs(
            run, MAKER, table, np.arange(200), compute, Cluster("mpirun", tasks_per_node=ranks)
        )
        assert cancelled == [folder] * count
        (folder / "result.json").unlink()


def test_a_job_that_cannot_fit_is_refused_before_it_waits_in_a_queue(table, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "run_job", lambda *_: pytest.fail("submitted"))
    compute, run = (
        engines.Compute(engine="mpi", threads=0, memory=1000),
        SimpleNamespace(path=tmp_path),
    )
    words = r"200 records need .* [KM]iB on each of 2 ranks, .* are allowed"
    with pytest.raises(LimitError, match=words):
        engines._by_jobs(
            run, MAKER, table, np.arange(200), compute, Cluster("mpirun", tasks_per_node=2)
        )
    with pytest.raises(LimitError, match=words):
        afford_rank(MAKER, table, ranks=2, threads=1, memory=1000)
    assert not list(tmp_path.iterdir())
