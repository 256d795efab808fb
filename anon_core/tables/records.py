"""A table as arrays: codebook, encoded records, and what was masked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InfeasibleError
from anon_core.specs.columns import Carry, ColumnKind, Encoding
from anon_core.specs.demands import Demanded, refuse_impossible
from anon_core.steps import Step
from anon_core.tables.diverse import DiverseDemand
from anon_core.tables.packing_kernels import pack_codes
from anon_core.tables.pasts import Pasts
from anon_core.tables.trees import Tree, Whole

_NUMBERS = ("has_missing", "edges", "values", "range")  # of an attribute: what its levels stand for


def _to_tuples(value: Any) -> Any:
    return tuple(map(_to_tuples, value)) if isinstance(value, list | tuple) else value


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """One fitted quasi-identifier: its levels and how they become bits.

    Attributes
    ----------
    labels : tuple of str
        The text of each level. Level 0 means a missing value where `has_missing`.
    has_other : bool
        Whether the last level stands for all categories that are no level of their own.
    binned : bool
        Whether a numeric level is a group of numbers instead of one number.
    carry : {"bounds", "median"}
        Binned: whether groups are written as intervals or as medians.
    edges : tuple of float
        Inner edges of a binned column, increasing: group g holds edges[g-1] < value <= edges[g].
        Empty for other columns.
    values : tuple of float or (float, float)
        What each numeric level but the missing one stands for. Binned: the median of its group;
        empty with "bounds". Else the number, or the bounds of the numbers that share the level;
        outer bounds are infinite.
    range : (float, float), optional
        Least and greatest permissible number.
    tree : Tree, optional
        What a masked cell shows a node of; of one-hot attributes.
    whole : tuple of (str, str, int, int), optional
        Of a hierarchy every node, also those that no row shows; see `Whole`.
    floor : int, optional
        How many people live in each level, which may be a node of the plan's hierarchy.
    """

    name: str
    kind: ColumnKind
    encoding: Encoding
    labels: tuple[str, ...] = field(repr=False)
    has_missing: bool = False
    hide_missing: bool = False
    has_other: bool = False
    binned: bool = False
    carry: Carry = "bounds"
    edges: tuple[float, ...] = field(default=(), repr=False)
    values: tuple[float | tuple[float, float], ...] = field(default=(), repr=False)
    weight: float = 1.0
    range: tuple[float, float] | None = field(default=None, repr=False)
    tree: Tree | None = None
    whole: Whole | None = field(default=None, repr=False)
    floor: int | None = None

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
        nodes = 0 if self.tree is None else len(self.tree.names)
        return self.levels - 1 if self.ordinal else self.levels + nodes

    @property
    def nodes(self) -> tuple[tuple[str, int, int], ...] | None:
        """Name, least and greatest level of each inner node of the tree; None without one."""
        return None if self.tree is None else self.tree.nodes

    @property
    def sets(self) -> bool:
        """Whether a cell may show a set of levels in place of a node of the tree."""
        return self.tree is not None and self.tree.sets

    @cached_property
    def parents(self) -> NDArray[np.int32]:
        """The feature above each feature, int32 (bits,), see `Tree`; without a tree none is."""
        none = np.full(self.bits, self.bits, dtype=np.int32)
        return none if self.tree is None else self.tree.parents(self.levels)


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
        """int64 (attributes + 1,): first bit of each attribute, and the number of bits."""
        return np.concatenate([[0], np.cumsum([a.bits for a in self.attributes], dtype=np.int64)])

    @cached_property
    def level_offsets(self) -> NDArray[np.int64]:
        """int64 (attributes + 1,): first level of each attribute, and the number of levels."""
        return np.concatenate([[0], np.cumsum([a.levels for a in self.attributes], dtype=np.int64)])

    @cached_property
    def own_bits(self) -> NDArray[np.int64]:
        """int64 (levels, 2): the two features that tell a level from all others.

        A row that shows both has that level only. One-hot: the level's own feature, twice.
        Thermometer: the features below and above the level; at its ends they are the same.
        """
        pairs = []
        for a, (first, end) in zip(self.attributes, pairwise(self.bit_offsets), strict=True):
            above = first + np.arange(a.levels)
            pairs.append(
                np.stack([above - a.ordinal, above], axis=1).clip(first, max(first, end - 1))
            )
        # An attribute of one level may have no feature. All rows have its level, so any will do.
        return np.concatenate(pairs).clip(max=self.features - 1)

    @cached_property
    def ordinal(self) -> NDArray[np.bool_]:
        """bool (attributes,): thermometer attributes."""
        return np.array([a.ordinal for a in self.attributes], dtype=np.bool_)

    @cached_property
    def parents(self) -> NDArray[np.int32]:
        """int32 (f,): `Attribute.parents` of all attributes, numbered within each."""
        return np.concatenate([a.parents for a in self.attributes]).astype(np.int32)


def pack_levels(codebook: Codebook, codes: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Pack levels (attributes, n) into uint64 (n, words)."""
    bits = np.zeros((codes.shape[1], codebook.words), dtype=np.uint64)
    pack_codes(codes, codebook.bit_offsets, codebook.ordinal, codebook.parents, bits)
    return bits


@dataclass(frozen=True)
class BinaryTable:
    """Encoded records and what each of them demands.

    Attributes
    ----------
    codebook : Codebook
    codes : int32 (attributes, n)
        Level of each record in each attribute.
    k : int32 (n,)
        Demanded privacy level of each record, 1 <= k <= n.
    blank : bool (attributes, n)
        Cells that must be fully hidden: missing values of a column with missing = "all-hidden".
    person : int32 (n,), optional
        Number of the person that each record belongs to, in no order; all records of a person have
        the same k. None: each record is a person.
    pasts : Pasts, optional
        What rows that were published before leave open of each record's histories. None: no record
        had a row. Only methods of this process know it: `pack_arrays` leaves it out.
    diverse : DiverseDemand, optional
        What classes must show of a sensitive column. None: anything.
    """

    codebook: Codebook
    codes: NDArray[np.int32]
    k: NDArray[np.int32]
    blank: NDArray[np.bool_]
    person: NDArray[np.int32] | None = None
    pasts: Pasts | None = None
    diverse: DiverseDemand | None = None

    @property
    def records(self) -> int:
        """Number of records n."""
        return int(self.codes.shape[1])

    @cached_property
    def bits(self) -> NDArray[np.uint64]:
        """The levels as packed features, uint64 (n, words).

        Feature l is bit l % 64 of word l // 64. Packed when they are asked for: a whole table that
        is made in parts never needs them.
        """
        return pack_levels(self.codebook, self.codes)

    def refuse_impossible_demands(self) -> None:
        """Raise InfeasibleError where the table does not have what a record demands."""
        refuse_impossible(self.k, self.records)
        if self.diverse is not None:
            self.diverse.refuse_impossible()
        if self.person is not None:
            # Each of n rows is this person's with a chance of 1/k at most. These chances sum to the
            # number of records that the person owns, so that is at most n / k.
            owned = np.bincount(self.person)[self.person]
            # The product may pass 2^31, so it is taken in int64.
            beyond = int(np.count_nonzero(owned * self.k.astype(np.int64) > self.records))
            if beyond:
                raise InfeasibleError(
                    f"{beyond} of {self.records} records belong to people who own more than 1/k "
                    "of all records; in a crowd of k people nobody can own so many: lower k, or "
                    "take fewer records of each person"
                )

    @property
    def demands(self) -> Demanded:
        """What the records demand."""
        return Demanded(self.person is not None, self.k)

    def pack_arrays(
        self, *, numbers: bool = False
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the shapes of the attributes as JSON, without names and labels, and the arrays.

        `numbers`: with the numbers that levels stand for, which some losses read. Packed features
        follow from the levels.
        """
        attributes = [
            {
                "kind": a.kind,
                "encoding": a.encoding,
                "levels": a.levels,
                "weight": a.weight,
                **({} if a.tree is None else {"tree": a.tree.pack()}),
                **({name: getattr(a, name) for name in _NUMBERS} if numbers else {}),
            }
            for a in self.codebook.attributes
        ]
        arrays: dict[str, NDArray[Any]] = {
            "codes": self.codes,
            "k": self.k,
            "blank": self.blank,
        }
        if self.person is not None:
            arrays["person"] = self.person
        if self.diverse is not None:
            arrays |= self.diverse.pack_arrays()
        return {"attributes": attributes}, arrays

    @classmethod
    def unpack_arrays(
        cls, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> "BinaryTable":
        """Return the packed table. Attributes are named "0", "1", ...; labels are empty."""
        attributes = tuple(
            Attribute(
                name=str(a),
                kind=shape["kind"],
                encoding=shape["encoding"],
                labels=("",) * shape["levels"],
                weight=shape["weight"],
                tree=Tree.unnamed(*_to_tuples(shape["tree"])) if "tree" in shape else None,
                # JSON knows no tuples.
                **{name: _to_tuples(shape[name]) for name in _NUMBERS if name in shape},
            )
            for a, shape in enumerate(document["attributes"])
        )
        return cls.from_arrays(Codebook(attributes), arrays)

    @classmethod
    def from_arrays(cls, codebook: Codebook, arrays: Mapping[str, NDArray[Any]]) -> "BinaryTable":
        """Return the table of the arrays of `pack_arrays`."""
        person = arrays["person"] if "person" in arrays else None  # noqa: SIM401 - an open file has no get
        return cls(
            *(codebook, arrays["codes"], arrays["k"], arrays["blank"], person),
            diverse=DiverseDemand.unpack_arrays(arrays),
        )

    def restore_result(
        self, arrays: Mapping[str, NDArray[Any]], steps: tuple[Step, ...], result_step: int
    ) -> "MaskedTable":
        """Return what an anonymizer made of this table, from the arrays of `MaskedTable.arrays`."""
        return MaskedTable(self, arrays["hidden"], steps, result_step, arrays.get("holders"))

    def at(self, places: NDArray[np.int64]) -> "BinaryTable":
        """Return the records at these places, int64 (m,), in this order; k may exceed m."""
        return BinaryTable(
            self.codebook,
            np.take(self.codes, places, axis=1),
            self.k[places],
            np.take(self.blank, places, axis=1),
            None if self.person is None else self.person[places],
            None if self.pasts is None else self.pasts.at(places),
            None if self.diverse is None else self.diverse.at(places),
        )


@dataclass(frozen=True)
class MaskedTable:
    """What an anonymizer made of a table: the features to hide.

    Attributes
    ----------
    table : BinaryTable
    hidden : uint64 (n, words)
        Features hidden in each record's row, packed as `table.bits`.
    steps : tuple of Step
    result_step : int
        Number of the step whose result this is; 0 if there are no steps.
    holders : int32 (n, D), optional
        By row and share: the record that holds this part of the chance to sit in the row, for
        itself and those of equal levels and k. None: any seat that fits may be taken.
    """

    table: BinaryTable
    hidden: NDArray[np.uint64]
    steps: tuple[Step, ...] = ()
    result_step: int = 0
    holders: NDArray[np.int32] | None = None

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `BinaryTable.restore_result` needs to make this again."""
        held = {} if self.holders is None else {"holders": self.holders}
        return {"hidden": self.hidden, **held}
