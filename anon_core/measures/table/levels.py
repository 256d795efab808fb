"""The levels of each quasi-identifier, computed from the source for the audit.

The makers have an encoder of their own. Nothing of it is used here, so a fault in it makes the two
codebooks differ. Plain Python over distinct values: slow is fine, the audit counts crowds for much
longer.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, isfinite
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec, Kind

MISSING = "(missing)"
EXACT = 2**53  # whole numbers below it are written without a decimal point


@dataclass(frozen=True, kw_only=True)
class Levels:
    """The levels of one quasi-identifier.

    Attributes
    ----------
    name : str
    kind : {"numeric", "date", "categorical", "binary"}
    ordinal : bool
        Whether masked cells are intervals instead of value sets.
    labels : tuple of str
        The text of each level. Level 0 means that the value is missing where `has_missing`.
    has_missing : bool
    hide_missing : bool
        Whether the cell of a record without a value must be fully masked.
    grouped : bool
        Whether a level is a group of numbers.
    edges : tuple of float
        Inner edges of the groups: group g holds edges[g - 1] < number <= edges[g].
    numbers : tuple of float
        What each level but the missing one stands for: a group's median, or the number itself.
    weight : float
    """

    name: str
    kind: Kind
    ordinal: bool
    labels: tuple[str, ...] = field(repr=False)
    has_missing: bool = False
    hide_missing: bool = False
    grouped: bool = False
    edges: tuple[float, ...] = field(default=(), repr=False)
    numbers: tuple[float, ...] = field(default=(), repr=False)
    weight: float = 1.0

    @property
    def features(self) -> int:
        """Number of bits: one per level, or one per step of a thermometer."""
        return len(self.labels) - self.ordinal


def source_levels(
    specs: Sequence[ColumnSpec], columns: Mapping[str, NDArray[Any]]
) -> tuple[tuple[Levels, ...], NDArray[np.int32]]:
    """Find the levels of every column, and those of every record.

    Parameters
    ----------
    specs : sequence of ColumnSpec
    columns : mapping of str to ndarray
        Of the records that are released. float64 with nan for missing (numeric, date), object
        arrays of str with None for missing (categorical, binary); all of one length n.

    Returns
    -------
    levels : tuple of Levels
    level : int32 (attributes, n)
        Level of each record in each attribute.

    Raises
    ------
    InputError
        The source breaks what the plan states, or no column has two levels.
    """
    found = [column_levels(spec, columns[spec.name]) for spec in specs]
    if not any(levels.features for levels, _ in found):
        raise InputError("no quasi-identifier has more than one value: there is nothing to audit")
    return tuple(levels for levels, _ in found), np.stack([level for _, level in found])


def without_missing(
    specs: Sequence[ColumnSpec], columns: Mapping[str, NDArray[Any]], records: int
) -> NDArray[np.bool_]:
    """Which records have a value in every column whose rule is to drop others, bool (records,)."""
    stays = np.ones(records, dtype=np.bool_)
    for spec in specs:
        if spec.missing == "drop":
            stays &= ~_absent(columns[spec.name])
    return stays


def column_levels(spec: ColumnSpec, values: NDArray[Any]) -> tuple[Levels, NDArray[np.int32]]:
    """Find the levels of one column, and the level of each record, int32 (n,)."""
    absent = _absent(values)
    if spec.missing == "refuse" and absent.any():
        raise InputError(
            f"column {spec.name!r} has {int(absent.sum())} missing values and the plan refuses them"
        )
    shift = int(absent.any())
    level = np.zeros(len(values), dtype=np.int32)
    edges: list[float] = []
    numbers: list[float] = []
    if spec.kind in ("numeric", "date"):
        distinct, of_distinct, times = np.unique(
            values[~absent].astype(np.float64), return_inverse=True, return_counts=True
        )
        edges, numbers, group = _number_groups(spec, distinct.tolist(), times.tolist())
        labels = [_number_text(spec.kind, number) for number in numbers]
        level[~absent] = shift + np.array(group, dtype=np.int32)[of_distinct]
    else:
        labels = _categories(spec, set(values[~absent].tolist()))
        place = {label: shift + position for position, label in enumerate(labels)}
        level[~absent] = [place[value] for value in values[~absent].tolist()]
    return Levels(
        name=spec.name,
        kind=spec.kind,
        ordinal=spec.kind == "binary" or spec.encoding == "ordinal",
        labels=(*[MISSING] * shift, *labels),
        has_missing=bool(shift),
        hide_missing=bool(shift) and spec.missing == "all-hidden" and bool(labels),
        grouped=spec.bins is not None,
        edges=tuple(edges),
        numbers=tuple(numbers),
        weight=spec.weight,
    ), level


def _absent(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Missing values: nan differs from itself, and only None is None."""
    if values.dtype == np.float64:
        return np.asarray(values != values, dtype=np.bool_)  # noqa: PLR0124
    return np.fromiter((value is None for value in values), dtype=np.bool_, count=len(values))


def _number_groups(
    spec: ColumnSpec, distinct: list[float], times: list[int]
) -> tuple[list[float], list[float], list[int]]:
    """Inner edges, what each level stands for, and the level of each distinct number (rising)."""
    if not all(isfinite(number) for number in distinct):
        raise InputError(f"column {spec.name!r} has infinite values")
    if spec.bins is None:
        return [], distinct, list(range(len(distinct)))
    stated = (
        _quantiles(distinct, times, spec.bins) if isinstance(spec.bins, int) else list(spec.bins)
    )
    cell = [bisect_left(stated, number) for number in distinct]
    filled = {place: group for group, place in enumerate(sorted(set(cell)))}
    # An empty group joins the next one, so only upper edges of filled groups remain.
    edges = [stated[place] for place in [*filled][:-1]]
    group = [filled[place] for place in cell]
    members: list[list[float]] = [[] for _ in filled]
    for number, count, place in zip(distinct, times, group, strict=True):
        members[place] += [number] * count
    return edges, [median(each) for each in members], group


def _quantiles(distinct: list[float], times: list[int], groups: int) -> list[float]:
    """The least numbers that reach the shares 1/groups, 2/groups ..., each once.

    A share times the number of records is a float64, as in numpy's "inverted_cdf".
    """
    if not distinct:
        return []
    up_to = np.cumsum(times).tolist()
    ranks = [max(1, ceil(up_to[-1] * (part / groups))) for part in range(1, groups)]
    return sorted({distinct[bisect_left(up_to, rank)] for rank in ranks})


def _number_text(kind: str, number: float) -> str:
    """A date in ISO form, a whole number below 2**53 without a point, others as Python's repr."""
    if kind == "date":
        day = np.timedelta64(int(number // 1), "D")
        return str(np.datetime_as_string(np.datetime64("1970-01-01") + day))
    return str(int(number)) if number % 1 == 0 and -EXACT < number < EXACT else repr(number)


def _categories(spec: ColumnSpec, present: set[str]) -> list[str]:
    """The values that occur, in the plan's order, or else in that of their text."""
    if spec.kind == "binary" and len(present) > 2:
        raise InputError(f"column {spec.name!r} is binary but has {len(present)} distinct values")
    if not spec.order:
        return sorted(present)
    strays = len(present.difference(spec.order))
    if strays:
        raise InputError(f"column {spec.name!r} has {strays} values that 'order' does not name")
    return [label for label in spec.order if label in present]
