"""k-member clustering: disjoint groups of k records or more, whose rows are equal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Data
from anon_core.anonymizers.groups import made_of_groups
from anon_core.anonymizers.k_member_kernels import grow_groups, place_rest
from anon_core.anonymizers.weights import Weights, check_weights, feature_weights
from anon_core.promise import Promise
from anon_core.steps import Observer, State
from anon_core.tables.records import BinaryTable, MaskedTable


@dataclass(frozen=True, kw_only=True)
class KMember:
    """Greedy k-member clustering with the greatest demanded k for all: k-anonymity as usual.

    A group begins with the record furthest from the one that the last group began with. It takes,
    one by one, the record that makes it lose least (the weight of the bits in which its members
    differ). The records that are left over at the end join the group that then loses least. Rows of
    a group hide what its members differ in, and a cell that is to be hidden for any of them.

    There is one step; its figures are `utility`, `weighted_utility` and `classes` (groups). Time
    O(n^2 attributes), memory O(n attributes).

    Attributes
    ----------
    weights : {"columns", "cells", "bits"}
        What counts as loss, see `feature_weights`; "cells" groups as "columns" does.

    References
    ----------
    Byun, Kamra, Bertino and Li, Efficient k-anonymization using clustering techniques, DASFAA 2007.
    """

    weights: Weights = "columns"

    kind: ClassVar[str] = "table"
    data: ClassVar[type[Data]] = BinaryTable
    promise: ClassVar[Promise] = Promise(
        ("compatible crowds", "matchable crowds", "truthful rows", "equivalence classes")
    )
    engines: ClassVar[Mapping[str, str]] = {"local": ""}

    def __post_init__(self) -> None:
        check_weights(self.weights)

    def admit(self, data: BinaryTable) -> None:
        """Refuse demands that no table meets, and people who own several records."""
        data.refuse_impossible_demands()
        data.refuse_people_of_several_records()

    def memory(self, data: BinaryTable) -> int:
        """Return the bytes held at most beyond the input."""
        # The table in order, levels twice while rows are made, packed rows thrice, groups and
        # orders of records, and flags of one attribute at a time.
        book = data.codebook
        widest = max(a.bits for a in book.attributes)
        per_record = 14 * len(book.attributes) + 32 * book.words + 2 * widest + 100
        return data.records * per_record + 64 * int(book.level_offsets[-1]) + 2**16

    def anonymize(
        self,
        data: BinaryTable,
        *,
        order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: State | None = None,
    ) -> MaskedTable:
        """Hide features until the rows of every group are equal; see `Anonymizer.anonymize`."""
        self.admit(data)
        weights, least = feature_weights(data.codebook, self.weights), int(data.k.max(initial=1))

        def find() -> NDArray[np.int64]:
            places = np.arange(data.records) if order is None else order
            group = np.empty(data.records, dtype=np.int64)
            group[places] = grouped(data.at(places), weights[0], least)
            return group

        for_all = np.full(data.records, least, dtype=np.int32)
        return made_of_groups(data, for_all, find, weights, observer, resume)[0]


def grouped(table: BinaryTable, weight: NDArray[np.int32], least: int) -> NDArray[np.int64]:
    """Return the number of each record's group, int64 (n,): groups of `least` to 2 least - 1.

    weight : int32 (f,), what a hidden feature costs.
    """
    book = table.codebook
    rows = np.ascontiguousarray((table.codes + book.level_offsets[:-1, None].astype(np.int32)).T)
    layout = (book.level_offsets, book.bit_offsets, book.ordinal, weight.astype(np.int64))
    group = np.empty(table.records, dtype=np.int64)
    grow_groups(rows, *layout, least, group)
    order = np.argsort(group, kind="stable")
    place_rest(rows, *layout, order[(group < 0).sum() :], least, group)
    return group
