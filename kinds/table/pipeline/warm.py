"""Compile the kernels of a table's release beside other work: on a thread, or in a process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from anon_core.tables.records import BinaryTable
    from crowdcover.kinds.base import Listener

COMPILING = "compiling for this machine, once (about a minute)"
COMPILING_NOTICE = f"crowdcover: {COMPILING}"
RECORDS, _K = 96, 5  # large enough that a release of it calls every kernel


@contextmanager
def compile_in_background(tell: "Listener") -> Iterator[None]:
    """Compile on a thread while the block runs, unless this machine has compiled before.

    numba keeps the machine code for later processes. `tell` hears that this run compiles. When the
    block ends, the thread stops after its present step.
    """
    stopped = Event()
    thread = Thread(target=_compile_kernels, args=(stopped, tell), name="compile", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


@contextmanager
def compile_judge_beside() -> Iterator[None]:
    """Compile the auditor's kernels in a process while the block runs, and wait for it.

    Nothing is done if this machine has compiled before. The block compiles the makers' kernels on
    its data; numba keeps the interpreter while it compiles, so a thread would gain nothing.
    """
    if has_compiled_kernels():
        yield
        return
    sys.stderr.write(COMPILING_NOTICE + "\n")
    # Where it fails, the auditor compiles when it is called.
    with subprocess.Popen(  # noqa: S603 - this program
        [sys.executable, "-m", __name__],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield
        except BaseException:
            process.terminate()
            raise


def has_compiled_kernels() -> bool:
    """Whether numba's cache holds the kernel that `compile_judge` compiles last."""
    from anon_core.measures.table.attackers.attacks_kernels import expect_records as kernel

    # A cache older than its source is of other code, which numba compiles again.
    source = Path(kernel.py_func.__code__.co_filename).stat().st_mtime
    folder = Path(kernel.stats.cache_path or "")
    caches = folder.glob(f"*.{kernel.py_func.__name__}-*.nbi")
    return any(cache.stat().st_mtime > source for cache in caches)


def _compile_kernels(stopped: Event, tell: "Listener") -> None:
    if has_compiled_kernels():
        return
    tell(COMPILING)
    table = tiny_table()
    for step in (compile_makers, compile_judge):
        # numba cannot be interrupted, so a thread is stopped between steps only.
        if not stopped.is_set():
            step(table)


def tiny_table() -> "BinaryTable":
    """A random table of one ordinal, one one-hot and one binary attribute."""
    import numpy as np

    from anon_core.specs.columns import ColumnSpec
    from anon_core.tables.encoding import encode, fit

    draw = np.random.default_rng(0)
    labels = np.array(list("abcd"), dtype=object)
    columns = {
        "number": draw.integers(0, 9, RECORDS).astype(np.float64),
        "set": labels[draw.integers(0, 4, RECORDS)],
        "flag": labels[draw.integers(0, 2, RECORDS)],
    }
    specs = [
        ColumnSpec(name="number", kind="numeric", encoding="ordinal"),
        ColumnSpec(name="set", kind="categorical"),
        ColumnSpec(name="flag", kind="binary"),
    ]
    return encode(fit(specs, columns), columns, np.full(RECORDS, _K))


def compile_makers(table: "BinaryTable") -> None:
    """Call every kernel that hides cells and draws the matching."""
    import numpy as np

    from anon_core.anonymizers import LocalSearch
    from anon_core.anonymizers.weights import feature_weights
    from anon_core.engines import local
    from anon_core.seating.even import build_even_rows
    from anon_core.seating.matching import draw_by_holders, random_matching

    draw = np.random.default_rng(0)

    def words(count: int) -> "NDArray[np.uint32]":
        """Read-only as secret words are, which makes a signature of its own."""
        return np.frombuffer(draw.bytes(4 * count), dtype=np.uint32)

    ties = draw.permutation(table.records)
    # `made` ends as the one without holders: `random_matching` then chooses the chances itself.
    for seats in ("even", "matchable"):
        made = local.run(LocalSearch(seats=seats), table, threads=1, tie_order=ties)
    random_matching(made, words)
    # Rows that hide nothing must be widened.
    even = build_even_rows(
        table, np.zeros_like(table.bits), feature_weights(table.codebook, "columns")
    )
    draw_by_holders(table, even.holders, words)


def compile_judge(table: "BinaryTable") -> None:
    """Call every kernel of an audit, on a release of the table that hides nothing."""
    import numpy as np

    from anon_core.measures.table import crowds, diversity
    from anon_core.measures.table.attackers import attacks
    from anon_core.measures.table.classes import Classes, ReleasedCells
    from anon_core.measures.table.least_loss import bound_least_loss

    shown = [np.eye(attribute.levels, dtype=np.bool_) for attribute in table.codebook.attributes]
    released = ReleasedCells.of(list(zip(table.codes, shown, strict=True)))
    seat, classes = np.arange(table.records), Classes.of(table.codes, released)
    components = crowds.components_of(released, classes, seat)
    crowds.crowds(table.codes, table.k, released, seat, classes, components)
    crowds.records_per_row(classes)
    ordinal, levels = table.codebook.ordinal, released.level_counts.tolist()
    bound_least_loss(classes, table.k, ordinal, levels)
    diversity.measure_diversity(classes, table.codes[0].astype(np.int64), ordered=False)
    attacks.partial_linkage(released, classes)
    attacks.attack_as_insider(classes, components, attacks.tightest_rows(released, classes))


if __name__ == "__main__":
    compile_judge(tiny_table())
