"""A release beside other releases of the same people: what is left of the crowds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anon_core.errors import GuaranteeError
from crowdcover.storage.ledger.ledger import Ledger, Overlap
from crowdcover.storage.vault.refusals import SecondReleaseError
from crowdcover.storage.vault.run import Run, Stored

Intersected = Callable[[], dict[str, int]]


def second_release(
    run: Run,
    ledger: Ledger,
    inputs: Sequence[Stored],
    intersected: Intersected,
    remedy: str,
) -> dict[str, int]:
    """The manifest's section on other releases; refused if a crowd falls below k.

    It is computed once for the same releases; `inputs` are the stages that it depends on. The
    refusal names the kind's remedy.
    """

    def make(_: object) -> Mapping[str, Any]:
        return {"found": intersected()}

    # No stage, but an input: under another key of the ledger the comparison is made again.
    key = Stored(ledger.vault.path, ledger.key_print)
    left = dict(run.once("intersect", [*inputs, key], make).facts["found"])
    if left["below_k"]:
        raise GuaranteeError(
            f"publication refused; {describe_crowd_counts(left)}; {remedy}, or publish no second "
            "release"
        )
    return left


def describe_crowd_counts(left: Mapping[str, int]) -> str:
    """The counts in a sentence."""
    return (
        f"{left['below_k']} of {left['people']} people who are also in {left['overlapping']} other "
        "release(s) keep fewer than k rows when all releases are compared "
        f"(least margin {left['least_margin']})"
    )


def runs_of(ledger: Ledger, overlaps: Sequence[Overlap]) -> list[Run]:
    """The runs of these releases; refused where this vault lacks one."""
    here = ledger.vault.by_seal()
    gone = sum(overlap.run not in here for overlap in overlaps)
    if gone:
        raise build_incomparable_error(gone)
    return [here[overlap.run] for overlap in overlaps]


def build_incomparable_error(number: int) -> SecondReleaseError:
    """The refusal where stages of other releases are missing."""
    return SecondReleaseError(
        f"{number} of the releases that show the same people cannot be compared with this one: "
        "their stages are not complete in this vault; restore its runs, or publish no second "
        "release. Versions of a series cannot be compared with other releases: what that would "
        "need is removed with each new version"
    )
