"""How kernels are compiled, and how their work is spread over threads."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, wraps
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import njit

from anon_core.build import hash_packages

_One = TypeVar("_One")
_Other = TypeVar("_Other")
MOST_BESIDE = 2**21  # of a million poker hands two steps held 370 MB more than one
PIECES = 8  # per thread: pieces differ in work, and a thread that is done takes the next one


def _choose_cache_folder() -> str:
    """Return where numba keeps machine code: a folder for these sources and no others.

    numba looks at the file of a kernel only. A kernel that calls a changed one would stay as it
    was, and one that takes a type which was renamed could not be read, so an older version in the
    same place would end the first run.
    """
    package = Path(__file__).parents[1]
    own = package / "__pycache__" if os.access(package, os.W_OK) else "~/.cache/crowdcover"
    folder = Path(numba.config.CACHE_DIR or own).expanduser()  # type: ignore[attr-defined]
    return str(folder / f"kernels-{hash_packages('anon_core')[:16]}")


numba.config.CACHE_DIR = _choose_cache_folder()  # type: ignore[attr-defined]

# nogil frees the interpreter for other threads; cache keeps the machine code for later processes.
kernel = njit(cache=True, nogil=True, error_model="numpy")
# For a long kernel that one other kernel calls: numba compiles every other callee twice.
inlined = njit(inline="always", nogil=True, error_model="numpy")


def parallel_kernel(
    count: Callable[..., int],
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Compile work(begin, end, *arguments) and return a function of the arguments alone.

    The function calls the kernel on ranges that cover 0 .. count - 1, on as many threads as
    `numba.get_num_threads()` says. The ranges must be independent of each other.

    Parameters
    ----------
    count : callable
        Number of items to share out; it names those arguments of the kernel that it takes.

    Notes
    -----
    Threads of Python run a serial kernel that does not hold the interpreter lock. numba's own
    parallel loops compile each body twice: the kernels of one release took 66 s instead of 34 s.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        work = kernel(function)
        names = list(signature(function).parameters)[2:]
        places = [names.index(name) for name in signature(count).parameters]

        @wraps(function)
        def call(*arguments: Any) -> None:
            spread_work(work, count(*(arguments[place] for place in places)), *arguments)

        call.work = work  # type: ignore[attr-defined]  # its signatures say what was compiled
        return call

    return decorate


def spread_work(work: Callable[..., Any], count: int, *arguments: Any) -> None:
    """Call work(begin, end, *arguments) on ranges that cover 0 .. count - 1, on numba's threads.

    What `work` spreads in its turn takes no further threads, unless it is on the calling thread.
    """
    threads = min(numba.get_num_threads(), count)
    if threads <= 1:
        work(0, count, *arguments)
        return
    pieces = min(count, PIECES * threads)
    bounds = [piece * count // pieces for piece in range(pieces + 1)]
    turns = iter(range(pieces))  # shared: the interpreter lock makes `next` atomic
    helpers = [
        _build_pool().submit(_run_pieces, turns, work, bounds, arguments)
        for _ in range(threads - 1)
    ]
    try:
        _run_pieces(turns, work, bounds, arguments)
    finally:
        for _ in turns:  # after an error no thread takes another piece
            pass
        # Other callers may keep the pool busy: a helper that has not started is not waited for.
        for helper in [helper for helper in helpers if not helper.cancel()]:
            helper.result()


def call_both(
    one: Callable[[], _One], other: Callable[[], _Other], items: int
) -> tuple[_One, _Other]:
    """Return what two independent calls return; side by side if numba has two threads.

    For steps of one thread each that leave the interpreter to others: sorting, kernels, reading.
    `items`: of what each step holds bytes; of more than `MOST_BESIDE` both would hold too many.
    """
    if numba.get_num_threads() <= 1 or items > MOST_BESIDE:
        return one(), other()
    helper = _build_pool().submit(other)
    try:
        first = one()
    except BaseException:
        helper.cancel()
        raise
    # Other callers may keep the pool busy: a helper that has not started is not waited for.
    return first, other() if helper.cancel() else helper.result()


def _run_pieces(
    turns: Iterator[int], work: Callable[..., Any], bounds: list[int], arguments: tuple[Any, ...]
) -> None:
    for piece in turns:
        work(bounds[piece], bounds[piece + 1], *arguments)


@cache
def _build_pool() -> ThreadPoolExecutor:
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    return ThreadPoolExecutor(most, "kernel", numba.set_num_threads, (1,))


os.register_at_fork(after_in_child=_build_pool.cache_clear)  # threads do not survive a fork
