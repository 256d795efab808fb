"""Try, release, audit: start the command, show its log, stop it."""

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from crowdcover.flows.look.named_release import read_manifest
from crowdcover.flows.page.answers import fill_page, go_to
from crowdcover.flows.page.following import follow_job
from crowdcover.flows.page.guard import form_of
from crowdcover.flows.page.jobs import MOST_LINES, CommandRun
from crowdcover.flows.page.session import Session, shorten_path, shorten_place
from crowdcover.flows.page.tried import describe_settings, read_answer, read_tried
from crowdcover.kinds.section import PlanError

_AUDITED = (0, 4)  # the exit codes of an audit that has measured
_WAITS = 6  # the exit code of a release that waits for approval
_MOST_LEVELS = 12


def show_try(session: Session, _: Request) -> Response:
    """The form of `crowdcover try`, its progress, and what it has given so far."""
    draft = session.require_draft()
    return fill_page(
        session,
        "try.html.j2",
        job=session.tried,
        is_saved=draft.is_saved,
        most_lines=MOST_LINES,
        **describe_tried(session),
    )


def describe_tried(session: Session) -> dict[str, Any]:
    """What pages show of the last `crowdcover try`."""
    job, (levels, sample) = session.tried, session.tried_settings
    return {
        "levels": levels,
        "sample": sample,
        "running": job is not None and job.is_running,
        "table": None if job is None else read_tried(job.printed),
        "is_tried_before": job is not None and session.tried_text != session.require_draft().text,
    }


def follow_try(session: Session, _: Request) -> Response:
    """The log of `crowdcover try` and each setting as it is measured, while it runs."""
    job = session.tried
    if job is None:
        return follow_job(None, "/try")
    return follow_job(job, "/try", lambda: job.log, lambda: describe_settings(job.printed))


def start_try(session: Session, request: Request) -> Response:
    """Run `crowdcover try` with the levels and the sample of the form."""
    draft, form = session.require_saved_draft(), form_of(request)
    session.require_idle()
    levels, sample = form.get("levels", "").replace(",", " ").split(), form.get("sample", "")
    numbers = all(re.fullmatch(r"[1-9]\d{0,8}", each) for each in levels)
    if len(levels) > _MOST_LEVELS or not numbers:
        raise PlanError(f"give at most {_MOST_LEVELS} levels of k, whole numbers such as 3 5 10")
    if sample and not re.fullmatch(r"[1-9]\d{0,11}", sample):
        raise PlanError("the sample must be a whole number of rows, such as 2000; or leave it out")
    options = ["--k", *levels] if levels else []
    options += ["--sample", sample] if sample else []
    session.tried_settings = " ".join(levels), sample
    session.tried = CommandRun(["try", shorten_path(draft.path), *options, "--lines"])
    session.tried_text = draft.text
    return go_to("/try")


def stop_try(session: Session, _: Request) -> Response:
    """Stop `crowdcover try`."""
    return _stop_job(session, session.tried, "/try")


def show_making(session: Session, _: Request) -> Response:
    """The button of `crowdcover release`, its log, and how it ended."""
    draft, job = session.require_draft(), session.made
    if job is not None:
        session.show_release_of(job)
    return fill_page(
        session,
        "make.html.j2",
        job=job,
        is_saved=draft.is_saved,
        most_lines=MOST_LINES,
        waits=job is not None and job.code == _WAITS,
        folder=session.release,
    )


def follow_making(session: Session, _: Request) -> Response:
    """The log of `crowdcover release` while it runs."""
    job = session.made
    return follow_job(job, "/make", *([] if job is None else [lambda: job.log]))


def start_making(session: Session, _: Request) -> Response:
    """Run `crowdcover release`."""
    draft = session.require_saved_draft()
    session.require_idle()
    session.made = CommandRun(["release", shorten_path(draft.path)])
    return go_to("/make")


def stop_making(session: Session, _: Request) -> Response:
    """Stop `crowdcover release`."""
    return _stop_job(session, session.made, "/make")


def show_affected(session: Session, _: Request) -> Response:
    """Whose crowds show one sensitive value, by levels, as the audit measures it."""
    job, found, refusal = session.audited, None, ""
    if job is not None and job.code in _AUDITED:
        found = read_answer("\n".join(job.printed), "holds", "affected")
    if job is not None and not job.is_running and not job.stopped and found is None:
        refusal = job.refusal or "the answer of the audit cannot be read; measure again"
    return fill_page(
        session,
        "affected.html.j2",
        job=job,
        most_lines=MOST_LINES,
        series=read_manifest(session.require_release()).get("series"),
        found=found,
        refused=refusal,
    )


def start_audit(session: Session, _: Request) -> Response:
    """Run `crowdcover audit --affected` on the release."""
    draft, folder = session.require_saved_draft(), session.require_release()
    session.require_idle()
    plan = shorten_path(draft.path)
    session.audited = CommandRun(
        ["audit", shorten_place(folder), "--plan", plan, "--affected", "--json"]
    )
    return go_to("/affected")


def follow_audit(session: Session, _: Request) -> Response:
    """The log of the audit while it runs."""
    job = session.audited
    return follow_job(job, "/affected", *([] if job is None else [lambda: job.log]))


def stop_audit(session: Session, _: Request) -> Response:
    """Stop the audit."""
    return _stop_job(session, session.audited, "/affected")


def _stop_job(session: Session, job: CommandRun | None, page: str) -> Response:
    if job is not None and job.is_running:
        job.stop()
        session.notice = "The command was stopped. Nothing was published by it."
    return go_to(page)
