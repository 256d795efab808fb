"""A toy anonymizer of tables in one file: sorted records, cut into stripes that look alike."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.errors import InfeasibleError, InputError
from anon_core.promise import Promise
from anon_core.steps import Observer, State, Step
from anon_core.tables.records import BinaryTable, MaskedTable


@dataclass(frozen=True, kw_only=True)
class Stripes:
    """Sort the records by their levels; each stripe of `width` hides what differs inside it."""

    kind: ClassVar = "table"
    data: ClassVar = BinaryTable
    promise: ClassVar = Promise(
        ("compatible crowds", "matchable crowds", "truthful rows", "equivalence classes")
    )
    engines: ClassVar = {"local": ""}
    width: int

    def __post_init__(self):
        if self.width < 2:
            raise InputError("width must be at least 2")

    def admit(self, data):
        if data.k.max() > min(self.width, data.records):
            raise InfeasibleError("a record demands more rows than a stripe has; raise width")

    def admit_demands(self, demanded):
        demanded.refuse_people()

    def memory(self, data):
        return 64 * data.records * data.codebook.words

    def anonymize(self, data, *, tie_order=None, observer=None, resume=None):
        places = np.lexsort(data.codes)
        stripes = np.array_split(places, max(1, data.records // self.width))
        hidden = np.zeros_like(data.bits)
        for stripe in stripes:
            bits = data.bits[stripe]
            hidden[stripe] = np.bitwise_or.reduce(bits) & ~np.bitwise_and.reduce(bits)
        hidden = with_blank_cells(data, hidden, stripes)
        shown = 1 - np.bitwise_count(hidden).sum() / (data.records * data.codebook.features)
        steps = (Step(1, {"utility": float(shown), "stripes": len(stripes)}),)
        (observer or Observer()).on_step(State({"hidden": hidden}, steps))
        return MaskedTable(data, hidden, steps, 1)


def with_blank_cells(data, hidden, stripes):
    """Hide whole attributes of a stripe where a cell of it must be hidden."""
    offsets = data.codebook.bit_offsets
    for stripe in stripes:
        for attribute in np.flatnonzero(data.blank[:, stripe].any(axis=1)):
            for feature in range(offsets[attribute], offsets[attribute + 1]):
                hidden[stripe, feature // 64] |= np.uint64(1 << int(feature % 64))
    return hidden
