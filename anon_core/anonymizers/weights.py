"""What a hidden feature costs: integer weights of bits and cells."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.search.dissimilarity import integer_weights
from anon_core.tables.loss import loss_table
from anon_core.tables.records import Attribute, Codebook

# Part of the heaviest column's weight. A column lighter by more than 2^24 weighs 1 anyhow.
_LEAST_SHARE = 2.0**-200


def feature_weights(
    book: Codebook, weights: str, loss: str = "rank", exact: float = 0.0
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the weight of each bit and the additional weight of each attribute's first hidden bit.

    Parameters
    ----------
    book : Codebook
    weights : {"columns", "cells", "bits"}
        Every column counts the same (the sum is NCP); a cell's NCP and as much again for not being
        exact; or every bit counts the same. A column's own `weight` multiplies each.
    loss : {"rank", "range", "binary"}
        "rank": all bits of a column count the same; else by the widths that they stand for, see
        `loss_table`.
    exact : float
        What the first hidden bit costs in addition, as part of the column; "cells" means 1.

    Returns
    -------
    bits : int32 (f,)
    cells : int32 (attributes,)
    """
    own = np.array([a.weight for a in book.attributes])
    # Scale by a power of two: it changes no digit, and no later sum or quotient overflows.
    own = np.maximum(np.ldexp(own, -np.frexp(own.max())[1]), _LEAST_SHARE)
    if loss == "rank":
        bits = np.concatenate(
            [
                weight * (np.ones(a.bits) if weights == "bits" else _share_column(a))
                for a, weight in zip(book.attributes, own, strict=True)
            ]
        )
    else:
        table = loss_table(book, loss)
        widths = [
            np.diff(table.position[first:end])
            if a.ordinal
            else np.full(a.bits, step)
            if a.tree is None
            else _halve_rises(a, table.node[bit + place :])
            for place, (a, step, first, end, bit) in enumerate(
                zip(
                    book.attributes, table.step, book.level_offsets[:-1], book.level_offsets[1:],
                    book.bit_offsets[:-1], strict=True,
                )
            )
        ]  # fmt: skip
        bits = np.maximum(1, np.concatenate(widths)) / table.whole.max()
        own = table.whole / table.whole.max()
    return integer_weights(bits, own * (1.0 if weights == "cells" else exact), book)


def _share_column(a: Attribute) -> NDArray[np.float64]:
    """Parts of a column's weight that its bits have, float64 (bits,)."""
    if a.tree is None or a.levels == 1:
        return np.full(a.bits, 1 / max(1, a.levels - 1))
    return _halve_rises(a, a.tree.losses(a.levels))


def _halve_rises(a: Attribute, node: NDArray[Any]) -> NDArray[np.float64]:
    """Half of what each feature of a tree loses less than the node above it, float64 (bits,).

    Two levels differ in the features below the node that holds both, on two paths: these weigh
    together what a cell of that node loses, its `node`.
    """
    rises: NDArray[np.float64] = (node[a.parents] - node[: a.bits]) / 2
    return rises


def compute_utilities(
    per_bit: NDArray[np.int64],
    per_cell: NDArray[np.int64],
    weights: tuple[NDArray[np.int32], NDArray[np.int32]],
    records: int,
) -> dict[str, float]:
    """Return the utility and the weighted utility of what is hidden, the figures of a step.

    Parameters
    ----------
    per_bit : int64 (f,)
        How many rows hide each feature.
    per_cell : int64 (attributes,)
        How many rows hide any feature of each attribute.
    weights : int32 (f,) and int32 (attributes,)
        See `feature_weights`.
    records : int
    """
    bits, cells = (each.astype(np.int64) for each in weights)
    loss, whole = per_bit @ bits + per_cell @ cells, int(bits.sum() + cells.sum())
    return {
        "utility": 1 - float(per_bit.sum()) / (records * len(bits)),
        "weighted_utility": 1 - float(loss) / (records * whole),
    }
