"""What every anonymizer is."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anon_core.tables.records import BinaryTable, Checkpoint, MaskedTable, Observer


class Anonymizer(Protocol):
    """A frozen, keyword-only dataclass of its settings, validated at birth, with one verb."""

    @property
    def max_iterations(self) -> int:
        """How many iterations there are at most."""
        ...

    def anonymize(
        self,
        table: BinaryTable,
        *,
        order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: Checkpoint | None = None,
    ) -> MaskedTable:
        """Hide features until every record fits k(v) rows.

        Parameters
        ----------
        table : BinaryTable
        order : int64 (n,), optional
            The order of the records that decides ties (first wins); as given if None. A secret one keeps a reader of
            the source from repeating the run.
        observer : Observer, optional
            Told how the work goes on.
        resume : Checkpoint, optional
            Where a run with the same settings, table and order was stopped: the result is that of a run that was not.

        Raises
        ------
        InputError
            The checkpoint is none of this table and these settings.
        """
        ...

    def memory(self, table: BinaryTable) -> int:
        """Bytes that `anonymize` holds at most beyond its input."""
        ...
