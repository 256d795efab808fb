"""The local engine keeps its promises about threads and memory."""

import dataclasses

import numba
import numpy as np
import pytest

from anon_core.anonymizers import Adaptive
from anon_core.engines import local
from anon_core.errors import LimitError
from anon_core.specs.columns import ColumnSpec
from anon_core.steps import Observer
from anon_core.tables import encoding
from tests.observers import Seen
from tests.support.large import big_table, traced
from tests.support.masked import kept


@pytest.mark.parametrize(("levels", "k"), [(3, 40), (60, 2)])
def test_stated_memory_is_an_upper_bound(levels, k):
    table = big_table(6000, levels, k)
    maker = Adaptive(max_iterations=3)
    maker.anonymize(big_table(200, 3, 2))  # compiles
    _, peak = traced(lambda: maker.anonymize(table))
    assert peak <= maker.memory(table)
    assert maker.memory(table) <= 3 * peak


def test_stated_memory_is_an_upper_bound_for_a_run_that_goes_on():
    table = big_table(6000, 3, 40)
    maker, seen = Adaptive(max_iterations=3), Seen()
    whole = local.run(maker, table, observer=seen)
    again, peak = traced(lambda: local.run(maker, table, resume=seen.states[0]))
    assert kept(again) == kept(whole)
    assert peak <= maker.memory(table)


def test_the_lists_of_one_who_hides_among_all_are_stated_for_each_thread_at_work():
    table, before = big_table(500, 3, 2), numba.get_num_threads()
    alone = dataclasses.replace(table, k=np.where(np.arange(500) == 7, 500, 2).astype(np.int32))
    added = {}
    for threads in {1, before}:
        numba.set_num_threads(threads)
        added[threads] = Adaptive().memory(alone) - Adaptive().memory(table)
    numba.set_num_threads(before)
    assert added[1] >= 64 * 2 * 498 * 8  # a block of lists with room for twice as many
    assert added[before] >= min(before, 8) * 64 * 2 * 498 * 8


def test_stated_memory_is_an_upper_bound_where_few_ask_for_many():
    """Every list entry is an edge of its own, and reclaiming fills all its lists."""
    rng = np.random.default_rng(4)
    k = np.where(np.arange(4000) < 300, 900, 1)
    table = encoding.from_bits(rng.integers(0, 2, (4000, 12)), k)
    maker = Adaptive(max_iterations=3)
    maker.anonymize(big_table(200, 3, 2))  # compiles
    _, peak = traced(lambda: maker.anonymize(table))
    assert peak <= maker.memory(table)


def test_stated_memory_is_an_upper_bound_where_levels_are_many_and_records_few():
    """Costs are made for whole blocks of 64 records, by each thread in room of its own."""
    rng = np.random.default_rng(5)
    columns = {f"c{a}": rng.permutation(129).astype(float) for a in range(60)}
    specs = [ColumnSpec(name=name, kind="numeric") for name in columns]
    table = encoding.encode(encoding.fit(specs, columns), columns, np.full(129, 2))
    maker = Adaptive(max_iterations=2)
    maker.anonymize(big_table(200, 3, 2))  # compiles
    _, peak = traced(lambda: maker.anonymize(table))
    assert peak <= maker.memory(table)


def test_a_plan_that_cannot_fit_is_refused_before_it_starts():
    table = big_table(500, 3, 2)
    seen = Seen()
    with pytest.raises(LimitError, match=r"500 records need .* [KM]iB, .* are allowed"):
        local.run(Adaptive(), table, memory=1000, observer=seen)
    assert seen.states == []


def test_threads_are_set_and_given_back():
    class Threads(Observer):
        def on_step(self, state):
            during.add(numba.get_num_threads())

    table, before, during = big_table(300, 3, 2), numba.get_num_threads(), set()
    one = local.run(Adaptive(), table, threads=1, observer=Threads())
    assert during == {1}
    assert numba.get_num_threads() == before
    assert (local.run(Adaptive(), table).hidden == one.hidden).all()
    with pytest.raises(LimitError, match="threads"):
        local.run(Adaptive(), table, threads=10_000)


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (2**10, "1 KiB"),
        (1_500_000, "1.431 MiB"),
        (2**33, "8 GiB"),
    ],
)
def test_sizes_never_round_to_nothing(size, words):
    assert local.in_units(size) == words
