"""Numbers that stand for the levels of columns, so that trees can split rows by them."""

import numpy as np
from numpy.typing import NDArray

from crowdcover.reader.coded.cells import Floats, Places

SINGLE_LEVELS = 8  # levels: each becomes a number of its own, 0 or 1
CATEGORY_NUMBERS = 3  # that stand for a category of more levels
CATEGORY_SCORES = 16  # at most, that stand for a category that is drawn
RARE_ROWS = 20  # rows: what is rarer would tell a tree the very row


def score_levels(
    level: Places, levels: int, is_ordered: bool, generator: np.random.Generator
) -> Floats:
    """The numbers that a tree shall make alike within its leaves, float64 (rows, scores).

    Parameters
    ----------
    level : int64 (rows,)
    levels : int
    is_ordered : bool
        Then its place stands for a level, in standard deviations. Else 0 or 1 for each level, whose
        squares within leaves are the Gini index. Of more than `CATEGORY_SCORES` levels random sums
        of these, which have as large squares on average.
    generator : numpy.random.Generator
    """
    if is_ordered:
        return np.asarray((level - level.mean()) / (level.std() + 1e-9))[:, None]
    if levels <= CATEGORY_SCORES:
        return np.eye(levels)[level]
    return np.asarray(generator.standard_normal((levels, CATEGORY_SCORES))[level])


def encode_levels(
    level: Places, levels: int, is_ordered: bool, scores: Floats
) -> NDArray[np.float32]:
    """The numbers by which a tree splits the rows of a column.

    Parameters
    ----------
    level : int64 (rows,)
    levels : int
    is_ordered : bool
    scores : float64 (rows, scores)
        Of the column that the tree is about. A category of many levels is placed by its mean
        scores: for one score no split of its levels is better than one in this order (Fisher 1958).

    Returns
    -------
    float32 (levels, numbers)
    """
    if is_ordered:
        return np.arange(levels, dtype=np.float32)[:, None]
    times = np.bincount(level, minlength=levels)
    if levels <= SINGLE_LEVELS:
        # The most frequent level is what none of the others is.
        others = np.sort(np.argsort(-times, kind="stable")[1:])
        return np.eye(levels, dtype=np.float32)[:, others]
    mean = scores.mean(axis=0)
    sums = np.stack([np.bincount(level, each, levels) for each in scores.T], axis=1)
    means = np.where((times < RARE_ROWS)[:, None], 0.0, sums / np.maximum(times, 1)[:, None] - mean)
    spread = (means**2 * times[:, None]).sum(axis=0)
    best = np.sort(np.argsort(-spread, kind="stable")[:CATEGORY_NUMBERS])
    return means[:, best].astype(np.float32)
