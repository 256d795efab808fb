"""The folder of a release before the work: one that stands, else whether it can be written."""

import os
from pathlib import Path

from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.storage.approval.decision_rules import require_approved
from crowdcover.storage.approval.statement import Rules
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.places.place import Place
from crowdcover.storage.vault.disk_space import describe_full_disk, is_read_only, present_part
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.release_owner import refuse_foreign
from crowdcover.storage.vault.run import Run
from crowdcover.tasks.stages.publish import find_published_folder


def find_standing_release(plan: ReleasePlan, run: Run, ledger: Ledger) -> Place | None:
    """The folder of the run's release if it stands; None if it must be made.

    Refused: a release that stands without the approval that the plan demands, and folders to which
    a release that must be made could not be published.
    """
    parent = plan.releases
    folder = find_published_folder(run, parent, plan.limits.release_limits, plan.about.claims)
    if folder is not None:
        # The plan may demand an approval by now that the standing release never got.
        if (terms := plan.publish.terms) is not None:
            require_approved(run, folder, Rules.of(terms.rules))
        return folder
    refuse_foreign(ledger.vault, parent, ledger.versions(str(parent)))
    _refuse_closed(parent, plan.publish.reports)
    return None


def _refuse_closed(parent: Place, reports: str | None) -> None:
    """Refuse a folder for releases, or for copies of reports, that cannot be written.

    Whether object storage lets this account write is not tried: that would leave an object.
    """
    if not isinstance(parent, Path):
        parent.below()  # refused if the storage does not answer, or has no such bucket
    # Before `_is_open`, which such a disk fails, too: these words name the cause.
    elif is_read_only(parent):
        raise FolderError(describe_full_disk("the release", [parent]))
    elif not _is_open(parent):
        raise FolderError(
            f"nothing could be published in {parent}; correct publish.path and run again"
        )
    if reports is not None and not _is_open(Path(reports)):
        raise FolderError(
            f"the report could not be copied to publish.reports {reports}; name a folder that this "
            "account can write, or leave publish.reports out"
        )


def _is_open(folder: Path) -> bool:
    """Whether files can be made in a folder, or the folder itself where it is not there yet."""
    there = present_part(folder)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)
