"""How a command ends: its exit code, and what it prints of its result."""

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from anon_core.errors import (
    AnonymityError,
    ClusterError,
    GuaranteeError,
    InfeasibleError,
    InputError,
    LimitError,
    escape_unprintable,
)
from crowdcover.flows.printed_json import printable_json
from crowdcover.kinds.section import PlanError
from crowdcover.storage.approval.approval import DecisionError, WaitingError
from crowdcover.storage.vault.refusals import SecondReleaseError

# Subclasses take the code of their class: DriftError and NobodyHidesError are GuaranteeErrors.
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


def print_outcome(
    options: argparse.Namespace, document: Mapping[str, Any], lines: Iterable[str]
) -> None:
    """Print the result of a command: as JSON where that is asked for, else in lines for people."""
    print(printable_json(document) if options.json else "\n".join(map(escape_unprintable, lines)))
