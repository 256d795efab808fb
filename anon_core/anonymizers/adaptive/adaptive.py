"""Adaptive anonymity as an anonymizer."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive.grouping import Grouping
from anon_core.anonymizers.adaptive.iterate import run_iterations
from anon_core.anonymizers.adaptive.memory import memory_needed
from anon_core.anonymizers.adaptive.settings import Settings
from anon_core.anonymizers.base import Data
from anon_core.covers.named import COVERS
from anon_core.steps import Observer, State
from anon_core.tables.records import BinaryTable, MaskedTable


@dataclass(frozen=True, kw_only=True)
class Adaptive(Settings):
    """Algorithm 1 of Khan et al. with several levels and with stars reclaimed; see `Settings`.

    With schedule = "fixed" and reclaim = False it is the algorithm of the paper. A step is an
    iteration; its figures are `utility` (1 - hidden bits / (n f), Definition III.2),
    `weighted_utility` (each bit, and each masked cell where that counts, at its base weight: the
    greatest is kept), `cover_edges`, and `foreseen` after a warm start: the weighted
    utility that half of the records reached.

    References
    ----------
    Khan et al., Adaptive Anonymization of Data using b-Edge Cover, Algorithms 1-3, sections III-IV.
    """

    data: ClassVar[type[Data]] = BinaryTable

    def admit(self, data: BinaryTable) -> None:
        """Refuse demands that no table meets, and more records than the cover takes."""
        data.refuse_impossible_demands()
        COVERS[self.cover].check(data.records)
        self.admit_demands(data.demands)

    def memory(self, data: BinaryTable) -> int:
        """Return the bytes held at most beyond the input."""
        self.admit(data)
        return memory_needed(self, data)

    def anonymize(
        self,
        data: BinaryTable,
        *,
        tie_order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: State | None = None,
    ) -> MaskedTable:
        """Hide features until every record fits k(v) rows; see `Anonymizer.anonymize`."""
        self.admit(data)
        return run_iterations(
            self, data, Grouping, tie_order=tie_order, observer=observer, resume=resume
        )
