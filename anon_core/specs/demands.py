"""The k of each record as a plan states it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InfeasibleError, InputError

# Demands are stored as int32.
MOST_K = 2**31 - 1
MOST_L = 10  # up to which recursive diversity is measured
DiverseMeasure = Literal["distinct", "entropy", "distance"]  # see `tables.diverse.DiverseDemand`


def refuse_impossible(k: NDArray[np.int32], records: int) -> None:
    """Raise InfeasibleError where a record demands more rows than there are; k int32 (n,)."""
    if beyond := int(np.count_nonzero(k > records)):
        raise InfeasibleError(
            f"{beyond} records demand more than {records} rows, which is all there are; lower k"
        )


@dataclass(frozen=True)
class Demanded:
    """What is known of the demands on a table: from the table, or from its plan alone.

    Attributes
    ----------
    people : bool
        Whether a person may own several records.
    levels : int (m,)
        The levels of k that records demand, in any order and number. Empty: only the table tells.
    """

    people: bool
    levels: NDArray[np.signedinteger[Any]]

    @property
    def greatest(self) -> int:
        """The greatest k; 1 where only the table tells."""
        return int(self.levels.max(initial=1))

    def refuse_people(self) -> None:
        """Raise InputError where a person may own several records; for methods that count rows."""
        if self.people:
            raise InputError(
                "this method counts rows; where privacy.person is stated, choose "
                "anonymizer.name = 'local-search'"
            )


@dataclass(frozen=True, kw_only=True)
class Demand:
    """k(v) in exactly one of four forms.

    Attributes
    ----------
    constant : int, optional
        The same k for every record.
    uniform : (int, int), optional
        Smallest and largest k, both included. numpy's PCG64 with `seed` draws one k per record, in
        the order of the source.
    column : str, optional
        A source column that holds k.
    by : str, optional
        A source column whose value selects k from `levels`, or else `default`.
    optional : tuple of str
        Values in `levels` that no record need have.
    infeasible : {"refuse", "drop"}
        What to do with a record whose k exceeds the number of rows.
    """

    constant: int | None = None
    uniform: tuple[int, int] | None = None
    seed: int = 0
    column: str | None = None
    by: str | None = None
    levels: Mapping[str, int] = field(default_factory=dict, repr=False)
    default: int | None = None
    optional: tuple[str, ...] = field(default=(), repr=False)
    infeasible: Literal["refuse", "drop"] = "refuse"

    def __post_init__(self) -> None:
        forms = (self.constant, self.uniform, self.column, self.by)
        # Counted by None, not by truth: a stated k of 0 must reach the check below.
        if sum(form is not None for form in forms) != 1:
            raise InputError(
                "k is one of: a number, {uniform = [lo, hi]}, {column = ...}, "
                "{by = ..., levels = ...}"
            )
        if any(not 1 <= k <= MOST_K for k in self.constant_levels):
            raise InputError(f"every k must be at least 1 and at most {MOST_K}")
        if self.seed < 0:
            raise InputError("the seed of uniform k must be at least 0")
        if self.uniform and self.uniform[0] > self.uniform[1]:
            raise InputError("uniform = [lo, hi] needs lo <= hi")

    @property
    def constant_levels(self) -> list[int]:
        """Each k that is stated here, not in a column."""
        single = [k for k in (self.constant, self.default) if k is not None]
        # The two ends bound all that a uniform draw may give.
        return [*(self.uniform or ()), *self.levels.values(), *single]

    @property
    def source_column(self) -> str | None:
        """The source column that k is read from, if any."""
        return self.column or self.by
