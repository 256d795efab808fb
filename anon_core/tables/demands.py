"""How many rows each record wants to hide among: the plan's k as one number a record."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InfeasibleError, InputError

MOST_K = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class Demand:
    """k(v) as a plan states it; exactly one of the four forms.

    Attributes
    ----------
    constant : int, optional
    uniform : (int, int), optional
        Smallest and largest k, both included, drawn per record in source order with `seed`.
    column : str, optional
        A column of the source that holds k.
    by : str, optional
        A column whose value selects k from `levels`, or `default`.
    infeasible : {"refuse", "drop"}
        What becomes of records that demand more rows than there are.
    """

    constant: int | None = None
    uniform: tuple[int, int] | None = None
    seed: int = 0
    column: str | None = None
    by: str | None = None
    levels: Mapping[str, int] = field(default_factory=dict, repr=False)
    default: int | None = None
    infeasible: Literal["refuse", "drop"] = "refuse"

    def __post_init__(self) -> None:
        if (
            sum(form is not None for form in (self.constant, self.uniform, self.column, self.by))
            != 1
        ):
            raise InputError(
                "k is one of: a number, {uniform = [lo, hi]}, {column = ...}, {by = ..., levels = ...}"
            )
        stated = [*(self.uniform or ()), *self.levels.values()]
        stated += [k for k in (self.constant, self.default) if k is not None]
        if any(not 1 <= k <= MOST_K for k in stated):
            raise InputError(f"every k must be at least 1 and at most {MOST_K}")
        if self.seed < 0:
            raise InputError("the seed of uniform k must be at least 0")
        if self.uniform and self.uniform[0] > self.uniform[1]:
            raise InputError("uniform = [lo, hi] needs lo <= hi")

    @property
    def source_column(self) -> str | None:
        """The source column that k is read from, if any."""
        return self.column or self.by

    def resolve(
        self, stays: NDArray[np.bool_], values: NDArray[Any] | None
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Give every record its k.

        Parameters
        ----------
        stays : bool (records,)
            The records that may be released at all.
        values : ndarray (records,) or None
            The source column: float64 with nan (column) or object of str with None (by).

        Returns
        -------
        k : int32 (records,)
        kept : bool (records,)
            `stays` less the records that are left out because their demand cannot be met.

        Raises
        ------
        InputError
            k that is missing, no whole number or below 1; a group that neither levels nor default covers.
        InfeasibleError
            A record demands more rows than there are and the plan refuses that.
        """
        k = self._stated(len(stays), values)
        kept = stays.copy()
        while (over := kept & (k > kept.sum())).any():
            if self.infeasible == "refuse":
                raise InfeasibleError(
                    f"{int(over.sum())} of {int(kept.sum())} records demand k > {int(kept.sum())}; "
                    "lower k or drop them with [privacy] infeasible = 'drop'"
                )
            kept &= ~over
        if kept.sum() < 2:
            raise InfeasibleError(
                "fewer than 2 records are left to release; lower k or keep records with missing values"
            )
        return k.astype(np.int32), kept

    def absent(self, values: NDArray[Any]) -> int:
        """How many of `levels` no record has: those records may be spelt otherwise, and get the default."""
        return len(self.levels.keys() - set(values.tolist()))

    def _stated(self, records: int, values: NDArray[Any] | None) -> NDArray[np.int64]:
        if self.constant is not None:
            return np.full(records, self.constant, dtype=np.int64)
        if self.uniform is not None:
            generator = np.random.Generator(np.random.PCG64(self.seed))
            return generator.integers(self.uniform[0], self.uniform[1] + 1, size=records)
        if values is None or len(values) != records:
            raise InputError(
                f"k is read from column {self.source_column!r}, which was not given for every record"
            )
        if self.column is not None:
            wrong = ~(
                np.isfinite(values)
                & (values >= 1)
                & (values == np.floor(values))
                & (values <= MOST_K)
            )
            if wrong.any():
                raise InputError(
                    f"column {self.column!r}: {int(wrong.sum())} of {records} records hold no whole k >= 1; mend the source"
                )
            return values.astype(np.int64)
        k = np.array(
            [self.levels.get(value, self.default or 0) for value in values.tolist()], dtype=np.int64
        )
        if (k < 1).any():
            raise InputError(
                f"column {self.by!r}: {int((k < 1).sum())} of {records} records are of a group that levels do not name; "
                "name it or give a default"
            )
        return k
