"""The settings of smooth k-anonymity."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from anon_core.errors import InputError
from anon_core.promise import Promise

Merge = Literal["nearest", "arbitrary"]
_Method = Literal["matching", "alg2", "alg1"]
_ROOM = "anon_core.anonymizers.smooth"


@dataclass(frozen=True, kw_only=True)
class SmoothSettings:
    """See `Smooth`.

    Attributes
    ----------
    method : {"matching", "alg2", "alg1"}
        "matching": pairs of records, then of groups, join by least loss of sum c^2 / s until they
        have k records; then records move or swap as long as the similarity rises. "alg2": Algorithm
        2 of the paper, for comparison, on the records in the order given; no record moves or swaps
        afterwards. "alg1": its Algorithm 1, lower-bounded r-median, for up to 2000 records.
    sweeps : int
        How often each record may move or swap at most; 0: never.
    annealing : int
        Sweeps before those in which records move at random, also where that lowers the similarity,
        ever less; 0: none. A few hundred raise it further.
    a : float
        Of "alg2" and "alg1": a facility of fewer than a k records is closed; from 1/8 to 1/2.
    merge : {"nearest", "arbitrary"}
        Of "alg2" and "alg1": which of the clusters below k merge, those whose centres are nearest
        to each other or those whose centres follow each other in the order of the records.
    block : int
        Of "matching". 0: all records at once. Else records that hash alike lie in blocks of this
        many, or of the greatest k, and each block is grouped by itself. Two more passes cut other
        blocks, of whole groups, in which records move and swap. `annealing` and `sweeps` are those
        of each block in each pass.
    """

    method: _Method = "matching"
    sweeps: int = 8
    annealing: int = 0
    a: float = 0.5
    merge: Merge = "nearest"
    block: int = field(default=0, metadata={"before": 0})

    kind: ClassVar[str] = "matrix"
    promise: ClassVar[Promise] = Promise(("equivalence classes", "smooth majority"))

    @property
    def engines(self) -> Mapping[str, str]:
        """Dask groups blocks."""
        return {"local": "", "dask": f"{_ROOM}.farmed"} if self.block else {"local": ""}

    def __post_init__(self) -> None:
        if self.method not in get_args(_Method):
            raise InputError("method must be one of " + ", ".join(map(repr, get_args(_Method))))
        if self.sweeps < 0:
            raise InputError("sweeps must be 0 or a number of sweeps")
        if not 1 / 8 <= self.a <= 1 / 2:
            raise InputError("a must be a number from 1/8 to 1/2")
        if self.merge not in get_args(Merge):
            raise InputError("merge must be 'nearest' or 'arbitrary'")
        if self.block < 0 or (self.block and self.method != "matching"):
            raise InputError("block must be 0, or a number of records with method = 'matching'")
        if self.annealing < 0:
            raise InputError("annealing must be 0 or a number of sweeps")
