"""Ask a person to approve a release: the request and its report, in the vault."""

from collections.abc import Mapping
from typing import Any

from crowdcover.storage.approval.approval import PAGE, Approval, Question, Request, page_sha256
from crowdcover.storage.approval.officer_copy import write_copy
from crowdcover.storage.approval.statement import Rules, Terms
from crowdcover.storage.vault.files import holds_files, write_private
from crowdcover.storage.vault.run import Run
from crowdcover.tasks.orchestration.stage import log_line, stage
from crowdcover.tasks.stages.check import CheckedRelease
from crowdcover.tasks.stages.manifest import Destination, draft_manifest, render_report


@stage("ask for approval")
def ask(
    run: Run,
    checked: CheckedRelease,
    to: Destination,
    claims: Mapping[str, Any],
    terms: Terms,
    asked_by: Mapping[str, str],
) -> Request:
    """The request about exactly this release, made now unless it was made before.

    `asked_by` names who runs the release, by the system that knows it. The copy for people without
    access to the vault is written, too, where the plan names a folder for it.
    """
    manifest = draft_manifest(run, checked, to, claims)
    hashes = checked.rows.record["files"]
    files = {name: hashes[name] for name in to.list_files(checked.rows)}
    question = Question(files, str(to.parent), checked.verdict.sha256, manifest)
    approval = Approval.of(run)
    request = approval.last
    if request is not None and approval.asks(question) and _knows_asker(request, terms):
        changes: dict[str, Any] = {} if request.rules == terms.rules else {"rules": terms.rules}
        if request.decision is None and not holds_files(run.path, {PAGE: request.page}):
            write_private(run.path / PAGE, render_report(to.kind, manifest, checked))
            # A decision is refused beside a page of another hash.
            changes["page"] = page_sha256(run)
        request = approval.amend(**changes) if changes else request
    else:
        write_private(run.path / PAGE, render_report(to.kind, manifest, checked))
        records = manifest["privacy"]["records"]
        log_line(
            f"asked for approval of {records} rows as {manifest['name']} {manifest['version']}"
        )
        new = Request.of(question, page_sha256(run), terms.given, asked_by, terms.rules)
        request = approval.ask(new)
    if terms.reports is not None and request.decision is None and not request.late:
        copy = str(write_copy(terms.reports, run, request))
        log_line(f"the report for officers is in {copy}")
        if request.copy != copy:
            request = Approval.of(run).amend(copy=copy)
    return request


def _knows_asker(request: Request, terms: Terms) -> bool:
    """Whether the request says who asked, where a rule needs to know and nobody decided yet."""
    known = bool(request.asked_by) or request.decision is not None
    return known or Rules.of(terms.rules).need_no_requester
