"""How a command ends: its exit code."""

from anon_core.errors import (
    AnonymityError,
    ClusterError,
    GuaranteeError,
    InfeasibleError,
    InputError,
    LimitError,
)
from kinds.section import PlanError
from storage.approval.approval import DecisionError, WaitingError
from storage.vault.refusals import SecondReleaseError

CODES: tuple[tuple[type[AnonymityError], int], ...] = (
    (PlanError, 2),
    (SecondReleaseError, 2),
    (DecisionError, 2),
    (InfeasibleError, 2),
    (LimitError, 2),
    (InputError, 3),
    (GuaranteeError, 4),
    (ClusterError, 5),
    (WaitingError, 6),
)


def exit_code(refusal: AnonymityError) -> int:
    """0 published, 2 plan refused, 3 source, 4 a check, 5 cluster, 6 waits for approval, else 1."""
    return next((code for kind, code in CODES if isinstance(refusal, kind)), 1)
