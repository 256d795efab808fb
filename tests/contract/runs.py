"""A toy anonymizer of matrices in one file: sorted records, cut into runs of k, majority rule."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.errors import InputError
from anon_core.matrices.records import GroupedMatrix, SparseMatrix
from anon_core.promise import Promise
from anon_core.steps import Observer, State, Step


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Sort the records by their items and cut them into runs of k or more.

    An item is in the rows of a run if at least half of its records hold it.
    """

    kind: ClassVar = "matrix"
    data: ClassVar = SparseMatrix
    promise: ClassVar = Promise(("equivalence classes", "smooth majority"))
    engines: ClassVar = {"local": ""}
    longer: int = 0

    def __post_init__(self):
        if self.longer < 0:
            raise InputError("longer must be at least 0")

    def admit(self, data):
        data.refuse_impossible_demands()

    def memory(self, data):
        return 200 * data.records + 64 * data.entries

    def anonymize(self, data, *, tie_order=None, observer=None, resume=None):
        self.admit(data)
        if resume is not None:
            return data.restore_result(resume.arrays, resume.steps, 1)
        order = np.arange(data.records) if tie_order is None else tie_order
        held = [
            data.indices[a:b].tolist() for a, b in zip(data.indptr, data.indptr[1:], strict=False)
        ]
        ranked = sorted(order.tolist(), key=held.__getitem__)
        runs = np.array_split(ranked, max(1, data.records // (int(data.k.max()) + self.longer)))
        group = np.empty(data.records, dtype=np.int32)
        items = []
        for number, run in enumerate(runs):
            group[run] = number
            item, count = np.unique([i for v in run for i in held[v]], return_counts=True)
            items.append(item[2 * count >= len(run)].astype(np.int32))
        indptr = np.concatenate([[0], np.cumsum([len(each) for each in items])])
        steps = (Step(1, {"groups": len(runs)}),)
        made = GroupedMatrix(data, group, indptr, np.concatenate(items), steps, 1)
        (observer or Observer()).on_step(State(dict(made.arrays()), steps))
        return made
