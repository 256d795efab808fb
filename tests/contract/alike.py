"""A toy anonymizer of graphs in one file: all vertices alike, so that each hides among all."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.errors import InputError
from anon_core.graphs.records import ObfuscatedGraph, UncertainGraph
from anon_core.promise import Promise
from anon_core.specs.graphs import ONE
from anon_core.steps import Observer, State, Step

MILLIONTH = ONE // 10**6


@dataclass(frozen=True, kw_only=True)
class Alike:
    """Join every two vertices with one probability: the source's expected edges, spread evenly."""

    kind: ClassVar = "graph"
    data: ClassVar = UncertainGraph
    promise: ClassVar = Promise(("obfuscated",))
    engines: ClassVar = {"local": ""}
    times: int = 1

    def __post_init__(self):
        if self.times < 1:
            raise InputError("times must be at least 1")

    def admit(self, data):
        data.check()
        data.refuse_impossible_demands()

    def memory(self, data):
        return 64 * data.records**2

    def anonymize(self, data, *, tie_order=None, observer=None, resume=None):
        self.admit(data)
        if resume is not None:
            return data.restore_result(resume.arrays, resume.steps, 1)
        u, v = np.triu_indices(data.records, 1)
        share = self.times * int(data.p.sum(dtype=np.int64)) // max(1, len(u)) // MILLIONTH
        p = np.full(len(u), min(max(share, 1), 999_999) * MILLIONTH)
        steps = (Step(1, {"edges": len(u)}),)
        made = ObfuscatedGraph(data, *(each.astype(np.int32) for each in (u, v, p)), steps, 1)
        (observer or Observer()).on_step(State(made.arrays(), steps))
        return made
