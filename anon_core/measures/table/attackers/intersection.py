"""Attack (d): compare releases that show the same people."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from anon_core.measures.table.attackers.intersection_kernels import (
    exclude_differing_rows,
    list_crowds,
)
from anon_core.measures.table.classes import (
    Classes,
    index_distinct_columns,
    list_distinct_items,
)
from anon_core.measures.table.crowds import count_rows

VALUES_AT_ONCE = 2**22  # values listed at a time


@dataclass(frozen=True)
class ReleaseRows:
    """One of the releases.

    Attributes
    ----------
    classes : Classes
        Classes of its source records, as encoded for it, and of its rows.
    carried : mapping of str to int64 (rows,)
        Sensitive and kept columns; a number means the same value in all releases.
    """

    classes: Classes
    carried: Mapping[str, NDArray[np.int64]]


def crowds_left(releases: Sequence[ReleaseRows], record: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the rows of a person that an attacker cannot exclude.

    The attacker knows in which of the releases the person is.

    Parameters
    ----------
    releases : sequence of ReleaseRows
    record : int64 (releases, persons)
        Record of each person in each release; -1: none.

    Returns
    -------
    int64 (releases, persons)
        Rows left of each person's crowd; -1 if the person is not in the release.

    Notes
    -----
    The attacker knows a person's quasi-identifiers as encoded for each release. A row of release A
    stays in the crowd iff the person fits it and every other release B that shows the person has a
    row that stays and agrees with it in all columns that both A and B carry. Rows are excluded
    until no further row goes. If all releases carry the same columns, or the shared columns form no
    cycle, this is the joint condition: one row per release, and all of them agree.
    """
    merged = [
        np.where(of >= 0, shown.classes.record_class[of], -1)
        for shown, of in zip(releases, record, strict=True)
    ]
    # People who are equal in every release have equal crowds: each kind is compared once.
    kind, first = index_distinct_columns(merged)
    persons = np.stack([each[first] for each in merged]).astype(np.int64)
    values = [_number_values(shown.carried, len(shown.classes.row_class)) for shown in releases]
    link = _number_links(releases, values)
    # Values of each class of rows, and how many rows have them.
    rows = [
        list_distinct_items(shown.classes.row_class, of, shown.classes.cell.shape[1])
        for shown, (of, _) in zip(releases, values, strict=True)
    ]
    sizes = np.stack(
        [
            _count_crowd_values(shown.classes, lists[0], of)
            for shown, lists, of in zip(releases, rows, persons, strict=True)
        ]
    )
    offsets = np.cumsum([0] + [len(which) for _, which in values])
    left = np.empty(persons.shape, dtype=np.int64)
    for some in _cut_portions(sizes):
        left[:, some] = _count_rows_left(
            releases, rows, persons[:, some], sizes[:, some], offsets, link
        )
    return left[:, kind]


def _count_rows_left(
    releases: Sequence[ReleaseRows],
    rows: Sequence[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]],
    persons: NDArray[np.int64],
    sizes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    link: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Return the rows left of the crowds of a portion of people, int64 (releases, persons)."""
    begin = np.zeros((len(releases), sizes.shape[1] + 1), dtype=np.int64)
    begin[:, 1:] = np.cumsum(sizes).reshape(sizes.shape)
    begin[1:, 0] = begin[:-1, -1]
    listed, count = np.empty((2, int(sizes.sum())), dtype=np.int64)
    for shown, (start, value, number), of, at, offset in zip(
        releases, rows, persons, begin, offsets, strict=False
    ):
        list_crowds(
            shown.classes.level_index, shown.classes.bitmap, start, value + offset, number, of,
            at[:-1], listed, count,
        )  # fmt: skip
    crowd = np.empty(sizes.shape, dtype=np.int64)
    exclude_differing_rows(
        begin, persons >= 0, listed, count, link, int(link.max()) + 1, get_num_threads(), crowd
    )
    return crowd


def _number_values(
    carried: Mapping[str, NDArray[np.int64]], rows: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number the carried values of each row, all columns together; return a row of each number."""
    columns = [carried[name] for name in sorted(carried)]
    # Without carried columns all rows have one value: a column of zeros says so.
    return index_distinct_columns([*columns, np.zeros(rows, dtype=np.int64)])


def _number_links(
    releases: Sequence[ReleaseRows], values: Sequence[tuple[NDArray[np.int32], NDArray[np.int64]]]
) -> NDArray[np.int32]:
    """Number the values of each release within the columns that it shares with another one."""
    offsets = np.cumsum([0] + [len(which) for _, which in values])
    link = np.zeros((len(releases), int(offsets[-1])), dtype=np.int32)
    for one in range(len(releases)):
        for other in range(one):
            # Releases that share no column agree everywhere: the zeros below link all their values.
            common = sorted(releases[one].carried.keys() & releases[other].carried.keys())
            parts = [
                np.stack(
                    [
                        *(releases[at].carried[name][values[at][1]] for name in common),
                        np.zeros_like(values[at][1]),
                    ]
                )
                for at in (one, other)
            ]
            number, _ = index_distinct_columns(np.concatenate(parts, axis=1))
            link[other, offsets[one] : offsets[one + 1]] = number[: parts[0].shape[1]]
            link[one, offsets[other] : offsets[other + 1]] = number[parts[0].shape[1] :]
    return link


def _count_crowd_values(
    classes: Classes, start: NDArray[np.int64], record: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Number of values listed for the crowd of each person; 0 if the person is not there."""
    found = count_rows(classes, np.diff(start))
    return np.where(record >= 0, found[record], 0)


def _cut_portions(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Cut the persons into portions with short lists; the list of one person is never cut."""
    ends = np.cumsum(sizes.sum(axis=0))
    at = 0
    while at < len(ends):
        before = int(ends[at - 1]) if at else 0
        end = max(at + 1, int(np.searchsorted(ends, before + VALUES_AT_ONCE, side="right")))
        yield slice(at, end)
        at = end
