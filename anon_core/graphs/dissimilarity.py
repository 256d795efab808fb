"""The complete graph of an adaptive dissimilarity, never stored: E_ij = sum over bits l of (W_il + W_jl) [x_il != x_jl]."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.kernels.costs import fill_cost_table
from anon_core.kernels.nearest import LANES
from anon_core.records import BinaryTable

UNIT = 2**12  # weight of the lightest fresh bit; integers make every sum exact in any order
LARGEST_SUM = 2**24  # every E_ij stays below: float32 and int32 engines agree to the last bit
MOST_STEPS = 4096  # counts past this weigh as this one; only epsilon above about 400 decays so slowly


def bit_weights(relative: NDArray[np.float64]) -> NDArray[np.int32]:
    """Integer base weights of the bits, int32 (f,), from positive relative ones, float64 (f,).

    The lightest bit weighs `UNIT` unless the greatest possible E_ij, twice the sum, would pass `LARGEST_SUM`.
    """
    scale = min(UNIT / relative.min(), (LARGEST_SUM / 2 - len(relative)) / relative.sum())
    weights: NDArray[np.int32] = np.maximum(1, np.round(relative * scale)).astype(np.int32)
    return weights


@dataclass(frozen=True)
class Dissimilarity:
    """Vertices with levels, and what a difference costs.

    Attributes
    ----------
    codes : int32 (attributes, n)
    blank : bool (attributes, n)
        Cells that cost their own record nothing.
    level_offsets, bit_offsets : int64 (attributes + 1,)
    ordinal : bool (attributes,)
    lut : int32 (classes, steps)
        Weight of a bit of a class by the number of neighbours that differ in it.
    bit_class : int32 (f,)
    cell_lut : int32 (attributes, steps)
        What a difference in an attribute costs beside its bits, by the number of neighbours that differ in it.
    """

    codes: NDArray[np.int32]
    blank: NDArray[np.bool_]
    level_offsets: NDArray[np.int64]
    bit_offsets: NDArray[np.int64]
    ordinal: NDArray[np.bool_]
    lut: NDArray[np.int32]
    bit_class: NDArray[np.int32]
    cell_lut: NDArray[np.int32]

    @classmethod
    def of(
        cls,
        table: BinaryTable,
        weights: NDArray[np.int32],
        epsilon: float,
        cell_weights: NDArray[np.int32] | None = None,
    ) -> "Dissimilarity":
        """Weights W = round(weight * (epsilon / (1 + epsilon))^count), Algorithm 1, line 9 of Khan et al.

        `cell_weights`, int32 (attributes,), fall in the same way with the count of neighbours that differ in the attribute.
        """
        book = table.codebook
        base, bit_class = np.unique(weights, return_inverse=True)
        cells = np.zeros(len(book.attributes), dtype=np.int32) if cell_weights is None else cell_weights
        ratio = epsilon / (1 + epsilon)
        steps = int(min(MOST_STEPS, np.ceil(np.log(4.0 * max(base.max(), cells.max())) / -np.log(ratio)) + 1))
        decay = ratio ** np.arange(steps)
        return cls(
            table.codes,
            table.blank,
            book.level_offsets,
            book.bit_offsets,
            book.ordinal,
            np.round(base[:, None] * decay).astype(np.int32),
            bit_class.reshape(-1).astype(np.int32),
            np.round(cells[:, None] * decay).astype(np.int32),
        )

    @property
    def vertices(self) -> int:
        """Number of vertices n."""
        return int(self.codes.shape[1])

    def cost_table(self, counts: NDArray[np.uint16], layout: NDArray[np.int64]) -> NDArray[np.int32]:
        """What meeting each level costs each vertex on its own side.

        Parameters
        ----------
        counts : uint16 (f, n)
            Number of neighbours that differ from each vertex in each bit.
        layout : int64 (n,)
            The vertex at each place of the table.

        Returns
        -------
        int32 (blocks, levels, LANES)
            Zero past the last vertex.
        """
        blocks = -(-self.vertices // LANES)
        table = np.zeros((blocks, int(self.level_offsets[-1]), LANES), dtype=np.int32)
        fill_cost_table(
            np.take(self.codes, layout, axis=1),
            np.take(self.blank, layout, axis=1),
            np.take(counts, layout, axis=1),
            self.lut,
            self.bit_class,
            self.cell_lut,
            self.level_offsets,
            self.bit_offsets,
            self.ordinal,
            table,
        )
        return table
