"""How a column has changed since an earlier table: new and lost categories, shifted shares."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.specs.columns import ColumnKind

_COUNTED = ("numeric", "date")
_PERCENTILES = np.arange(1, 100) / 100
_RARELY = 0.001


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What is stored of a column, to compare later tables with.

    Attributes
    ----------
    kind : {"numeric", "date", "categorical", "binary"}
    records : int
    missing : int
        Records without a value.
    steps : sequence of str or of float
        The categories, or the distinct percentiles of the numbers, increasing.
    counts : sequence of int
        Of categories: the records of each; 0 if only an earlier table had it. Of numbers: for each
        step, the records below it and those up to it.
    """

    kind: ColumnKind
    records: int
    missing: int
    steps: Sequence[Any] = field(repr=False)
    counts: Sequence[int] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Drift:
    """How a column has changed.

    Attributes
    ----------
    new, gone : int
        Categories that only the later table has, and those that only the earlier one had.
    new_records, gone_records : int
        Records of the later table with new categories, and of the earlier one with lost ones.
    shift : float
        The greatest change in the share of records that hold one category, or a number below or up
        to a percentile of the earlier table. Missing counts as a category, and as a number below
        all others.
    """

    new: int = 0
    new_records: int = 0
    gone: int = 0
    gone_records: int = 0
    shift: float


def summarize_column(kind: ColumnKind, values: NDArray[Any]) -> Profile:
    """Summarize a column.

    Parameters
    ----------
    kind : {"numeric", "date", "categorical", "binary"}
    values : float64 or object (n,)
        nan or None where a value is missing.
    """
    if kind in _COUNTED:
        present = np.sort(values[~np.isnan(values)])
        percentiles = (
            np.quantile(present, _PERCENTILES, method="inverted_cdf") if len(present) else present
        )
        steps = np.unique(percentiles).tolist()
        held, counts = len(present), _count_around_steps(steps, present)
    else:
        found = sorted(Counter(value for value in values.tolist() if value is not None).items())
        steps, counts = [name for name, _ in found], [number for _, number in found]
        held = sum(counts)
    return Profile(
        kind=kind,
        records=len(values),
        missing=len(values) - held,
        steps=tuple(steps),
        counts=tuple(counts),
    )


def measure_drift(before: Profile, values: NDArray[Any]) -> Drift:
    """Compare a column with the profile of an earlier one of the same kind.

    Notes
    -----
    The shift of numbers is the Kolmogorov-Smirnov distance on both sides of each percentile. A
    group's edge that is a quantile has moved past at most this share of the records, plus the
    percent between two percentiles.
    """
    now = summarize_column(before.kind, values)
    if before.kind in _COUNTED:
        counts = _count_around_steps(before.steps, np.sort(values[~np.isnan(values)]))
        # Missing counts as a number below all others: it raises each count, the leading 0 included.
        below = [
            [table.missing + count for count in (0, *of)]
            for table, of in ((before, before.counts), (now, counts))
        ]
        return Drift(shift=_compute_shift(before.records, below[0], now.records, below[1]))
    was, held = (dict(zip(table.steps, table.counts, strict=True)) for table in (before, now))
    new, gone = held.keys() - was.keys(), {name for name in was if was[name] and name not in held}
    names = was.keys() | held.keys()
    each = [
        [table.missing, *(of.get(name, 0) for name in names)]
        for table, of in ((before, was), (now, held))
    ]
    return Drift(
        new=len(new),
        new_records=sum(held[name] for name in new),
        gone=len(gone),
        gone_records=sum(was[name] for name in gone),
        shift=_compute_shift(before.records, each[0], now.records, each[1]),
    )


def by_chance(n: int, m: int) -> float:
    """The shift that two random tables of one population exceed once in a thousand times.

    The tables have n and m records.

    Notes
    -----
    The bound of the two-sample Kolmogorov-Smirnov test for large tables. It is conservative for
    categories and ties.
    """
    return math.sqrt(-math.log(_RARELY / 2) / 2 * (1 / n + 1 / m))


def add_earlier_categories(table: Profile, earlier: Profile) -> Profile:
    """Add the categories of a still earlier table, so that they are not new when they return."""
    if table.kind in _COUNTED or table.kind != earlier.kind:
        return table
    names = [name for name in earlier.steps if name not in set(table.steps)]
    return replace(table, steps=(*table.steps, *names), counts=(*table.counts, *(0 for _ in names)))


def _count_around_steps(steps: Sequence[float], ordered: NDArray[np.float64]) -> list[int]:
    """Count, for each step, the numbers below it and those up to it."""
    counts = [
        np.searchsorted(ordered, np.array(steps, dtype=np.float64), side=side)
        for side in ("left", "right")
    ]
    return [int(count) for count in np.stack(counts, axis=1).ravel()]


def _compute_shift(n: int, earlier: Sequence[int], m: int, later: Sequence[int]) -> float:
    """The greatest difference of two shares, exact but for one division.

    1 where one table has no records and the other has some; 0 where neither has.
    """
    if not n or not m:
        return float(n != m)
    return max(abs(a * m - b * n) for a, b in zip(earlier, later, strict=True)) / (n * m)
