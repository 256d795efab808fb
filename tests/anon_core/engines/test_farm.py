"""The Dask engine gives the bytes of the local one, and refuses when no worker is left."""

import itertools
import os
import pickle
import signal
import time
import tracemalloc

import dask as dask_itself
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive
from anon_core.anonymizers.adaptive import farmed
from anon_core.anonymizers.adaptive.grouping import Grouping
from anon_core.anonymizers.adaptive.memory import farm_memory
from anon_core.engines import farm as dask
from anon_core.engines import local
from anon_core.errors import ClusterError, LimitError
from anon_core.search.nearest import NearestSearch
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from tests.observers import Seen
from tests.strategies import EPSILONS, tables
from tests.support.farms import LONGEST, MAKER, Cluster, Then, kill, spawned
from tests.support.large import big_table
from tests.support.masked import PAPER, kept
from tests.support.soaking import soak_after


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers that no test may harm."""
    yield (made := Cluster(tmp_path_factory.mktemp("dask"), 2))
    kill(*made.processes)


@pytest.fixture
def mortal(tmp_path):
    """Two workers that may die."""
    yield (made := Cluster(tmp_path, 2))
    kill(*made.processes)


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch):
    """A task for each 64 records."""
    monkeypatch.setattr(farmed, "BLOCKS_IN_GROUP", 1)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(dask, "PATIENCE", 1.0)


@pytest.fixture(scope="module")
def table():
    """It takes 32 tasks an iteration."""
    return big_table(2000, 9, 7)


@pytest.fixture(scope="module")
def expected(table):
    return kept(local.run(MAKER, table))


# ---------------------------------------------------------------- the same bytes


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(tables(), EPSILONS, st.sampled_from(["bits", "cells", "columns"]), st.booleans())
def test_small_tables(cluster, table, epsilon, weights, reclaim):
    maker = Adaptive(epsilon=epsilon, weights=weights, reclaim=reclaim, max_iterations=3)
    assert kept(cluster.run(table, maker)) == kept(local.run(maker, table))


SETTINGS = [
    {},
    PAPER,
    {"weights": "cells", "patience": 1},
    {"weights": "bits", "schedule": "fixed", "epsilon": 2.0},
    {"cover": "lse"},
    {"cover": "lse", "reclaim": False},
]


@pytest.mark.long
@pytest.mark.parametrize("chosen", SETTINGS, ids=str)
def test_settings(cluster, chosen):
    table, maker = big_table(700, 20, 5), Adaptive(**{"max_iterations": 4, **chosen})
    order = np.random.default_rng(1).permutation(700)
    assert kept(cluster.run(table, maker, tie_order=order)) == kept(
        local.run(maker, table, tie_order=order)
    )


@pytest.mark.slow
@pytest.mark.parametrize("workers", soak_after(1, [3, 1]))
def test_a_cluster_of_this_machine(table, expected, workers):
    assert kept(dask.run(MAKER, table, workers=workers)) == expected
    assert spawned() == []


def test_demands_of_all_kinds(cluster):
    rng = np.random.default_rng(6)
    k = np.where(np.arange(500) < 3, 500, rng.integers(1, 4, 500))
    table = encoding.from_bits(rng.integers(0, 2, (500, 30)), k)
    assert kept(cluster.run(table)) == kept(local.run(MAKER, table))
    alone = encoding.from_bits(rng.integers(0, 2, (500, 30)), np.ones(500, dtype=int))
    assert kept(cluster.run(alone)) == kept(local.run(MAKER, alone))


@pytest.mark.long
def test_a_run_goes_on_and_is_seen(cluster, table, expected):
    seen = Seen()
    assert kept(cluster.run(table, observer=seen)) == expected
    assert seen.records.count(2000) == len(seen.states) == 3
    for state in seen.states:
        assert kept(cluster.run(table, resume=state)) == expected
        assert kept(local.run(MAKER, table, resume=state)) == expected


@pytest.mark.parametrize("records", [1, 64, 65, 1023, 65_536, 8_000_000])
def test_tasks_are_groups_of_blocks_and_together_all_of_them(monkeypatch, records):
    monkeypatch.setattr(farmed, "BLOCKS_IN_GROUP", 16)
    chunks = farmed.cut_task_blocks(records)
    assert list(itertools.chain(*chunks)) == list(range(-(-records // 64)))
    assert len(chunks) <= farmed.SEARCH_TASKS
    assert all(len(blocks) % 16 == 0 for blocks in chunks[:-1])


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 300), st.integers(1, 5), st.randoms(use_true_random=False))
def test_what_parts_find_is_what_the_whole_finds(n, size, random):
    rng = np.random.default_rng(random.randrange(10**6))
    table = encoding.from_bits(rng.integers(0, 2, (n, 6)), rng.integers(1, n + 1, n))
    work = Grouping(table, Adaptive())
    search = NearestSearch.of(work.graph, work.tree, work.counts)
    whole = search.neighbours(work.b)
    for start in range(0, n, 64 * size):
        members = work.graph.layout[start : start + 64 * size]
        b = np.zeros_like(work.b)
        b[members] = work.b[members]
        part = search.neighbours(b)
        inside = np.repeat(np.isin(np.arange(n), members), work.b)
        assert (part.vertex == whole.vertex[inside]).all()
        assert (part.cost == whole.cost[inside]).all()


# ---------------------------------------------------------------- deaths


@pytest.mark.slow
@pytest.mark.parametrize("nth", soak_after(1, [5, 50]))
def test_a_worker_of_this_machine_is_killed(table, expected, nth):
    died = []

    def murder():
        died.append(spawned()[0])
        died[0].kill()

    assert kept(dask.run(MAKER, table, observer=Then(nth, murder))) == expected
    assert len(died) == 1


@pytest.mark.slow
def test_one_of_two_is_killed_and_nobody_takes_its_place(mortal, table, expected):
    assert kept(mortal.run(table, observer=Then(40, lambda: kill(mortal.workers[0])))) == expected


@pytest.mark.slow
def test_all_are_killed_and_another_comes(mortal, table, expected):
    def exchange():
        kill(*mortal.workers)
        mortal.worker()

    assert kept(mortal.run(table, observer=Then(40, exchange))) == expected
    assert "lose scattered data" in mortal.words


@pytest.mark.slow
def test_nobody_is_left(mortal, table, impatient):
    began = time.monotonic()
    with pytest.raises(
        ClusterError, match="no worker of the Dask cluster is left; give workers more memory"
    ) as refusal:
        mortal.run(table, observer=Then(40, lambda: kill(*mortal.workers)))
    assert refusal.value.__cause__ is None
    assert time.monotonic() - began < LONGEST


@pytest.mark.slow
def test_the_scheduler_is_killed(mortal, table, impatient):
    began = time.monotonic()
    with pytest.raises(ClusterError, match="the Dask cluster is gone; start it, then run again"):
        mortal.run(table, observer=Then(40, lambda: kill(mortal.scheduler)))
    assert time.monotonic() - began < LONGEST


@pytest.mark.slow
@pytest.mark.parametrize("allowed", soak_after(1, [0, 99]))
def test_blocks_that_kill_whoever_searches_them(table, monkeypatch, allowed):
    """Whether Dask gives up the task, loses what it reads, or starts no worker in time."""
    monkeypatch.setattr(farmed, "search_chunk", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    with (
        dask_itself.config.set({"distributed.scheduler.allowed-failures": allowed}),
        pytest.raises(
            ClusterError,
            match=r"Dask workers die again and again of the same blocks|no worker .* is left",
        ),
    ):
        dask.run(MAKER, table, workers=1)


def test_nobody_answers():
    with (
        dask_itself.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(
            ClusterError, match=r"no Dask scheduler answers as \[compute\] scheduler says"
        ),
    ):
        dask.run(MAKER, big_table(100, 3, 2), scheduler="tcp://127.0.0.1:9")


@pytest.mark.slow
@pytest.mark.parametrize("failures", soak_after(1, [3, 2, 1]))
def test_a_cluster_of_this_machine_is_started_again(table, expected, monkeypatch, failures):
    starts = iter(range(failures))
    start = dask.LocalCluster

    def fail_first(**arguments):
        if next(starts, None) is not None:
            raise RuntimeError("Cluster failed to start")
        return start(**arguments)

    monkeypatch.setattr(dask, "LocalCluster", fail_first)
    if failures < 3:
        assert kept(dask.run(MAKER, table, workers=1)) == expected
        return
    with pytest.raises(ClusterError, match="no Dask cluster starts on this machine, 3 attempts"):
        dask.run(MAKER, table, workers=1)


def test_workers_of_another_version_are_refused(cluster, table, monkeypatch):
    monkeypatch.setattr(dask, "source_hash", os.getpid)
    with pytest.raises(
        ClusterError, match="2 of 2 Dask workers do not have this version of anon_core"
    ):
        cluster.run(table)


def test_what_a_worker_raises_comes_as_it_is(cluster, table, monkeypatch):
    monkeypatch.setattr(farmed, "search_chunk", lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        cluster.run(table)


# ---------------------------------------------------------------- memory and words


def test_too_little_memory_is_refused_before_anything_starts(table):
    need = MAKER.memory(table)
    for options, most in (({"scheduler": "tcp://127.0.0.1:9"}, need), ({"workers": 3}, 4 * need)):
        with pytest.raises(LimitError, match=r"2000 records need .* are allowed"):
            dask.run(MAKER, table, memory=most, **options)
    with pytest.raises(LimitError, match="threads"):
        dask.run(MAKER, table, threads=10_000)


@pytest.mark.slow
def test_stated_memory_is_an_upper_bound(cluster):
    table = big_table(6000, 60, 7)
    local.run(MAKER, big_table(200, 3, 2))  # compiles
    cluster.run(big_table(200, 3, 2))
    tracemalloc.start()
    try:
        cluster.run(table)
        assert tracemalloc.get_traced_memory()[1] <= MAKER.memory(table) + farm_memory(table)
    finally:
        tracemalloc.stop()


def test_neither_texts_nor_numbers_of_records_are_told():
    """Dask writes what a task was given into its log when the task fails."""
    columns = {
        "Pcolumn": np.array([f"Pvillage{number % 9}Q" for number in range(300)], dtype=object)
    }
    book = encoding.fit([ColumnSpec(name="Pcolumn", kind="categorical")], columns)
    table = encoding.encode(book, columns, np.full(300, 3))
    assert b"Pvillage" in pickle.dumps(table)
    work = Grouping(table, Adaptive())
    ground = farmed.SearchGround(work.graph, work.counts, work.b)
    sent = pickle.dumps([ground, farmed.SearchChunk(range(1), work.b)])
    assert b"Pvillage" not in sent
    assert b"Pcolumn" not in sent
    assert repr(ground).startswith("<anon_core.anonymizers.adaptive.farmed.SearchGround object at")
    assert repr(farmed.SearchChunk(range(1), work.b)).startswith(
        "<anon_core.anonymizers.adaptive.farmed.SearchChunk object at"
    )
    assert (pickle.loads(sent)[0].counts == work.counts).all()
