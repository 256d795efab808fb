"""A parallel kernel covers its items once each, whatever the threads."""

import threading

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.jit import kernel
from anon_core.jit.kernel import parallel_kernel


@parallel_kernel(lambda counts: len(counts))
def visit(begin, end, step, counts):
    for item in range(begin, end):
        counts[item] += step


@pytest.fixture
def two_threads():
    before = numba.get_num_threads()
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    yield
    numba.set_num_threads(before)


@given(st.integers(0, 200), st.integers(1, 3))
def test_every_item_is_visited_once(size, step):
    counts = np.zeros(size, dtype=np.int64)
    visit(step, counts)
    assert (counts == step).all()


@given(st.integers(2, 200), st.integers(2, 9))
def test_pieces_cover_the_items_in_order(count, threads):
    pieces, lock = [], threading.Lock()

    def work(begin, end):
        with lock:
            pieces.append((begin, end))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba, "get_num_threads", lambda: threads)
        kernel.spread_work(work, count)
    pieces.sort()
    assert [begin for begin, _ in pieces[1:]] == [end for _, end in pieces[:-1]]
    assert (pieces[0][0], pieces[-1][1]) == (0, count)
    assert len(pieces) == min(count, kernel.PIECES * min(threads, count))


@pytest.mark.usefixtures("two_threads")
def test_an_error_ends_the_work_and_reaches_the_caller():
    def work(begin, _end):
        if begin == 0:
            raise MemoryError

    with pytest.raises(MemoryError):
        kernel.spread_work(work, 100)


@pytest.mark.usefixtures("two_threads")
def test_helpers_spread_no_further():
    threads = numba.get_num_threads()
    all_here, seen = threading.Barrier(threads), {}

    def work(_begin, _end):
        if threading.get_ident() not in seen:
            seen[threading.get_ident()] = numba.get_num_threads()
            all_here.wait(60)

    kernel.spread_work(work, 100)
    assert seen.pop(threading.get_ident()) == threads
    assert list(seen.values()) == [1] * (threads - 1)


def test_the_count_names_arguments_of_the_kernel():
    with pytest.raises(ValueError, match="rows"):
        parallel_kernel(lambda rows: len(rows))(lambda begin, end, counts: None)


@pytest.mark.usefixtures("two_threads")
def test_two_calls_run_side_by_side():
    met = threading.Barrier(2, timeout=20)

    def meet(result):
        return met.wait() + 1 and result

    assert kernel.call_both(lambda: meet("one"), lambda: meet("other"), 2) == ("one", "other")


@pytest.mark.parametrize(("threads", "items"), [(1, 2), (2, kernel.MOST_BESIDE + 1)])
def test_one_thread_or_many_items_are_called_one_after_the_other(monkeypatch, threads, items):
    monkeypatch.setattr(numba, "get_num_threads", lambda: threads)
    caller, began = threading.get_ident(), []

    def note(result):
        assert threading.get_ident() == caller
        began.append(result)
        return result

    assert kernel.call_both(lambda: note(1), lambda: note(2), items) == (1, 2)
    assert began == [1, 2]


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("place", [0, 1])
def test_an_error_of_either_call_reaches_the_caller(place):
    def fail():
        raise MemoryError

    calls = [lambda: 1, lambda: 1]
    calls[place] = fail
    with pytest.raises(MemoryError):
        kernel.call_both(*calls, 2)
