"""The settings of local search."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from anon_core.anonymizers.adaptive.settings import Settings as AdaptiveSettings
from anon_core.anonymizers.freeform.settings import MOST_EXACT
from anon_core.anonymizers.in_parts.divided import Divided
from anon_core.errors import InputError
from anon_core.promise import Promise
from anon_core.seating.exchanges.efforts import EFFORTS
from anon_core.specs.demands import Demanded
from anon_core.specs.losses import Loss, check_loss

PART = 20_000  # records of a part: tables of twice as many are cut; see decision 038


@dataclass(frozen=True, kw_only=True)
class LocalSearchSettings(Divided):
    """See `LocalSearch`.

    Attributes
    ----------
    effort : {0, 1, 2, 3}
        How much is tried: an amount of work, never of time. More effort never loses more. In tables
        of 262,144 records or more, 1 does as 0.
    part : int
        See `Divided`. A table of fewer than twice as many records is one part.
    loss : {"rank", "range", "binary"}
        What a cell loses, see `loss_table`.
    exact : float
        What a cell of more than one level loses in addition, in parts of what it can lose at most:
        more of it keeps more cells exact, and masks the others more.
    seats : {"even", "matchable"}
        As of `Adaptive`, whose result it is where seats are matchable: only even seats say who
        holds a row, so only these are narrowed.
    """

    effort: int = 1
    part: int = field(default=PART, metadata={"before": PART})
    loss: Loss = "rank"
    exact: float = 0.0
    seats: Literal["even", "matchable"] = field(
        default="matchable", metadata={"before": "matchable", "stated levels": "even"}
    )

    kind: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        if self.effort not in range(EFFORTS):
            raise InputError(f"effort must be a whole number from 0 to {EFFORTS - 1}")
        super().__post_init__()
        check_loss(self.loss)
        if not 0 <= self.exact <= MOST_EXACT:
            raise InputError(f"exact must be a number from 0 to {MOST_EXACT}")
        _ = self.cover  # which refuses other seats

    @property
    def cover(self) -> AdaptiveSettings:
        """That of the start that all tables have."""
        return AdaptiveSettings(seats=self.seats)

    @property
    def promise(self) -> Promise:
        """That of the cover: exchanges leave each row to as many holders."""
        return self.cover.promise

    def admit_demands(self, demanded: Demanded) -> None:
        """Refuse what `Adaptive.admit_demands` refuses."""
        self.cover.admit_demands(demanded)
