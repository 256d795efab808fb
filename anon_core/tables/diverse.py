"""What a plan demands of the sensitive values within each class."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InfeasibleError
from anon_core.specs.demands import DiverseMeasure

_ROUNDING = 1e-12  # of a limit that a class meets exactly


@dataclass(frozen=True)
class DiverseDemand:
    """Each class shows different values of one sensitive column.

    Two classes that meet the demand meet it as one, too: they have no fewer values, no less entropy
    than the less mixed of them, and are no further from the whole than the farther one.

    Attributes
    ----------
    value : int64 (n,)
        The value of each record as its rank 0 .. m - 1 among all values; every rank occurs.
    measure : {"distinct", "entropy", "distance"}
        "distinct": at least `limit` values. "entropy": exp of the entropy is at least `limit`.
        "distance": the earth mover's distance from the values of all records is at most `limit`.
    limit : float
    ordered : bool
        "distance": values are as far apart as their ranks, not equally far.
    whole : int64 (m,)
        How often each value occurs among all records that are released.

    References
    ----------
    Machanavajjhala et al., l-Diversity, 2007; Li et al., t-Closeness, 2007.
    """

    value: NDArray[np.int64]
    measure: DiverseMeasure
    limit: float
    ordered: bool
    whole: NDArray[np.int64]

    @classmethod
    def of(
        cls, value: NDArray[np.int64], measure: DiverseMeasure, limit: float, *, ordered: bool
    ) -> "DiverseDemand":
        """From the value of each record, int64 (n,), in the order of the values."""
        _, rank, whole = np.unique(value, return_inverse=True, return_counts=True)
        return cls(rank.astype(np.int64), measure, float(limit), ordered, whole.astype(np.int64))

    def at(self, places: NDArray[np.int64]) -> "DiverseDemand":
        """The same for the records at these places, int64 (m,)."""
        # `whole` stays: a class is compared with all released records, in whichever part it is.
        return replace(self, value=self.value[places])

    def pack_arrays(self) -> dict[str, NDArray[Any]]:
        """Return it as arrays."""
        rule = [get_args(DiverseMeasure).index(self.measure), self.limit, self.ordered]
        return {
            "diverse_value": self.value,
            "diverse_rule": np.array(rule, dtype=np.float64),
            "diverse_whole": self.whole,
        }

    @classmethod
    def unpack_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "DiverseDemand | None":
        """The inverse of `pack_arrays`; None where the arrays hold none."""
        if "diverse_value" not in arrays:
            return None
        measure, limit, ordered = arrays["diverse_rule"].tolist()
        return cls(
            arrays["diverse_value"],
            get_args(DiverseMeasure)[int(measure)],
            limit,
            bool(ordered),
            arrays["diverse_whole"],
        )

    def refuse_impossible(self) -> None:
        """Raise InfeasibleError where all records in one class would not meet the demand.

        No classes meet it then: see above.
        """
        most = self._compute(self.whole[None], np.arange(len(self.whole)))[0]
        # All records together are at distance 0 from themselves, so they meet every distance.
        if self.measure != "distance" and most < self.limit - _ROUNDING * self.limit:
            what = "values" if self.measure == "distinct" else "values by entropy"
            largest = int(most + _ROUNDING * most)
            remedy = f"the largest l is {largest}" if largest > 1 else "no l is small enough"
            raise InfeasibleError(
                f"all records together show {most:.4g} {what}, so no classes show {self.limit:g} "
                f"each; {remedy}"
            )

    def meets(self, members: NDArray[np.int64]) -> bool:
        """Whether these records, as one class, meet the demand."""
        present, counts = np.unique(self.value[members], return_counts=True)
        return bool(self.meet(counts[None], present)[0])

    def meet(self, counts: NDArray[np.int64], present: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether classes meet the demand, bool (c,).

        counts : int64 (c, p), how often each class has each of the values `present`, int64 (p,),
            in ascending order; none is empty.
        """
        found, slack = self._compute(counts, present), _ROUNDING * max(1.0, self.limit)
        met: NDArray[np.bool_] = (
            found <= self.limit + slack
            if self.measure == "distance"
            else found >= self.limit - slack
        )
        return met

    def _compute(
        self, counts: NDArray[np.int64], present: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """What the demand limits, float64 (c,)."""
        if self.measure == "distinct":
            return np.asarray((counts > 0).sum(axis=1), dtype=np.float64)
        share = counts / counts.sum(axis=1, keepdims=True)
        if self.measure == "entropy":
            # 0 log 0 is 0.
            logs = np.log(np.where(counts > 0, share, 1.0))
            return np.asarray(np.exp(-(share * logs).sum(axis=1)))
        of_all = self.whole / self.whole.sum()
        if not self.ordered:
            # Values are equally far apart: what must move is the surplus. Absent values have none.
            beyond = np.maximum(0.0, share - of_all[present]).sum(axis=1)
            return np.asarray(beyond)
        return _compute_ordered_distances(share, present, np.cumsum(of_all)[:-1])


def _compute_ordered_distances(
    share: NDArray[np.float64], present: NDArray[np.int64], below: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return earth mover's distances of ranks: the mean gap between two cumulative shares.

    `below` float64 (m - 1,): share of all records up to each rank but the last. Between two values
    of a class its own share stays, so the gaps of a run are two sums of a rising sequence.
    """
    if not len(below):
        return np.zeros(len(share))
    # (c, p + 1): column j is the cumulative share from the j-th value of a class up to the next.
    own = np.concatenate([np.zeros((len(share), 1)), np.cumsum(share, axis=1)], axis=1)
    begin = np.minimum(np.concatenate([[0], present]), len(below))
    end = np.append(begin[1:], len(below))
    sums = np.concatenate([[0.0], np.cumsum(below)])
    # Up to here the class is ahead of all records, from here on behind: O(c p log m), not O(c m).
    turn = np.clip(np.searchsorted(below, own), begin, end)
    under = own * (turn - begin) - (sums[turn] - sums[begin])
    over = (sums[end] - sums[turn]) - own * (end - turn)
    gaps: NDArray[np.float64] = (under + over).sum(axis=1) / len(below)
    return gaps
