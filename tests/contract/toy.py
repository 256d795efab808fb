"""A small anonymizer of tables in one file: what a new method has to state, and no more."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.errors import InputError
from anon_core.promise import Promise
from anon_core.steps import Observer, State, Step
from anon_core.tables.records import BinaryTable, MaskedTable


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Cut the sorted records into runs of k or more; hide each column in which a run differs.

    The first step hides every column, the second does the above.
    """

    reverse: bool = False

    kind: ClassVar[str] = "table"
    data: ClassVar[type[BinaryTable]] = BinaryTable
    promise: ClassVar[Promise] = Promise(
        ("compatible crowds", "matchable crowds", "truthful rows", "equivalence classes")
    )
    engines: ClassVar[Mapping[str, str]] = {"local": ""}

    def admit(self, data):
        """Refuse demands that no table meets."""
        data.refuse_impossible_demands()
        self.admit_demands(data.demands)

    def admit_demands(self, demanded):
        """Refuse people who own several records."""
        demanded.refuse_people()

    def memory(self, data):
        """Return the bytes of three arrays of bits and one of codes."""
        return data.records * (24 * data.codebook.words + 8 * len(data.codes) + 64) + 2**16

    def anonymize(self, data, *, tie_order=None, observer=None, resume=None):
        """Hide columns by run; a run of equal records is cut by the order."""
        self.admit(data)
        observer = observer or Observer()
        observer.expects(2)
        order = np.arange(data.records) if tie_order is None else tie_order
        steps = () if resume is None else resume.steps
        if resume is not None and set(resume.arrays) != {"hidden"}:
            raise InputError("the checkpoint holds no hidden features; start anew without it")
        hidden = None if resume is None else resume.arrays["hidden"]
        while len(steps) < 2:
            hidden = self._everything(data) if not steps else self._by_run(data, order)
            shown = 1 - np.bitwise_count(hidden).sum() / (data.records * data.codebook.features)
            steps = (*steps, Step(len(steps) + 1, {"utility": float(shown)}))
            observer.report_records(data.records)
            observer.on_step(State({"hidden": hidden}, steps))
        return MaskedTable(data, hidden, steps, 2)

    @staticmethod
    def _mask(data, attributes):
        first, end = data.codebook.bit_offsets[:-1], data.codebook.bit_offsets[1:]
        bits = sum((1 << int(end[a])) - (1 << int(first[a])) for a in attributes)
        return np.frombuffer(bits.to_bytes(8 * data.codebook.words, "little"), dtype=np.uint64)

    def _everything(self, data):
        return np.tile(self._mask(data, range(len(data.codes))), (data.records, 1))

    def _by_run(self, data, order):
        ranked = order[np.lexsort(data.codes[:, order])]
        ranked = ranked[::-1] if self.reverse else ranked
        hidden, k = np.zeros_like(data.bits), int(data.k.max())
        for run in np.array_split(ranked, max(1, data.records // k)):
            codes = data.codes[:, run]
            differs = (codes != codes[:, :1]).any(axis=1) | data.blank[:, run].any(axis=1)
            hidden[run] = self._mask(data, np.flatnonzero(differs))
        return hidden
