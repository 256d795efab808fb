"""The settings of k-member clustering."""

from dataclasses import dataclass
from typing import ClassVar

from anon_core.anonymizers.in_parts.divided import Divided
from anon_core.promise import Promise
from anon_core.specs.demands import Demanded
from anon_core.specs.losses import WeightRule, check_weights


@dataclass(frozen=True, kw_only=True)
class KMemberSettings(Divided):
    """See `KMember`.

    Attributes
    ----------
    weights : {"columns", "cells", "bits"}
        What counts as loss, see `feature_weights`; "cells" groups as "columns" does.
    """

    weights: WeightRule = "columns"

    kind: ClassVar[str] = "table"
    promise: ClassVar[Promise] = Promise(
        ("compatible crowds", "matchable crowds", "truthful rows", "equivalence classes")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weights(self.weights)

    def admit_demands(self, demanded: Demanded) -> None:
        """Refuse people who own several records."""
        demanded.refuse_people()
