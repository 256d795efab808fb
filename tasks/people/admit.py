"""Let a plan and its source in: find their run in the vault, and stop a second release of people who were released before."""

from collections.abc import Sequence

from tasks.people.ledger import Ledger, Overlap
from tasks.source.sources import Source, fingerprint
from tasks.vault.storage import Run, SecondReleaseError


def admit(ledger: Ledger, source: Source, plan_sha256: str, allow_second_release: bool) -> Run:
    """The run of this plan and source; whose people they are is not known yet, whether the table is the same already is."""
    source_sha256 = fingerprint(source)
    run = ledger.vault.find(plan_sha256, source_sha256)
    with ledger.vault.publishing():
        ledger.mend()
    if not (allow_second_release or (run is not None and ledger.knows(run))):
        refuse_second_release(ledger.overlapping(run, source_sha256, None))
    return ledger.vault.run(plan_sha256, source_sha256)


def refuse_second_release(overlaps: Sequence[Overlap]) -> None:
    """Two different releases of the same people can be intersected, so a second is refused unless the plan allows it."""
    if not overlaps:
        return
    names = [name for overlap in overlaps for name in overlap.releases]
    listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    if any(overlap.same_source for overlap in overlaps):
        found = f"this source was released already ({listed}); two releases of one table can be intersected. Go back to that plan"
    else:
        most = max(overlap.people for overlap in overlaps)
        found = (
            f"{most} people of this source were released already ({listed}); releases that share people can be intersected, "
            "so none may be shared. Leave these people out"
        )
    raise SecondReleaseError(
        f"{found}, or set [publish] allow_second_release = true: then all these releases are laid side by side, and "
        "everyone's crowd must stay as large as demanded"
    )
