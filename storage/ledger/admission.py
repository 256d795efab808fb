"""Admit a plan and its source: find their run, and refuse a second release of the same people."""

from collections.abc import Sequence

from crowdcover.storage.ledger.ledger import Ledger, Overlap
from crowdcover.storage.vault.refusals import SecondReleaseError
from crowdcover.storage.vault.run import Run


def admit_plan(
    ledger: Ledger, source_sha256: str, plan_sha256: str, allow_second_release: bool, kind: str
) -> Run:
    """Return the run of this plan and source.

    Whether the source was released before is known here; its people are compared by `identify`.
    """
    run = ledger.vault.find(plan_sha256, source_sha256)
    with ledger.vault.lock_publishing():
        ledger.mend()
    if not (allow_second_release or (run is not None and ledger.knows(run))):
        refuse_second_release(ledger.find_overlaps(run, source_sha256, None))
    return ledger.vault.run(plan_sha256, source_sha256, kind)


def refuse_second_release(overlaps: Sequence[Overlap]) -> None:
    """Refuse a second release unless the plan allows it: releases of the same people intersect."""
    if not overlaps:
        return
    names = [name for overlap in overlaps for name in overlap.releases]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    listed = ", ".join(names[:3]) + more
    if any(overlap.same_source for overlap in overlaps):
        reason = (
            f"this source was released already ({listed}); two releases of one table can be "
            "intersected. Go back to that plan"
        )
    else:
        most = max(overlap.people for overlap in overlaps)
        reason = (
            f"{most} people of this source were released already ({listed}); releases that share "
            "people can be intersected, so none may be shared. Leave these people out"
        )
    raise SecondReleaseError(
        f"{reason}, or set [publish] allow_second_release = true: then all these releases are "
        "compared, and everyone's crowd must stay as large as demanded"
    )
