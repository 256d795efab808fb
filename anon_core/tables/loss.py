"""What a cell loses by the levels that it allows: one table of whole numbers for every method."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.tables.records import Attribute, Codebook

WHOLE_CELL_LOSS = 2**30  # what a cell of the heaviest column loses at most


@dataclass(frozen=True)
class LossTable:
    """NCP of cells in whole numbers, each column times its weight.

    An interval from level p to level q loses min(whole, position[q] - position[p]). A set of s
    levels loses (s - 1) step, a node of a tree its `node`. Each loses `first` in addition if it is
    more than one level.

    Attributes
    ----------
    whole : int64 (attributes,)
        What a cell loses at most.
    step : int64 (attributes,)
        One-hot attributes: what each further level costs.
    position : int64 (levels,)
        Ordinal attributes: level q of attribute a stands at position[level_offsets[a] + q].
    first : int64 (attributes,)
        What a cell of more than one level loses in addition.
    node : int64 (f + attributes,)
        Attributes with a tree: what feature l of attribute a loses, and at last the root, stands at
        node[bit_offsets[a] + a + l].
    """

    whole: NDArray[np.int64]
    step: NDArray[np.int64]
    position: NDArray[np.int64]
    first: NDArray[np.int64]
    node: NDArray[np.int64]


def level_values(attribute: Attribute, loss: str) -> NDArray[np.float64]:
    """The number that stands for each level, float64 (levels,); nan for a missing one.

    "range": a number; the middle of a group or of a shared level. Outer ones end at the column's
    range; where none is stated, their inner bound stands for them.
    "rank", and categories: the number of the level, the missing one included.
    """
    ranks = np.arange(attribute.levels, dtype=np.float64)
    if loss == "rank" or attribute.kind not in ("numeric", "date"):
        return ranks
    least, most = attribute.range or (-np.inf, np.inf)
    values = attribute.values or tuple(pairwise([-np.inf, *attribute.edges, np.inf]))
    numbers = [
        _compute_middle(max(value[0], least), min(value[1], most))
        if isinstance(value, tuple)
        else value
        for value in values
    ]
    if len(numbers) != attribute.levels - attribute.has_missing:
        return ranks
    return np.array([np.nan] * attribute.has_missing + numbers)


def _compute_middle(low: float, high: float) -> float:
    finite = [side for side in (low, high) if np.isfinite(side)]
    return sum(finite) / max(1, len(finite))


def loss_table(book: Codebook, loss: str, exact: float = 0.0) -> LossTable:
    """Return what cells lose.

    Parameters
    ----------
    book : Codebook
    loss : {"rank", "range", "binary"}
        "rank": (s - 1) / (levels - 1) for s levels. "range": the width of an interval as part of
        the column's range, or of its width where none is stated, and (s - 1) / levels for a set
        (Liang and Samavi, equation 2 and definition 8). There, an interval that allows missing and
        given values loses all. A node of numbers or dates loses what its interval does. "binary":
        the same with a set of s > 1 levels for s binary columns of weight 1 / levels (section 2.5).
    exact : float
        What a cell of more than one level loses in addition, in parts of what it can lose at most.
    """
    own = np.array([a.weight for a in book.attributes])
    # Whole numbers: sums are exact in any order.
    whole = np.maximum(1, np.round(own / own.max() * WHOLE_CELL_LOSS)).astype(np.int64)
    steps, positions, nodes = [], [], []
    for a, most in zip(book.attributes, whole.tolist(), strict=True):
        # "rank" divides by levels - 1, as NCP does; the others by levels, as their paper does.
        steps.append(most // max(1, a.levels - (loss == "rank")))
        values = level_values(a, loss)
        low, high = np.nanmin(values, initial=np.inf), np.nanmax(values, initial=-np.inf)
        if a.range is not None and loss != "rank":
            low, high = np.float64(a.range[0]), np.float64(a.range[1])
        placed = ((values - low) * (most / (high - low) if high > low else 0.0)).clip(0, most)
        # A missing value stands `most` below the least number, so an interval that holds both is at
        # least `most` wide and loses all.
        positions.append(np.where(np.isnan(placed), -most, np.round(placed)).astype(np.int64))
        nodes.append(_price_nodes(a, most, None if loss == "rank" else positions[-1]))
    step = np.array(steps, dtype=np.int64)
    first = np.round(whole * exact).astype(np.int64)
    if loss == "binary":
        of_sets = [not a.ordinal and a.tree is None for a in book.attributes]
        first += np.where(of_sets, step, 0)
    node = np.concatenate(nodes).astype(np.int64)
    return LossTable(whole, step, np.concatenate(positions), first, node)


def _price_nodes(a: Attribute, most: int, position: NDArray[np.int64] | None) -> NDArray[Any]:
    """What each feature of a tree and its root lose, (bits + 1,); `position`: by width."""
    if a.tree is None:
        return np.zeros(a.bits + 1)
    if position is None or a.kind not in ("numeric", "date") or a.tree.weights:
        losses = a.tree.losses(a.levels)
        prices: NDArray[np.float64] = np.round(most * losses)
        if a.tree.weights and len(np.unique(prices)) < len(np.unique(losses)):
            raise InputError(
                f"column {a.name!r}: beside the heaviest column its weight is so small that its "
                "weights of levels cannot be told apart; write a greater weight"
            )
        return prices
    low, high = a.tree.spans(a.levels).T
    widths: NDArray[np.int64] = position[high] - position[low]
    return widths.clip(0, most)
