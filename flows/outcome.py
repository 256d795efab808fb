"""How a release and a command end: folder, exit code, and what is printed of the result."""

import argparse
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

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


Outcome = tuple[int, str]  # of one of several plans: exit code; the release folder, or the refusal


class Ended(NamedTuple):
    """The folder of a release, and whether this run has published it; else it stood before."""

    folder: str
    published: bool


def exit_code(refusal: AnonymityError) -> int:
    """0 published, 2 plan refused, 3 source, 4 a check, 5 cluster, 6 waits for approval, else 1."""
    return next((code for kind, code in CODES if isinstance(refusal, kind)), 1)


def print_outcome(
    options: argparse.Namespace, document: Mapping[str, Any], lines: Iterable[str]
) -> None:
    """Print the result of a command: as JSON where that is asked for, else in lines for people."""
    print(printable_json(document) if options.json else "\n".join(map(escape_unprintable, lines)))


def await_outcome(future: Any) -> Outcome:
    """The outcome of a plan that another process releases."""
    try:
        outcome: Outcome = future.result()
    except AnonymityError as refusal:
        return exit_code(refusal), str(refusal)
    except Exception as error:  # noqa: BLE001 - from Dask or Prefect; messages may quote values
        name = type(error).__name__
        return 1, f"the process of this plan failed ({name}); run the same command again to go on"
    return outcome
