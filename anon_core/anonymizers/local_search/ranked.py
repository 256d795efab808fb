"""The cover, the rounds and the parts of a local search over ranks."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive import ranked
from anon_core.anonymizers.adaptive.ranked import share
from anon_core.anonymizers.freeform.ranked import assign_on_ranks
from anon_core.anonymizers.local_search.local_search import LocalSearch
from anon_core.seating.exchanges.ranked import narrow_on_ranks
from anon_core.spread import Ranks
from anon_core.steps import Observer, State
from anon_core.tables.records import BinaryTable, MaskedTable

__all__ = ["anonymize", "memory", "share"]


def memory(anonymizer: LocalSearch, data: BinaryTable, *, ranks: int, threads: int) -> int:
    """Return the bytes that a rank holds at most beyond the table."""
    of_cover = ranked.memory(anonymizer.cover, data, ranks=ranks, threads=threads)
    return max(of_cover, anonymizer.memory_of_search(data))


def anonymize(
    anonymizer: LocalSearch,
    data: BinaryTable,
    ranks: Ranks,
    *,
    tie_order: NDArray[np.int64] | None = None,
    observer: Observer | None = None,
    resume: State | None = None,
) -> MaskedTable:
    """Do as `LocalSearch.anonymize`, together with the other ranks; see `Ranked.anonymize`."""
    cover = partial(ranked.anonymize, anonymizer.cover, data, ranks, tie_order=tie_order)
    return anonymizer.narrow_starts(
        data,
        cover,
        partial(assign_on_ranks, ranks=ranks),
        partial(narrow_on_ranks, ranks=ranks),
        tie_order=tie_order,
        observer=observer,
        resume=resume,
    )
