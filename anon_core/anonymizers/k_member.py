"""k-member clustering: disjoint groups of k records or more, whose rows are equal."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Data
from anon_core.anonymizers.groups import mask_groups
from anon_core.anonymizers.halving import join_classes, measure_gain
from anon_core.anonymizers.k_member_kernels import GroupDemands, Prices, fill_groups, grow_groups
from anon_core.anonymizers.k_member_settings import KMemberSettings
from anon_core.anonymizers.weights import feature_weights
from anon_core.steps import Observer, State
from anon_core.tables.pasts import Pasts
from anon_core.tables.records import BinaryTable, Codebook, MaskedTable

# What a missing history costs, as a part of the heaviest column: see decision 034.
HISTORY = 0.3


@dataclass(frozen=True, kw_only=True)
class KMember(KMemberSettings):
    """Greedy k-member clustering with the greatest demanded k for all: k-anonymity as usual.

    A group begins with the record furthest from the one that the last group began with. It takes,
    one by one, the record that makes it lose least (the weight of the bits in which its members
    differ). The records that are left over at the end join the group that then loses least. Rows of
    a group hide what its members differ in, and a cell that is to be hidden for any of them.

    Where the table has `pasts`, a record keeps as many histories as it demands rows, where some
    group allows that: rows of a group that carry what the record's earlier rows allow. A missing
    history counts as loss while a group grows, and a group may take more records for it. Members
    that still have too few join another group.

    Where the table has a `diverse`, groups are joined until each meets it, see `join_classes`.

    There is one step; its figures are `utility`, `weighted_utility` and `classes` (groups), and
    with `diverse` those of `measure_gain`. Time O(n^2 attributes), memory O(n attributes).

    References
    ----------
    Byun, Kamra, Bertino and Li, Efficient k-anonymization using clustering techniques, DASFAA 2007.
    """

    data: ClassVar[type[Data]] = BinaryTable

    def admit(self, data: BinaryTable) -> None:
        """Refuse demands that no table meets, and what `admit_demands` refuses."""
        data.refuse_impossible_demands()
        self.admit_demands(data.demands)

    def memory(self, data: BinaryTable) -> int:
        """Return the bytes held at most beyond the input."""
        # The table in order, levels twice while rows are made, packed rows thrice, groups and
        # orders of records, and flags of one attribute at a time.
        book = data.codebook
        widest = max(a.bits for a in book.attributes)
        per_record = 14 * len(book.attributes) + 32 * book.words + 2 * widest + 100
        joining = 0 if data.diverse is None else 120 * data.records + 2**27
        return data.records * per_record + 64 * int(book.level_offsets[-1]) + 2**16 + joining

    def anonymize(
        self,
        data: BinaryTable,
        *,
        tie_order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: State | None = None,
    ) -> MaskedTable:
        """Hide features until the rows of every group are equal; see `Anonymizer.anonymize`."""
        self.admit(data)
        weights, least = feature_weights(data.codebook, self.weights), int(data.k.max(initial=1))

        def find() -> tuple[NDArray[np.int64], dict[str, float]]:
            places = np.arange(data.records) if tie_order is None else tie_order
            group = np.empty(data.records, dtype=np.int64)
            group[places] = group_records(data.at(places), weights[0], least)
            if data.diverse is None:
                return group, {}
            joined = join_classes(data, group, weights[0])
            return joined.group, measure_gain(data.diverse, joined)

        for_all = np.full(data.records, least, dtype=np.int32)
        return mask_groups(data, for_all, find, weights, observer, resume)[0]


def group_records(table: BinaryTable, weight: NDArray[np.int32], least: int) -> NDArray[np.int64]:
    """Return the number of each record's group, int64 (n,): groups of `least` or more.

    weight : int32 (f,), what a hidden feature costs.
    """
    book = table.codebook
    rows = np.ascontiguousarray((table.codes + book.level_offsets[:-1, None].astype(np.int32)).T)
    bits = weight.astype(np.int64)
    nodes = _weigh_nodes(book, bits)
    prices = Prices(book.level_offsets, book.bit_offsets, book.ordinal, book.parents, bits, nodes)
    heaviest = int(np.diff(np.concatenate([[0], np.cumsum(bits)])[book.bit_offsets]).max())
    links = _link_records(table, round(HISTORY * heaviest))
    group = np.empty(table.records, dtype=np.int64)
    grow_groups(rows, prices, links, least, group)
    if table.pasts is not None:
        group = _drop_short(group, table.pasts, links.need, least)
    permutation = np.argsort(group, kind="stable")
    members = permutation[(group < 0).sum() :]
    first = np.searchsorted(group[members], np.arange(int(group.max()) + 2))
    fill_groups(rows, prices, links, members, first, group)
    return group


def _weigh_nodes(book: Codebook, bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """What a group hides inside each feature and the root, see `Prices.node`."""
    found = []
    for attribute, first in zip(book.attributes, book.bit_offsets[:-1], strict=True):
        node = np.zeros(attribute.bits + 1, dtype=np.int64)
        # Features stand before those above them; all paths below a node weigh alike but for
        # rounding, and the greatest counts.
        for bit, above in enumerate(attribute.parents.tolist()):
            node[above] = max(node[above], node[bit] + 2 * bits[first + bit])
        found.append(node)
    return np.concatenate(found)


def _link_records(table: BinaryTable, price: int) -> GroupDemands:
    """What earlier rows demand of groups; nothing where no record had a row."""
    none = np.zeros(table.records, dtype=np.int64)
    pasts = Pasts.of_values(none) if table.pasts is None else table.pasts
    record = np.arange(table.records)
    permutation = np.argsort(pasts.values, kind="stable")
    values = 1 + int(max(pasts.value.max(initial=0), pasts.values.max(initial=0)))
    ways = np.minimum(pasts.ways, table.k[pasts.record])  # more are not needed
    own = np.minimum(pasts.ways_with(record, pasts.value), table.k)
    return GroupDemands(
        pasts.value,
        pasts.start,
        pasts.values,
        ways,
        np.searchsorted(pasts.values[permutation], np.arange(values + 1)),
        pasts.record[permutation],
        ways[permutation],
        own,
        np.where(np.diff(pasts.start) > 0, table.k, 0).astype(np.int64),
        np.int64(price),
    )


def _drop_short(
    group: NDArray[np.int64], pasts: Pasts, need: NDArray[np.int64], least: int
) -> NDArray[np.int64]:
    """Take members with too few histories out of their groups, and dissolve groups too small.

    Numbers the groups anew. If no group is left, all stay as they were.
    """
    left, record = group.copy(), pasts.record
    span = 1 + int(max(pasts.value.max(), pasts.values.max(initial=0)))
    while True:
        inside = np.flatnonzero(left >= 0)
        key, count = np.unique(left[inside] * span + pasts.value[inside], return_counts=True)
        wanted = left[record] * span + pasts.values
        place = np.searchsorted(key, wanted)
        rows = np.where(np.append(key, -1)[place] == wanted, np.append(count, 0)[place], 0)
        told = np.bincount(record, rows * pasts.ways.astype(np.float64), len(group))
        size = np.bincount(left[inside], minlength=int(group.max()) + 1)
        out = (left >= 0) & ((told < need) | (size[left] < least))
        if not out.any():
            break
        # A record that leaves may leave others short. Each turn takes some out, so this ends.
        left[out] = -1
    if (left < 0).all():
        return group
    number = np.unique(left[left >= 0])
    return np.where(left < 0, -1, np.searchsorted(number, left))
