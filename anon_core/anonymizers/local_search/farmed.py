"""The cover and the rounds of a local search on a farm; the process that asks narrows."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive import farmed
from anon_core.anonymizers.freeform.farmed import assign_on_farm, memory_of_travelling
from anon_core.anonymizers.local_search.local_search import LocalSearch
from anon_core.spread import Farm
from anon_core.steps import Observer, State
from anon_core.tables.records import BinaryTable, MaskedTable


def memory(anonymizer: LocalSearch, data: BinaryTable) -> int:
    """Return the bytes that this process, or a worker, holds at most beyond its input."""
    rounds = anonymizer.choose_rounds(data)
    travelling = 0 if rounds is None else memory_of_travelling(data)
    return max(
        farmed.memory(anonymizer.cover, data), anonymizer.memory_of_search(data) + travelling
    )


def anonymize(
    anonymizer: LocalSearch,
    data: BinaryTable,
    farm: Farm,
    *,
    tie_order: NDArray[np.int64] | None = None,
    observer: Observer | None = None,
    resume: State | None = None,
) -> MaskedTable:
    """Do as `LocalSearch.anonymize`, the cover's search and the rounds spread over a farm."""
    cover = partial(farmed.anonymize, anonymizer.cover, data, farm, tie_order=tie_order)
    return anonymizer.narrow_starts(
        data,
        cover,
        partial(assign_on_farm, farm=farm),
        tie_order=tie_order,
        observer=observer,
        resume=resume,
    )
