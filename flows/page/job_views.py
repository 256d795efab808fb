"""Try and release: start the command, show its log, stop it."""

import json
import re
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from crowdcover.flows.page.answers import fill_page, go_to
from crowdcover.flows.page.guard import form_of
from crowdcover.flows.page.jobs import CommandRun
from crowdcover.flows.page.session import Session, shorten_path
from crowdcover.kinds.section import PlanError

REFRESH = 3  # seconds
_WAITS = 6  # the exit code of a release that waits for approval
_MOST_LEVELS = 12


def show_try(session: Session, request: Request) -> Response:
    """The form of `crowdcover try`, its progress, and its table."""
    draft, job = session.require_draft(), session.tried
    levels, sample = session.tried_settings
    return fill_page(
        session,
        "try.html.j2",
        levels=levels,
        sample=sample,
        refresh=_choose_refresh(job, request),
        job=job,
        is_saved=draft.is_saved,
        table=None if job is None or job.code != 0 else _read_tried(job.printed),
    )


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
    session.tried = CommandRun(["try", shorten_path(draft.path), *options, "--json"])
    return go_to("/try")


def stop_try(session: Session, _: Request) -> Response:
    """Stop `crowdcover try`."""
    return _stop_job(session, session.tried, "/try")


def show_making(session: Session, request: Request) -> Response:
    """The button of `crowdcover release`, its log, and how it ended."""
    draft, job = session.require_draft(), session.made
    if job is not None:
        session.show_release_of(job)
    return fill_page(
        session,
        "make.html.j2",
        refresh=_choose_refresh(job, request),
        job=job,
        is_saved=draft.is_saved,
        waits=job is not None and job.code == _WAITS,
        folder=session.release,
    )


def start_making(session: Session, _: Request) -> Response:
    """Run `crowdcover release`."""
    draft = session.require_saved_draft()
    session.require_idle()
    session.made = CommandRun(["release", shorten_path(draft.path)])
    return go_to("/make")


def stop_making(session: Session, _: Request) -> Response:
    """Stop `crowdcover release`."""
    return _stop_job(session, session.made, "/make")


def _stop_job(session: Session, job: CommandRun | None, page: str) -> Response:
    if job is not None and job.is_running:
        job.stop()
        session.notice = "The command was stopped. Nothing was published by it."
    return go_to(page)


def _choose_refresh(job: CommandRun | None, request: Request) -> int:
    """After how many seconds the browser loads the page again; 0: never."""
    running = job is not None and job.is_running
    return REFRESH if running and "still" not in request.query_params else 0


def _read_tried(printed: str) -> Mapping[str, Any]:
    """The settings that were tried, with headings for the numbers that people compare."""
    document: dict[str, Any] = json.loads(printed)
    shown = [each["shown"] for each in document["settings"]]
    document["headings"] = list(next(filter(None, shown), {}))
    return document
