"""Equivalence classes of little or least loss (Liang and Samavi)."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Data
from anon_core.anonymizers.groups import mask_groups
from anon_core.anonymizers.optimal import ordered
from anon_core.anonymizers.optimal.carry import Split, run_split_and_carry
from anon_core.anonymizers.optimal.columns import GroupLists
from anon_core.anonymizers.optimal.partition import PART_BUDGET, PROOF, least_loss
from anon_core.anonymizers.optimal.settings import ClassMethod, OptimalSettings
from anon_core.anonymizers.weights import feature_weights
from anon_core.errors import LimitError
from anon_core.seating.shares import shares_of
from anon_core.steps import Observer, State
from anon_core.tables.loss import LossTable, loss_table
from anon_core.tables.records import BinaryTable, MaskedTable

_MOST_RECORDS = 200  # of method = "exact"
FEW_ATTRIBUTES = 6  # "auto" solves parts of tables with fewer columns
# By the greatest k, up to how many records "auto" does so: minutes on two cores.
FEW_RECORDS = {1: 100_000, 2: 100_000, 3: 100_000, 4: 20_000, 5: 10_000, 6: 500, 7: 200}


@dataclass(frozen=True, kw_only=True)
class Optimal(OptimalSettings):
    """Classes of at least k records each: k-anonymity as usual, of little or least loss.

    A class holds at least the greatest k of its members. All its rows allow what its members have.
    Within a class, each record may sit in k of the rows, with equal chances.

    There is one step; its figures are `utility`, `weighted_utility` and `classes`.

    References
    ----------
    Liang and Samavi, Optimization-based k-Anonymity Algorithms, Computers & Security 2020,
    sections 2 and 3.
    """

    data: ClassVar[type[Data]] = BinaryTable

    def admit(self, data: BinaryTable) -> None:
        """Refuse demands that no table meets, what `admit_demands` refuses, and large programs."""
        data.refuse_impossible_demands()
        self.admit_demands(data.demands)
        if self.method == "exact" and data.records > _MOST_RECORDS:
            raise LimitError(
                f"method = 'exact' proves the least loss of at most {_MOST_RECORDS} records, not "
                f"of {data.records}; choose 'split-and-carry' or 'greedy'"
            )

    def memory(self, data: BinaryTable) -> int:
        """Return the bytes held at most beyond the input."""
        book = data.codebook
        widest = max(a.bits for a in book.attributes)
        levels = int(book.level_offsets[-1])
        per_record = 56 * len(book.attributes) + 2 * levels + 48 * book.words + 2 * widest + 440
        holders = 24 * data.records * shares_of(data.k)
        columns = {"exact": PROOF.columns, "split-and-carry": PART_BUDGET.columns}
        longest = min(data.records, 2 * int(data.k.max(initial=1)) - 1)
        program = (100 * longest + 600) * columns.get(self._choose_method(data), 0)
        return data.records * per_record + holders + 64 * levels + program + 2**20

    def anonymize(
        self,
        data: BinaryTable,
        *,
        tie_order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: State | None = None,
    ) -> MaskedTable:
        """Hide features until the rows of every class are equal; see `Anonymizer.anonymize`."""
        self.admit(data)
        weights = feature_weights(data.codebook, "columns", self.loss)

        def find() -> tuple[NDArray[np.int64], dict[str, float]]:
            places = np.arange(data.records) if tie_order is None else tie_order
            places = places[ordered.by_variance(data.at(places), self.loss)]
            group = np.empty(data.records, dtype=np.int64)
            groups = self._groups(data.at(places), loss_table(data.codebook, self.loss))
            for number, members in enumerate(groups):
                group[places[members]] = number
            return group, {}

        made, group = mask_groups(data, data.k, find, weights, observer, resume)
        return replace(made, holders=_list_holders(group, data.k))

    @property
    def _split(self) -> Split:
        return Split(self.sets, self.boundary, self.part, self.accept)

    def _choose_method(self, data: BinaryTable) -> ClassMethod:
        if self.method != "auto":
            return self.method
        few = data.records <= FEW_RECORDS.get(int(data.k.max(initial=1)), 0)
        return "split-and-carry" if few and len(data.codes) < FEW_ATTRIBUTES else "greedy"

    def _groups(self, table: BinaryTable, loss: LossTable) -> GroupLists:
        method = self._choose_method(table)
        if method == "initial":
            return ordered.build_initial_groups(table)
        if method == "exact":
            groups, proved = least_loss(
                table, loss, run_split_and_carry(table, loss, self._split), PROOF
            )
            if not proved:
                raise LimitError(
                    f"the least loss of {table.records} records is not proved within "
                    f"{PROOF.groups} groups and {PROOF.tries} tries to join them; let "
                    "anonymizer.method be 'split-and-carry' or 'greedy'"
                )
            return groups
        if method == "split-and-carry":
            return run_split_and_carry(table, loss, self._split)
        return ordered.build_greedy_groups(table, loss, sequential=self.leftovers == "sequential")


def _list_holders(group: NDArray[np.int64], k: NDArray[np.int32]) -> NDArray[np.int32]:
    """Who may sit in each row, int32 (n, D): k members of its class in turn, each for D / k shares.

    k is here the greatest demand of the class.
    """
    shares, permutation = shares_of(k), np.argsort(group, kind="stable")
    size = np.bincount(group)
    start = np.cumsum(size) - size
    greatest = np.zeros(len(size), dtype=np.int64)
    np.maximum.at(greatest, group, k)
    of = group[permutation]
    turn = np.arange(shares) // (shares // greatest[of])[:, None]
    place = np.arange(len(group)) - start[of]
    holders = np.empty((len(group), shares), dtype=np.int32)
    holders[permutation] = permutation[
        start[of][:, None] + (place[:, None] + turn) % size[of][:, None]
    ]
    return holders
