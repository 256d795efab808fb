"""How much each quasi-identifier tells of the column that readers will predict."""

from math import exp, fsum, log, sqrt

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from crowdcover.kinds.table.plan.purpose import MILLION, Purpose

LEAST_ROWS = 100  # from fewer rows nothing is learnt
_LEAST_HELD = 20  # rows of a value: rarer ones are one, or chance would tell most of all
_GROUPS = 10  # of numbers and dates, by rank
_DIGITS = 2  # of a weight


def find_learning_rows(
    purpose: Purpose | None, rows: int, person: NDArray[np.int32] | None
) -> NDArray[np.bool_] | None:
    """Find the rows that are learnt from and not released, bool (rows,); None if all are.

    In the order of the source these are rows at even distances, and all rows of the people whose
    first row is one of these. No lot decides, so that nothing published depends on a secret.
    """
    if purpose is None or not purpose.millionths:
        return None
    # Row i is drawn if the sum of millionths passes a whole number there; nothing is rounded.
    reached = np.arange(rows + 1) * purpose.millionths // MILLION
    drawn = np.diff(reached) > 0
    if person is None:
        return drawn
    _, first_of, who = np.unique(person, return_index=True, return_inverse=True)
    return drawn[first_of[who]]


def learn_weights(learnt: pl.DataFrame, predict: str, quasi: list[str]) -> dict[str, float]:
    """Return the weight of each quasi-identifier: its correlation with the column to predict.

    Of the mutual information I in nats, less what chance alone gives, the informational
    correlation is sqrt(1 - exp(-2 I)) (Linfoot 1957). The greatest one has the weight 1; weights
    have two digits.

    Raises
    ------
    InputError
        Too few rows, or no column tells anything.
    """
    if learnt.height < LEAST_ROWS:
        raise InputError(
            f"purpose.predict is learnt from {learnt.height} rows, at least {LEAST_ROWS} are "
            "needed; name a longer file, raise purpose.share, or leave [purpose] out"
        )
    target = _number_values(learnt[predict].alias(""))
    told = {name: _correlate(_number_values(learnt[name].alias("")), target) for name in quasi}
    greatest = max(told.values())
    if greatest == 0:
        raise InputError(
            f"no quasi-identifier tells anything of column {predict!r} where that is learnt; leave "
            "[purpose] out"
        )
    return {name: round(of / greatest, _DIGITS) for name, of in told.items()}


def _number_values(series: pl.Series) -> NDArray[np.int64]:
    """The group of each value, int64 (rows,): numbers and dates by rank, other values one each.

    A missing value has a group of its own. Groups of too few rows are one.
    """
    group = _rank_values(series)
    _, of, rows = np.unique(group, return_inverse=True, return_counts=True)
    # -2 is free: groups of `_rank_values` begin at -1.
    return np.where(rows[of] < _LEAST_HELD, -2, group)


def _rank_values(series: pl.Series) -> NDArray[np.int64]:
    if series.dtype.is_temporal():
        series = series.to_physical()
    if not series.dtype.is_numeric():
        return series.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
    numbers = series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    present = np.sort(numbers[~np.isnan(numbers)])
    # Equal numbers share their least rank, so a group never parts them.
    below = np.searchsorted(present, numbers, side="left")
    return np.where(np.isnan(numbers), -1, _GROUPS * below // max(1, len(present)))


def _correlate(column: NDArray[np.int64], target: NDArray[np.int64]) -> float:
    """The informational correlation of two columns of groups."""
    _, one = np.unique(column, return_inverse=True)
    values, other = np.unique(target, return_inverse=True)
    counts = np.bincount(one * len(values) + other)
    of_one, of_other = np.bincount(one), np.bincount(other)
    rows = len(column)
    # rows * I = sum of c log c over pairs - the same over each column's groups + rows log rows.
    # fsum rounds once, so no order of the groups changes a digit.
    shared = fsum(
        [
            *_weigh_logs(counts[counts > 0], 1),
            *_weigh_logs(of_one, -1),
            *_weigh_logs(of_other, -1),
            rows * log(rows),
        ]
    )
    # Independent columns give half a nat for each degree of freedom: 2 rows I is about chi-squared.
    by_chance = (len(of_one) - 1) * (len(of_other) - 1) / 2
    return sqrt(1 - exp(-2 * max(0.0, shared - by_chance) / rows))


def _weigh_logs(counts: NDArray[np.int64], sign: int) -> list[float]:
    """The count times its logarithm of each group. Python's logarithm is the same everywhere."""
    return [sign * count * log(count) for count in counts.tolist()]
