"""The complete graph of an adaptive dissimilarity; its edges are never stored.

E_ij = sum over bits l of (W_il + W_jl) [x_il != x_jl].
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.jit.lanes import LANES, zero_lanes
from anon_core.search.costs_kernels import CodedLevels, Costs, NeighbourCosts, fill_costs
from anon_core.tables.records import Attribute, BinaryTable, Codebook

_UNIT = 2**12  # weight of the lightest fresh bit; integers make every sum exact in any order
_LARGEST_SUM = 2**24 - 2**9  # no E_ij passes it: 16 bits coarse, 8 bits fine
_NARROW_SUM = 2**16 - 2  # sums that fit one lane of the search need no fine part
_NARROW_UNIT = 2**8  # lighter fresh bits would lose precision to save the fine part
_MOST_STEPS = 4096  # larger counts weigh as this one; weights of epsilon < 400 are 0 before


def integer_weights(
    bits: NDArray[np.float64], cells: NDArray[np.float64], book: Codebook
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Scale relative weights of bits and cells to integers.

    The greatest possible E_ij becomes `_NARROW_SUM` if the lightest weight is then at least
    `_NARROW_UNIT`. Otherwise the lightest weight becomes `_UNIT`, or less if the greatest E_ij
    would pass `_LARGEST_SUM`.

    Parameters
    ----------
    bits : float64 (f,)
        Positive.
    cells : float64 (attributes,)
        Weight of the first hidden bit of an attribute in addition to its own; zero counts nothing.

    Returns
    -------
    int32 (f,), int32 (attributes,)
    """
    lightest = np.concatenate([bits, cells[cells > 0]]).min()
    widest = largest_sum(bits, book) + 2 * cells.sum()
    rounding = largest_sum(np.ones(len(bits)), book) + 2 * len(cells)
    scale = (_NARROW_SUM - rounding) / widest
    if scale * lightest < _NARROW_UNIT:
        scale = min(_UNIT / lightest, (_LARGEST_SUM - rounding) / widest)
    fixed = [
        np.maximum(each > 0, np.round(each * scale)).astype(np.int32) for each in (bits, cells)
    ]
    return fixed[0], fixed[1]


def largest_sum(weights: NDArray[Any], book: Codebook) -> Any:
    """Bound E_ij: all bits of an ordinal attribute differ, of others those of two levels' paths."""
    bits = np.split(weights, book.bit_offsets[1:-1])
    reach = [
        part.sum() if a.ordinal else np.sort(_weigh_paths(part, a))[-2:].sum()
        for part, a in zip(bits, book.attributes, strict=True)
    ]
    return 2 * sum(reach)


def _weigh_paths(bits: NDArray[Any], attribute: Attribute) -> NDArray[Any]:
    """The weights of the bits that each level has, (levels,)."""
    total = np.append(bits, 0)
    # From the topmost bits on: each adds what is above it.
    for bit in range(attribute.bits)[::-1]:
        total[bit] += total[attribute.parents[bit]]
    return total[: attribute.levels]


def costs_memory(vertices: int, book: Codebook, threads: int | None = None) -> int:
    """Bytes of `Dissimilarity.costs`, in whole blocks, and of each thread's working memory.

    threads : int, optional
        Those of this process if None.
    """
    blocks, levels = -(-vertices // LANES), np.diff(book.level_offsets)
    at_work = min(threads or numba.get_num_threads(), blocks)
    return LANES * (3 * blocks * int(levels.sum()) + 6 * at_work * int(levels.max()))


@dataclass(frozen=True)
class Dissimilarity:
    """Vertices with levels, and the costs of differences.

    Sorting puts similar vertices side by side: place p holds the vertex layout[p]. Arrays over
    records are ordered by place.

    Attributes
    ----------
    layout : int64 (n,)
        The vertices sorted by their levels.
    sorted_by : int64 (attributes,)
        Attributes in the order of sorting, least entropy first: long runs of vertices then share
        their leading levels.
    codes : int32 (attributes, n)
        Levels by place.
    blank : bool (attributes, n)
        Cells that cost their own record nothing, by place.
    level_offsets, bit_offsets : int64 (attributes + 1,)
    ordinal : bool (attributes,)
    parents : int32 (f,)
        See `Codebook.parents`.
    lut : int32 (classes, steps)
        Weight of a bit of a class by the number of neighbours that differ in it.
    bit_class : int32 (f,)
    cell_lut : int32 (attributes, steps)
        Cost of a difference in an attribute in addition to its bits, by the number of neighbours
        that differ in it.
    shift : int
        Bits of a cost that go into its fine part; the coarse part of any E_ij is below 2^16 - 1.
    """

    layout: NDArray[np.int64]
    sorted_by: NDArray[np.int64]
    codes: NDArray[np.int32]
    blank: NDArray[np.bool_]
    level_offsets: NDArray[np.int64]
    bit_offsets: NDArray[np.int64]
    ordinal: NDArray[np.bool_]
    parents: NDArray[np.int32]
    lut: NDArray[np.int32]
    bit_class: NDArray[np.int32]
    cell_lut: NDArray[np.int32]
    shift: int

    @classmethod
    def of(
        cls,
        table: BinaryTable,
        weights: NDArray[np.int32],
        epsilon: float,
        cell_weights: NDArray[np.int32] | None = None,
    ) -> "Dissimilarity":
        """Sort a table's records; `weights` int32 (f,) and `cell_weights` (attributes,) are fresh.

        See `fading` for epsilon.
        """
        book = table.codebook
        cells = (
            np.zeros(len(book.attributes), dtype=np.int32) if cell_weights is None else cell_weights
        )
        base, bit_class = np.unique(weights, return_inverse=True)
        sorted_by = np.argsort([_compute_entropy(codes) for codes in table.codes], kind="stable")
        layout = np.lexsort(table.codes[sorted_by[::-1]])
        largest = int(largest_sum(weights, book)) + 2 * int(cells.sum(dtype=np.int64))
        return cls(
            layout,
            sorted_by,
            np.take(table.codes, layout, axis=1),
            np.take(table.blank, layout, axis=1),
            book.level_offsets,
            book.bit_offsets,
            book.ordinal,
            book.parents,
            base.astype(np.int32)[:, None],
            bit_class.reshape(-1).astype(np.int32),
            cells[:, None],
            max(0, (largest + 1).bit_length() - 16),
        ).fade_weights(epsilon)

    def fade_weights(self, epsilon: float) -> "Dissimilarity":
        """Return the graph with W = round(weight * (epsilon / (1 + epsilon))^count).

        count is the number of neighbours that differ in the bit, or in the attribute of a cell
        (Khan et al., Algorithm 1, line 9).
        """
        base, cells = self.lut[:, :1], self.cell_lut[:, :1]
        ratio = epsilon / (1 + epsilon)
        heaviest = max(base.max(), cells.max())
        fall = -np.log(
            min(ratio, 1 - 1 / _MOST_STEPS)
        )  # the ratio of a great epsilon is 1 as float64
        decay = ratio ** np.arange(
            int(min(_MOST_STEPS, np.ceil(np.log(4.0 * heaviest) / fall) + 1))
        )
        lut, cell_lut = (np.round(weights * decay).astype(np.int32) for weights in (base, cells))
        return replace(self, lut=lut, cell_lut=cell_lut)

    @property
    def vertices(self) -> int:
        """Number of vertices n."""
        return int(self.codes.shape[1])

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """int64 (n,): where each vertex lies."""
        place = np.empty_like(self.layout)
        place[self.layout] = np.arange(self.vertices)
        return place

    def costs(self, counts: NDArray[np.uint16], places: NDArray[np.int64] | None = None) -> Costs:
        """Cost to vertices, on their own side, of meeting each level.

        Parameters
        ----------
        counts : uint16 (f, n)
            Number of neighbours that differ from each vertex in each bit, by place.
        places : int64 (m,), optional
            Places of the vertices wanted, all if None.
        """
        places = np.arange(self.vertices) if places is None else places
        shape = (-(-len(places) // LANES), int(self.level_offsets[-1]), LANES)
        coarse = zero_lanes(*shape)
        fine = np.zeros(shape if self.shift else (0, *shape[1:]), dtype=np.uint8)
        coded = CodedLevels(
            self.codes,
            self.blank,
            self.level_offsets,
            self.bit_offsets,
            self.ordinal,
            self.parents,
        )
        prices = NeighbourCosts(self.lut, self.bit_class, self.cell_lut)
        costs = Costs(coarse, fine, self.shift)
        fill_costs(places, coded, prices, counts, costs)
        return costs

    def rows(self, places: NDArray[np.int64] | None = None) -> NDArray[np.int32]:
        """Levels at places (all if None), int32 (m, attributes), numbered as rows of the costs.

        Attributes come in the order of sorting.
        """
        places = np.arange(self.vertices) if places is None else places
        levels = np.empty((len(places), len(self.codes)), dtype=np.int32)
        for column, attribute in enumerate(self.sorted_by):
            levels[:, column] = self.codes[attribute, places]
            levels[:, column] += np.int32(self.level_offsets[attribute])
        return levels

    def among(self, members: NDArray[np.int64]) -> tuple["Dissimilarity", NDArray[np.int64]]:
        """Return the graph that ascending vertices induce, and the old place of each new place.

        Its vertices are renamed 0, 1, ...
        """
        places = np.sort(self.place[members])
        part = replace(
            self,
            layout=np.searchsorted(members, self.layout[places]),
            codes=np.take(self.codes, places, axis=1),
            blank=np.take(self.blank, places, axis=1),
        )
        return part, places


def _compute_entropy(codes: NDArray[np.int32]) -> float:
    share = np.bincount(codes) / len(codes)
    return float(-(share[share > 0] * np.log2(share[share > 0])).sum())
