"""A sparse binary matrix, users x items, and the groups that hide its users."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.demands import refuse_impossible
from anon_core.steps import Step


@dataclass(frozen=True)
class SparseMatrix:
    """The items of each record, and what each record demands.

    Attributes
    ----------
    indptr : int64 (n + 1,)
        Record v holds indices[indptr[v] : indptr[v + 1]]; it may hold none.
    indices : int32 (entries,)
        Items, ascending in each record, each at most once.
    items : int
        Number of items; every index is less.
    k : int32 (n,)
        Demanded privacy level of each record, 1 <= k <= n.
    """

    indptr: NDArray[np.int64] = field(repr=False)
    indices: NDArray[np.int32] = field(repr=False)
    items: int
    k: NDArray[np.int32] = field(repr=False)

    @property
    def records(self) -> int:
        """Number of records n."""
        return len(self.indptr) - 1

    @property
    def entries(self) -> int:
        """Number of pairs of a record and an item that it holds."""
        return len(self.indices)

    def check(self) -> None:
        """Raise InputError where the arrays are no such matrix."""
        length = np.diff(self.indptr)
        # Must hold before `np.repeat`, which refuses negative lengths in words of its own.
        if self.indptr[0] != 0 or self.indptr[-1] != self.entries or (length < 0).any():
            raise InputError("the items of the records must lie one after the other")
        row = np.repeat(np.arange(self.records), length)
        # Items need not rise from the last entry of one record to the first of the next.
        ascending = (np.diff(self.indices) > 0) | (np.diff(row) > 0)
        within = (self.indices >= 0) & (self.indices < self.items)
        if not (ascending.all() and within.all()):
            raise InputError(
                "the items of each record must be ascending numbers below the number of items, "
                "each at most once"
            )
        if self.k.shape != (self.records,) or (self.records and self.k.min() < 1):
            raise InputError(f"k must be {self.records} whole numbers, at least 1 each")

    def refuse_impossible_demands(self) -> None:
        """Raise InfeasibleError where a record demands more rows than there are."""
        refuse_impossible(self.k, self.records)

    def pack_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the number of items, and the arrays."""
        return {"items": self.items}, {"indptr": self.indptr, "indices": self.indices, "k": self.k}

    @classmethod
    def unpack_arrays(
        cls, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> "SparseMatrix":
        """Return the packed matrix."""
        return cls(arrays["indptr"], arrays["indices"], document["items"], arrays["k"])

    def restore_result(
        self, arrays: Mapping[str, NDArray[Any]], steps: tuple[Step, ...], result_step: int
    ) -> "GroupedMatrix":
        """Return what an anonymizer made of this matrix, from `GroupedMatrix.arrays`."""
        return GroupedMatrix(
            self,
            arrays["group"],
            arrays["group_indptr"],
            arrays["group_indices"],
            steps,
            result_step,
        )


@dataclass(frozen=True)
class GroupedMatrix:
    """What an anonymizer made of a matrix: groups of records, and the items of each group's rows.

    Attributes
    ----------
    matrix : SparseMatrix
    group : int32 (n,)
        Number of each record's group.
    indptr : int64 (groups + 1,)
    indices : int32 (entries,)
        Each row of group g is released with the items indices[indptr[g] : indptr[g + 1]],
        ascending. Groups may have equal items.
    steps : tuple of Step
    result_step : int
        Number of the step whose result this is; 0 if there are no steps.
    """

    matrix: SparseMatrix
    group: NDArray[np.int32] = field(repr=False)
    indptr: NDArray[np.int64] = field(repr=False)
    indices: NDArray[np.int32] = field(repr=False)
    steps: tuple[Step, ...] = ()
    result_step: int = 0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `SparseMatrix.restore_result` needs to make this again."""
        return {"group": self.group, "group_indptr": self.indptr, "group_indices": self.indices}
