"""Ask a person to approve a release: the request and the report as it would be published, in the vault."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from tasks.orchestration.stage import log, stage
from tasks.stages.check import CheckedRelease
from tasks.stages.publish import Destination, draft, report
from tasks.vault.approval import PAGE, Approval, Question, Request, page_sha256
from tasks.vault.storage import Run, holds_files, write_private


@stage("ask for approval")
def ask(
    run: Run, checked: CheckedRelease, to: Destination, claims: Mapping[str, Any], given: timedelta
) -> Request:
    """The request that is about exactly this release, asked now if it was not asked before."""
    manifest = draft(run, checked, to, claims)
    hashes = checked.rows.record["files"]
    files = {name: hashes[name] for name in to.files}
    question = Question(files, str(to.parent), checked.verdict.sha256, manifest)
    approval = Approval.of(run)
    if approval.asks(question):
        last = approval.requests[-1]
        if last.decision is not None or holds_files(run.path, {PAGE: last.page}):
            return last
        _write_page(run, manifest, checked)
        return approval.amend(page=page_sha256(run))
    _write_page(run, manifest, checked)
    log(
        f"asked for approval of {manifest['privacy']['records']} rows as {manifest['name']} {manifest['version']}"
    )
    return approval.ask(Request.of(question, page_sha256(run), given))


def _write_page(run: Run, manifest: Mapping[str, Any], checked: CheckedRelease) -> None:
    write_private(run.path / PAGE, report(manifest, checked))
