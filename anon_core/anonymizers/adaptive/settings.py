"""The settings of the adaptive method, checked at birth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from anon_core.anonymizers.in_parts.divided import Divided
from anon_core.covers.names import SPREADABLE
from anon_core.errors import InputError
from anon_core.promise import Promise
from anon_core.seating.shares import shares_of
from anon_core.specs.demands import Demanded
from anon_core.specs.losses import WeightRule, check_weights

_ROOM = "anon_core.anonymizers.adaptive"


@dataclass(frozen=True, kw_only=True)
class Settings(Divided):
    """What shapes a result. The hash of a plan depends on names, order and defaults.

    Attributes
    ----------
    epsilon : float
        How slowly a hidden bit loses its weight: by (epsilon / (1 + epsilon)) for each neighbour
        that differs in it.
    schedule : {"multilevel", "falling", "fixed"}
        "fixed" keeps epsilon. "falling" divides epsilon by 4, down to 1.25, after each iteration
        that lowers the loss by less than 2 %; such an iteration at 1.25 is the last. "multilevel"
        does more for tables from 16,384 records on: a quarter of the records, in crowds a quarter
        as large, go ahead for one iteration, then a half, then all. Each starts from what the
        smaller part reached, at a quarter of epsilon. The run stops at an iteration that comes
        within 2 % of the loss of the half, or that lowers the loss by less than 2 %.
    reclaim : bool
        Whether each iteration ends by showing again what no record needs hidden.
    weights : {"columns", "cells", "bits"}
        What counts as loss: every column the same (the sum is NCP), a cell's NCP and as much again
        for not being exact, or every bit the same. A column's own `weight` multiplies each.
    cover : {"mce", "lse"}
        The grouping step: "lse" is lighter and slower. See `anon_core.covers.named`.
    seats : {"even", "matchable"}
        "even": nobody sits in any row with a chance above 1/k(v). The iterations then give the
        masks that `evened` begins with. "matchable": k(v) rows remain possible, not all of them
        equally likely. A plan that states its levels of k has "even" unless it says otherwise.
    max_iterations : int
    patience : int
        Stop after this many iterations without improvement.
    """

    epsilon: float = 20.0
    schedule: Literal["multilevel", "falling", "fixed"] = "multilevel"
    reclaim: bool = True
    weights: WeightRule = "columns"
    cover: Literal["mce", "lse"] = "mce"
    seats: Literal["even", "matchable"] = field(
        default="matchable", metadata={"before": "matchable", "stated levels": "even"}
    )
    max_iterations: int = 10
    patience: int = 3

    kind: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.epsilon < float("inf"):
            raise InputError("epsilon must be a positive finite number")
        if self.schedule not in ("multilevel", "falling", "fixed"):
            raise InputError("schedule must be 'multilevel', 'falling' or 'fixed'")
        check_weights(self.weights)
        if self.cover not in SPREADABLE:
            raise InputError("cover must be one of " + ", ".join(SPREADABLE))
        if self.seats not in ("even", "matchable"):
            raise InputError("seats must be 'even' or 'matchable'")
        if self.max_iterations < 1 or self.patience < 1:
            raise InputError("max_iterations and patience must be at least 1")

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
        ranked = {"mpi": f"{_ROOM}.ranked"} if SPREADABLE[self.cover] else {}
        return {**parts, "dask": f"{_ROOM}.farmed", **ranked}

    def admit_demands(self, demanded: Demanded) -> None:
        """Refuse settings that count rows where people own several, and too many even shares."""
        if self.seats == "even":
            shares_of(demanded.levels)
        elif demanded.people:
            raise InputError(
                "crowds of people need even seats: set anonymizer.seats = 'even', and state k as "
                "one number or by groups"
            )
