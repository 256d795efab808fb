"""Ask a person to approve a release: the request and its report, in the vault."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from tasks.orchestration.stage import log, stage
from tasks.stages.check import CheckedRelease
from tasks.stages.manifest import Destination, draft, report
from tasks.vault.approval import PAGE, Approval, Question, Request, page_sha256
from tasks.vault.storage import Run, holds_files, write_private


@stage("ask for approval")
def ask(
    run: Run, checked: CheckedRelease, to: Destination, claims: Mapping[str, Any], given: timedelta
) -> Request:
    """The request about exactly this release, made now unless it was made before."""
    manifest = draft(run, checked, to, claims)
    hashes = checked.rows.record["files"]
    files = {name: hashes[name] for name in to.files}
    question = Question(files, str(to.parent), checked.verdict.sha256, manifest)
    approval = Approval.of(run)
    if approval.asks(question):
        last = approval.requests[-1]
        if last.decision is not None or holds_files(run.path, {PAGE: last.page}):
            return last
        write_private(run.path / PAGE, report(to.kind, manifest, checked))
        return approval.amend(page=page_sha256(run))
    write_private(run.path / PAGE, report(to.kind, manifest, checked))
    records = manifest["privacy"]["records"]
    log(f"asked for approval of {records} rows as {manifest['name']} {manifest['version']}")
    return approval.ask(Request.of(question, page_sha256(run), given))
