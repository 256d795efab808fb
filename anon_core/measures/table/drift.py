"""How far a column has moved since an earlier table: categories that come and go, shares that change."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.tables.records import Kind

COUNTED = ("numeric", "date")
PERCENTILES = np.arange(1, 100) / 100
RARELY = 0.001


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What is remembered of a column, for later tables to be compared with.

    Attributes
    ----------
    kind : {"numeric", "date", "categorical", "binary"}
    records : int
    missing : int
        Records without a value.
    steps : sequence of str or of float
        The categories, or the distinct percentiles of the numbers, increasing.
    counts : sequence of int
        Records of each category, 0 of one that is only known from before; of numbers, for each step the records below it
        and those up to it.
    """

    kind: Kind
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
        Categories of the later table that were not known, and those that only the earlier one had.
    new_records, gone_records : int
        Records of the later table that hold new ones, and of the earlier one that held those which are gone.
    shift : float
        The greatest change in the share of records that hold one category, or a number below or up to a percentile of the
        earlier table. Missing is a category here, and lies below all numbers.
    """

    new: int = 0
    new_records: int = 0
    gone: int = 0
    gone_records: int = 0
    shift: float


def profile(kind: Kind, values: NDArray[Any]) -> Profile:
    """Remember a column.

    Parameters
    ----------
    kind : {"numeric", "date", "categorical", "binary"}
    values : float64 or object (n,)
        As for `encoding.fit`: nan or None where a value is missing.
    """
    if kind in COUNTED:
        present = np.sort(values[~np.isnan(values)])
        percentiles = (
            np.quantile(present, PERCENTILES, method="inverted_cdf") if len(present) else present
        )
        steps = np.unique(percentiles).tolist()
        held, counts = len(present), _around(steps, present)
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


def drift(before: Profile, values: NDArray[Any]) -> Drift:
    """Compare a column with what is remembered of an earlier one of the same kind.

    Notes
    -----
    The shift of numbers is the Kolmogorov-Smirnov distance, taken on both sides of each percentile: a group's edge that is
    a quantile has moved past no larger share of the records, to within the percent that lies between two percentiles.
    """
    now = profile(before.kind, values)
    if before.kind in COUNTED:
        counts = _around(before.steps, np.sort(values[~np.isnan(values)]))
        below = [
            [table.missing + count for count in (0, *of)]
            for table, of in ((before, before.counts), (now, counts))
        ]
        return Drift(shift=_shift(before.records, below[0], now.records, below[1]))
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
        shift=_shift(before.records, each[0], now.records, each[1]),
    )


def by_chance(n: int, m: int) -> float:
    """The shift that two random tables of n and m records from one population pass once in a thousand times.

    Notes
    -----
    The two-sample Kolmogorov-Smirnov test's bound for large tables; for categories and ties it is on the safe side.
    """
    return math.sqrt(-math.log(RARELY / 2) / 2 * (1 / n + 1 / m))


def knowing(table: Profile, earlier: Profile) -> Profile:
    """The same with the categories of a still earlier table, which are not new when they come back."""
    if table.kind in COUNTED or table.kind != earlier.kind:
        return table
    names = [name for name in earlier.steps if name not in set(table.steps)]
    return replace(table, steps=(*table.steps, *names), counts=(*table.counts, *(0 for _ in names)))


def _around(steps: Sequence[float], ordered: NDArray[np.float64]) -> list[int]:
    """For each step how many numbers lie below it and how many do not lie above it."""
    counts = [
        np.searchsorted(ordered, np.array(steps, dtype=np.float64), side=side)
        for side in ("left", "right")
    ]
    return [int(count) for count in np.stack(counts, axis=1).ravel()]


def _shift(n: int, earlier: Sequence[int], m: int, later: Sequence[int]) -> float:
    """The greatest difference of two shares, exact up to the division."""
    return max(abs(a * m - b * n) for a, b in zip(earlier, later, strict=True)) / (n * m)
