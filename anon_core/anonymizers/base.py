"""What every anonymizer is."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anon_core.records import BinaryTable, MaskedTable, OnIteration


class Anonymizer(Protocol):
    """A frozen, keyword-only dataclass of its settings, validated at birth, with one verb."""

    def anonymize(
        self, table: BinaryTable, *, order: NDArray[np.int64] | None = None, on_iteration: OnIteration | None = None
    ) -> MaskedTable:
        """Hide features until every record fits k(v) rows.

        Parameters
        ----------
        table : BinaryTable
        order : int64 (n,), optional
            The order of the records that decides ties (first wins); as given if None. A secret one keeps a reader of
            the source from repeating the run.
        on_iteration : callable, optional
            Called with each `Iteration` as it ends.
        """
        ...

    def memory(self, table: BinaryTable) -> int:
        """Bytes that `anonymize` holds at most beyond its input."""
        ...
