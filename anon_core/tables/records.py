"""Frozen records that pass between the rooms of the core."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec as ColumnSpec
from anon_core.specs.columns import Encoding, Kind


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """One fitted quasi-identifier: its levels and how they become bits.

    Attributes
    ----------
    labels : tuple of str
        The text of each level; level 0 is the missing one where `has_missing`.
    binned : bool
        Whether a numeric level is a group of numbers instead of one number.
    edges : tuple of float
        Inner edges of a binned column, increasing: group g holds edges[g-1] < value <= edges[g]. Empty otherwise.
    values : tuple of float
        What a numeric level stands for (the group's median, or the number itself), without the missing level.
    """

    name: str
    kind: Kind
    encoding: Encoding
    labels: tuple[str, ...] = field(repr=False)
    has_missing: bool = False
    hide_missing: bool = False
    binned: bool = False
    edges: tuple[float, ...] = field(default=(), repr=False)
    values: tuple[float, ...] = field(default=(), repr=False)
    weight: float = 1.0

    @property
    def levels(self) -> int:
        """Number of levels, the missing one included."""
        return len(self.labels)

    @property
    def ordinal(self) -> bool:
        """Whether bits are a thermometer (level >= t) instead of one per level."""
        return self.encoding == "ordinal"

    @property
    def bits(self) -> int:
        """Number of binary features of this attribute."""
        return self.levels - 1 if self.ordinal else self.levels


@dataclass(frozen=True)
class Codebook:
    """The quasi-identifiers of a table in the order of their bits."""

    attributes: tuple[Attribute, ...]

    @property
    def features(self) -> int:
        """Number of binary features f."""
        return int(self.bit_offsets[-1])

    @property
    def words(self) -> int:
        """uint64 words of one packed record."""
        return (self.features + 63) // 64

    @cached_property
    def bit_offsets(self) -> NDArray[np.int64]:
        """int64 (attributes + 1,): attribute a owns the bits bit_offsets[a] .. bit_offsets[a + 1] - 1."""
        return np.concatenate([[0], np.cumsum([a.bits for a in self.attributes], dtype=np.int64)])

    @cached_property
    def level_offsets(self) -> NDArray[np.int64]:
        """int64 (attributes + 1,): the same for levels."""
        return np.concatenate([[0], np.cumsum([a.levels for a in self.attributes], dtype=np.int64)])

    @cached_property
    def own_bits(self) -> NDArray[np.int64]:
        """int64 (levels, 2): features that tell a level from all others: its own twice, or a thermometer's below and above it.

        A record of that level whose row shows both reads as that level only. At a thermometer's ends they are the same one.
        """
        pairs = []
        for a, (first, end) in zip(self.attributes, pairwise(self.bit_offsets), strict=True):
            above = first + np.arange(a.levels)
            pairs.append(
                np.stack([above - a.ordinal, above], axis=1).clip(first, max(first, end - 1))
            )
        return np.concatenate(pairs).clip(max=self.features - 1)

    @cached_property
    def ordinal(self) -> NDArray[np.bool_]:
        """bool (attributes,): thermometer attributes."""
        return np.array([a.ordinal for a in self.attributes], dtype=np.bool_)


@dataclass(frozen=True)
class BinaryTable:
    """Encoded records and what each of them demands.

    Attributes
    ----------
    codebook : Codebook
    codes : int32 (attributes, n)
        Level of each record in each attribute.
    bits : uint64 (n, words)
        The same as packed features: feature l is bit l % 64 of word l // 64.
    k : int32 (n,)
        Demanded privacy level of each record, 1 <= k <= n.
    blank : bool (attributes, n)
        Cells to be hidden whatever the cover says (missing = "all-hidden").
    """

    codebook: Codebook
    codes: NDArray[np.int32]
    bits: NDArray[np.uint64]
    k: NDArray[np.int32]
    blank: NDArray[np.bool_]

    @property
    def records(self) -> int:
        """Number of records n."""
        return int(self.codes.shape[1])

    def at(self, places: NDArray[np.int64]) -> "BinaryTable":
        """The records at these places, int64 (m,), in this order; what they demand may be more than m."""
        return BinaryTable(
            self.codebook,
            np.take(self.codes, places, axis=1),
            self.bits[places],
            self.k[places],
            np.take(self.blank, places, axis=1),
        )


@dataclass(frozen=True)
class Edges:
    """An undirected simple graph as edge list: u[e] < v[e], weight[e] >= 0, each pair at most once.

    Attributes
    ----------
    u, v : int32 (m,)
    weight : int32 (m,)
    """

    u: NDArray[np.int32]
    v: NDArray[np.int32]
    weight: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.u)


@dataclass(frozen=True, kw_only=True)
class Iteration:
    """What one iteration reached.

    Attributes
    ----------
    utility : float
        1 - hidden bits / (n f), the paper's Definition III.2.
    weighted_utility : float
        The same with each bit (and each masked cell, where that counts) at its base weight: what chooses the best iteration.
    cover_edges : int
    foreseen : float or None
        The weighted utility that half of the records reached before, where they went ahead.
    """

    number: int
    utility: float
    weighted_utility: float
    cover_edges: int
    foreseen: float | None = None


@dataclass(frozen=True)
class MaskedTable:
    """What an anonymizer chose to hide.

    Attributes
    ----------
    table : BinaryTable
    hidden : uint64 (n, words)
        Features masked in each record's row, packed as `table.bits`.
    cover : Edges
        Pairs of records that hide in each other's crowd, in the record order of `table`.
    iterations : tuple of Iteration
    """

    table: BinaryTable
    hidden: NDArray[np.uint64]
    cover: Edges
    iterations: tuple[Iteration, ...] = field(default=())


@dataclass(frozen=True)
class Checkpoint:
    """All that the next iteration needs; no cell, no secret but who was close to whom.

    Attributes
    ----------
    latest, best : Edges
        The cover of the last iteration and that of the best one, in the record order of the table.
    iterations : tuple of Iteration
        What was reached so far, at least one.
    """

    latest: Edges
    best: Edges
    iterations: tuple[Iteration, ...]

    def check(self, table: BinaryTable) -> None:
        """Refuse a checkpoint that cannot be one of this table."""
        if not self.iterations or [i.number for i in self.iterations] != list(
            range(1, len(self.iterations) + 1)
        ):
            raise InputError(
                "the checkpoint does not count its iterations from 1; start anew without it"
            )
        for cover, iteration in (
            (self.latest, self.iterations[-1]),
            (self.best, best_of(self.iterations)),
        ):
            if len(cover) != iteration.cover_edges or not _covers(cover, table.k - 1):
                raise InputError(
                    "the checkpoint holds no cover of this table; start anew without it"
                )


def best_of(iterations: Sequence[Iteration]) -> Iteration:
    """The iteration that is kept: the first that reached the greatest weighted utility."""
    return max(iterations, key=lambda iteration: iteration.weighted_utility)


def _covers(edges: Edges, b: NDArray[np.int32]) -> bool:
    """Whether the edges are a simple graph on these vertices with at least b(v) edges at each."""
    n, u, v = len(b), edges.u, edges.v
    if not len(u) == len(v) == len(edges.weight) or (
        len(u) and not (u.min() >= 0 and v.max() < n and (u < v).all())
    ):
        return False
    pairs = np.sort(u * np.int64(n) + v)
    if (pairs[1:] == pairs[:-1]).any():
        return False
    return bool((np.bincount(u, minlength=n) + np.bincount(v, minlength=n) >= b).all())


class Observer:
    """Sees an anonymizer at work; what it is told goes nowhere until a subclass says where."""

    def searched(self, records: int) -> None:
        """Be told now and then for how many records the current iteration has found the neighbours."""

    def iterated(self, checkpoint: Checkpoint) -> None:
        """Be told what the next iteration will start from."""
