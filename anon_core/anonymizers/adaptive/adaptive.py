"""Adaptive anonymity as an anonymizer."""

from collections.abc import Mapping
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
from anon_core.errors import InputError
from anon_core.promise import Promise
from anon_core.seating.even import shares_of
from anon_core.specs.demands import Demanded
from anon_core.steps import Observer, State
from anon_core.tables.records import BinaryTable, MaskedTable

_ROOM = "anon_core.anonymizers.adaptive"


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

    kind: ClassVar[str] = "table"
    data: ClassVar[type[Data]] = BinaryTable

    @property
    def promise(self) -> Promise:
        """The paper's crowds; beside them even seats, if these are drawn."""
        crowds = ("compatible crowds", "matchable crowds", "truthful rows")
        return Promise((*crowds, "even seats") if self.seats == "even" else crowds)

    @property
    def engines(self) -> Mapping[str, str]:
        """One part is spread as a whole: over a farm, and where its cover allows it, over ranks."""
        parts = super().engines
        if self.part:
            return parts
        ranked = {"mpi": f"{_ROOM}.ranked"} if COVERS[self.cover].spread else {}
        return {**parts, "dask": f"{_ROOM}.farmed", **ranked}

    def admit(self, data: BinaryTable) -> None:
        """Refuse demands that no table meets, and more records than the cover takes."""
        data.refuse_impossible_demands()
        COVERS[self.cover].check(data.records)
        self.admit_demands(data.demands)

    def admit_demands(self, demanded: Demanded) -> None:
        """Refuse settings that count rows where people own several, and too many even shares."""
        if self.seats == "even":
            shares_of(demanded.levels)
        elif demanded.people:
            raise InputError(
                "crowds of people need even seats: set anonymizer.seats = 'even', and state k as "
                "one number or by groups"
            )

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
