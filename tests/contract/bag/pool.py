"""The anonymizer of the small kind of data, in one file."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.errors import InfeasibleError
from anon_core.promise import Promise
from anon_core.steps import Observer, State, Step


@dataclass(frozen=True)
class Bag:
    """Codes int64 (n,) of the values, and one k for all lines."""

    codes: np.ndarray
    k: int

    @property
    def records(self):
        return len(self.codes)

    def pack_arrays(self):
        return {"k": self.k}, {"codes": self.codes}

    @classmethod
    def unpack_arrays(cls, document, arrays):
        return cls(arrays["codes"], document["k"])

    def restore_result(self, arrays, steps, kept):
        return Pooled(arrays["hidden"], steps, kept)


@dataclass(frozen=True)
class Pooled:
    """bool (n,): the lines whose value is hidden."""

    hidden: np.ndarray
    steps: tuple
    result_step: int = 1

    def arrays(self):
        return {"hidden": self.hidden}


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Hide values on fewer than k lines, and further values until at least k lines are hidden.

    Attributes
    ----------
    generous : bool
        Hide values on k lines, too.
    """

    kind: ClassVar = "bag"
    data: ClassVar = Bag
    promise: ClassVar = Promise(("groups of k",))
    engines: ClassVar = {"local": ""}
    generous: bool = False

    def admit(self, data):
        if data.k > data.records:
            raise InfeasibleError(f"k = {data.k} is above the {data.records} lines; lower k")

    def memory(self, data):
        return 64 * data.records

    def anonymize(self, data, *, tie_order=None, observer=None, resume=None):
        counts = np.bincount(data.codes)
        rare = counts < data.k + self.generous
        while 0 < counts[rare].sum() < data.k:
            left = np.flatnonzero(~rare)
            rare[left[np.argmin(counts[left])]] = True
        hidden = rare[data.codes]
        steps = (Step(1, {"hidden": int(hidden.sum())}),)
        (observer or Observer()).on_step(State({"hidden": hidden}, steps))
        return Pooled(hidden, steps)
