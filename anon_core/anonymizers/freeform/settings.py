"""The settings of freeform generalization."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from anon_core.anonymizers.in_parts.divided import Divided
from anon_core.errors import InputError, LimitError
from anon_core.promise import Promise
from anon_core.seating.shares import MOST_SHARES
from anon_core.specs.demands import Demanded
from anon_core.specs.losses import Loss, check_loss

SegmentMethod = Literal["greedy", "sort-greedy", "hungarian"]
MOST_EXACT = 16


@dataclass(frozen=True, kw_only=True)
class FreeformSettings(Divided):
    """See `Freeform`.

    Attributes
    ----------
    method : {"greedy", "sort-greedy", "hungarian"}
        "greedy": each record in lexicographic order takes the free row of least cost; where none
        is left that it may take, others make room. Time O(k n^2 attributes), memory
        O(n (k + levels)). "sort-greedy": pairs in the order of their cost. "hungarian": an
        assignment of least cost in each round. Both hold n^2 costs for each segment at work.
    loss : {"rank", "range", "binary"}
        What a cell loses, see `loss_table`.
    exact : float
        What a cell of more than one level loses in addition, in parts of what it can lose at most:
        more of it keeps more cells exact, and masks the others more.
    segment : int
        0: all records at once. Else the table in lexicographic order is cut into segments of this
        many records, or of twice the greatest k. Each is worked on by itself, as many at a time as
        there are threads.
    exchanges : bool
        Whether records exchange rows at the end as long as the rows then hide less (`swap_shares`),
        across segments, too. False: the paper's method.
    """

    method: SegmentMethod = "hungarian"
    loss: Loss = "rank"
    exact: float = 0.1
    segment: int = 1000
    exchanges: bool = True

    kind: ClassVar[str] = "table"
    promise: ClassVar[Promise] = Promise(
        ("compatible crowds", "matchable crowds", "truthful rows", "even seats")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method not in get_args(SegmentMethod):
            raise InputError("method must be 'greedy', 'sort-greedy' or 'hungarian'")
        check_loss(self.loss)
        if not 0 <= self.exact <= MOST_EXACT:
            raise InputError(f"exact must be a number from 0 to {MOST_EXACT}")
        if self.segment < 0:
            raise InputError("segment must be 0 or a number of records")

    def admit_demands(self, demanded: Demanded) -> None:
        """Refuse people who own several records, and a k of too many rounds."""
        demanded.refuse_people()
        if (rounds := demanded.greatest) > MOST_SHARES:
            raise LimitError(f"k = {rounds} needs as many rounds; at most {MOST_SHARES} are made")
