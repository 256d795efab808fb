"""One round of assignments: each segment by itself, on threads."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.freeform.assignment_kernels import assign_least
from anon_core.anonymizers.freeform.freeform_kernels import (
    ListedLevels,
    RowHolders,
    all_increases,
    greedy_round,
    lightest_first,
)
from anon_core.anonymizers.freeform.settings import SegmentMethod
from anon_core.jit.kernel import spread_work

Starts = NDArray[np.int64]


def find_segment_starts(records: int, length: int) -> Starts:
    """Where each segment begins, and the end; the last one takes the rest. Length 0: one."""
    number = max(1, records // length if length else 1)
    starts = np.arange(number + 1, dtype=np.int64) * length
    starts[-1] = records
    return starts


def assign_segments(
    method: SegmentMethod,
    starts: Starts,
    done: int,
    space: RowHolders,
    report: Callable[[int], None],
) -> None:
    """Do a round on the threads of this process: fill in holder[done], and report the records."""

    def work(begin: int, end: int) -> None:
        for first, last in zip(starts[begin:end], starts[begin + 1 : end + 1], strict=True):
            space.holder[done, first:last] = first + assign_rows(
                method, done, cut_segment(space, first, last)
            )

    spread_work(work, len(starts) - 1)
    report(len(space.most))


def cut_segment(space: RowHolders, first: int, end: int) -> RowHolders:
    """Return the records first .. end - 1, who hold rows of each other only, numbered from 0."""
    rows = {
        name: getattr(space.cells, name)[first:end] for name in ("codes", "low", "high", "member")
    }
    holder = np.ascontiguousarray(space.holder[:, first:end])
    # -1 stands in the rounds that are still to come.
    holder[holder >= 0] -= first
    return RowHolders(space.cells._replace(**rows), holder, space.most[first:end])


def assign_rows(method: SegmentMethod, done: int, space: RowHolders) -> NDArray[np.int32]:
    """Return the record that takes each row in round `done`, int32 (n,)."""
    n = len(space.most)
    row_of = np.full(n, -1, dtype=np.int64)
    if method == "greedy":
        greedy_round(done, row_of, space)
    else:
        costs = compute_increases(done, space)
        if method == "hungarian":
            record_of = np.empty_like(row_of)
            assign_least(costs, row_of, record_of)
            space.holder[done] = record_of
        else:
            pairs = np.argsort(costs, axis=None, kind="stable")
            lightest_first(pairs, costs, done, row_of, space)
    assert (row_of >= 0).all()  # there is an assignment, see `Freeform`
    holder: NDArray[np.int32] = space.holder[done]
    return holder


def compute_increases(done: int, space: RowHolders) -> NDArray[np.int64]:
    """What row r loses more if record v holds it in round `done`, int64 (n, n) at [v, r].

    PROHIBITIVE_LOSS where it may not.
    """
    costs = np.empty((len(space.most), len(space.most)), dtype=np.int64)
    all_increases(costs, done, *_list_levels(space.cells.codes), space)
    return costs


def _list_levels(codes: NDArray[np.int32]) -> tuple[ListedLevels, NDArray[np.int64]]:
    """The levels of records, int32 (n, attributes), and which of them each has, of its shape."""
    found = [np.unique(column, return_inverse=True) for column in codes.T]
    counts = [len(level) for level, _ in found]
    starts = np.cumsum([0, *counts[:-1]])
    listed = ListedLevels(
        np.repeat(np.arange(len(found)), counts), np.concatenate([level for level, _ in found])
    )
    return listed, np.stack([place for _, place in found], axis=1) + starts
