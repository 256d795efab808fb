"""The settings of classes of little or least loss."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from anon_core.anonymizers.in_parts.divided import Divided
from anon_core.errors import InputError
from anon_core.promise import Promise
from anon_core.seating.shares import shares_of
from anon_core.specs.demands import Demanded
from anon_core.specs.losses import Loss, check_loss

ClassMethod = Literal["auto", "greedy", "split-and-carry", "exact", "initial"]


@dataclass(frozen=True, kw_only=True)
class OptimalSettings(Divided):
    """See `Optimal`.

    Attributes
    ----------
    method : {"auto", "greedy", "split-and-carry", "exact", "initial"}
        "initial": records in the order of their columns' variance, cut into classes. "greedy": the
        first record left takes the records of which its class loses least. "exact": the least loss
        of all partitions, proved, for up to 200 records. "split-and-carry": the least loss of
        `sets` k records at a time; classes at the border are solved again with the next part.
        "auto": "split-and-carry" where k < 8, there are fewer than 6 attributes, and no more
        records than `FEW_RECORDS` says, else "greedy".
    loss : {"range", "binary", "rank"}
        What a cell loses, see `loss_table`.
    sets : int
        S of Split & Carry, at least 2: a part reads S k records.
    boundary : int
        l of Split & Carry: the classes of the last l records of a part are carried. 0: l = k.
    part, accept : int
        P and A of the bubble carry, a form of Split & Carry: a part holds P records, the A classes
        that lose least stay, the others are carried. 0 and 0: `sets` and `boundary` count. A part
        without accept is one of the table, see `Divided`.
    leftovers : {"sequential", "before"}
        How greedy search places records at the end: with those placed before, or without.
    """

    method: ClassMethod = "auto"
    loss: Loss = "range"
    sets: int = 3
    boundary: int = 0
    part: int = 0
    accept: int = 0
    leftovers: Literal["sequential", "before"] = "sequential"

    kind: ClassVar[str] = "table"
    promise: ClassVar[Promise] = Promise(
        (
            *("compatible crowds", "matchable crowds", "truthful rows"),
            *("equivalence classes", "even seats"),
        )
    )

    def __post_init__(self) -> None:
        if self.method not in get_args(ClassMethod):
            raise InputError("method must be one of " + ", ".join(map(repr, get_args(ClassMethod))))
        check_loss(self.loss)
        if self.sets < 2:
            raise InputError("sets must be at least 2")
        if self.boundary < 0:
            raise InputError("boundary must be at least 1, or 0 for k")
        super().__post_init__()
        if self.accept < 0 or self.accept > self.part:
            raise InputError("accept must be 0, or a number of classes of a part")
        if self.accept and self.boundary:
            raise InputError("boundary does not belong to part and accept; state one or the other")
        if self.leftovers not in ("sequential", "before"):
            raise InputError("leftovers must be 'sequential' or 'before'")

    @property
    def records_of_part(self) -> int:
        """See `Divided`; with `accept` the part is one of Split & Carry."""
        return 0 if self.accept else self.part

    def admit_demands(self, demanded: Demanded) -> None:
        """Refuse people who own several records, too many shares, and parts that k does not fit."""
        shares_of(demanded.levels)
        demanded.refuse_people()
        k = demanded.greatest
        if demanded.levels.size and self.boundary > self.sets * k:
            raise InputError(
                f"boundary = {self.boundary} carries more than the {self.sets * k} records that a "
                "part reads; let it be at most sets times the greatest k"
            )
        if self.accept and self.part < (self.accept + 1) * k:
            raise InputError(
                f"part = {self.part} has no room for {self.accept} classes of {k} and one to "
                f"carry; let it be at least {(self.accept + 1) * k}"
            )
