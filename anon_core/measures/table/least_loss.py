"""How little any release of the same records can lose."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.mixing import mix_bits
from anon_core.measures.table.classes import Classes
from anon_core.measures.table.least_loss_kernels import find_cheapest_boxes

SAMPLE = 200
MOST_CLASSES = 2**20  # of records: each record of the sample looks at all, in seconds here
_WHOLE = 2**32  # 1 as an integer


@dataclass(frozen=True)
class LeastLoss:
    """A lower bound of the GCP, estimated from a sample of the records.

    Attributes
    ----------
    gcp : float
        Mean bound of the records of the sample.
    error : float
        Its standard error; 0 where the sample is all records.
    records : int
        Size of the sample.
    """

    gcp: float
    error: float
    records: int


def bound_least_loss(
    classes: Classes, k: NDArray[np.int32], ordinal: NDArray[np.bool_], levels: Sequence[int]
) -> LeastLoss | None:
    """Bound what any release loses whose rows nobody names with a chance above 1/k(v).

    The chances of a row's holders sum to 1, and a record v has 1/k(v) at most. So a row is a box of
    levels that holds its own record, and records whose 1/k(v) sum to 1 or more. The cheapest such
    box around a record costs no more than the record's row in any release. The rows of equivalence
    classes are such boxes, too.

    Parameters
    ----------
    classes : Classes
        Of the records.
    k : int32 (n,)
    ordinal : bool (attributes,)
        Whether masked cells are intervals instead of value sets.
    levels : sequence of int
        Number of levels of each attribute.

    Returns
    -------
    LeastLoss or None
        None of more than `MOST_CLASSES` distinct records.

    Notes
    -----
    The sample is drawn from the number of records alone. Where branch and bound takes too much work
    for a record, its bound is below the cost of the cheapest box.
    """
    if classes.level.shape[1] > MOST_CLASSES:
        return None
    counts = np.asarray(levels, dtype=np.int64)
    share = np.zeros(classes.level.shape[1], dtype=np.int64)
    # Greater shares need fewer records, smaller units cost less: rounding only lowers the bound.
    np.add.at(share, classes.record_class, -(-_WHOLE // k.astype(np.int64)))  # rounded up
    sample = _draw_sample(len(k))
    cost = np.zeros(len(sample), dtype=np.int64)
    find_cheapest_boxes(
        classes.record_class[sample].astype(np.int64),
        np.ascontiguousarray(classes.level.T),
        share,
        _WHOLE,
        np.asarray(ordinal),
        _WHOLE // (len(counts) * np.maximum(1, counts - 1)),  # rounded down
        np.concatenate([[0], np.cumsum(counts)]),
        cost,
    )
    return _estimate_mean(cost.tolist(), len(k))


def _draw_sample(records: int) -> NDArray[np.int64]:
    """Numbers of the records that are looked at: all, or `SAMPLE` of them."""
    if records <= SAMPLE:
        return np.arange(records)
    drawn: list[int] = []
    at = 0
    while len(drawn) < SAMPLE:
        number = int(mix_bits(np.uint64(at))) % records
        drawn += [] if number in drawn else [number]
        at += 1
    return np.array(drawn, dtype=np.int64)


def _estimate_mean(cost: list[int], records: int) -> LeastLoss:
    """Mean and standard error; in whole numbers up to the end, so no order changes a digit."""
    size, total = len(cost), sum(cost)
    error = 0.0
    if 1 < size < records:
        squares = size * sum(one * one for one in cost) - total * total
        # Standard error of a mean drawn without replacement: (1 - size / records) is the finite
        # population correction.
        error = sqrt(squares * (records - size) / (size * size * (size - 1) * records)) / _WHOLE
    # Down to a whole part, so the float is exact and below the mean: a bound is not rounded up.
    return LeastLoss(total // size / _WHOLE, error, size)
