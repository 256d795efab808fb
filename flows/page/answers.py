"""Answers of the page: filled templates, refusals, and files that are shown in a frame."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from anon_core.errors import AnonymityError
from crowdcover.errors import ReleaseError
from crowdcover.flows.cli import describe_unforeseen_error
from crowdcover.flows.page import looking
from crowdcover.flows.page.guard import FORM_TOKEN
from crowdcover.flows.page.session import Session
from crowdcover.flows.page.templates import fill_text

# A report styles itself and runs nothing; in its frame it can reach no part of the page.
REPORT_POLICY = {
    "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; "
    "frame-ancestors 'self'"
}
Work = Callable[[Session, Request], Response]


def answer_with(work: Work, *, waits: bool = False) -> Callable[[Request], Response]:
    """A route that does some work; refused as a command would be, in a page, not by a traceback.

    `waits`: a moment for the end of a look at the source, before others have to wait, too.
    """

    def answer(request: Request) -> Response:
        session: Session = request.app.state.session
        try:
            if waits and session.look is not None:
                session.look.wait(looking.SHORT_WAIT)
            with session.lock:
                return work(session, request)
        except (AnonymityError, ReleaseError) as refusal:
            words, status = str(refusal), 400
        except Exception as error:  # noqa: BLE001 - its message may quote cells
            words, status = describe_unforeseen_error(error), 500
        if request.method == "POST":  # back to the page with the form, which shows the refusal
            session.refusal = words
            return RedirectResponse(f"/{request.url.path.split('/')[1]}", 303)
        return fill_page(session, "refused.html.j2", status=status, words=words)

    return answer


def fill_page(session: Session, name: str, status: int = 200, **parts: Any) -> Response:
    """A page; it shows the notice of the last action once."""
    notice, session.notice = session.notice, ""
    refusal, session.refusal = session.refusal, ""
    return HTMLResponse(fill_layout(session, name, notice=notice, refusal=refusal, **parts), status)


def fill_layout(
    session: Session, name: str, *, notice: str = "", refusal: str = "", **parts: Any
) -> str:
    """The text of a page."""
    return fill_text(
        name,
        form_token=session.own.form,
        form_token_name=FORM_TOKEN,
        has_plan=session.draft is not None,
        has_release=session.release is not None,
        has_columns=session.has_table,
        notice=notice,
        refusal=refusal,
        **parts,
    )


def go_to(path: str) -> Response:
    """What a form answers: the page that shows what was done."""
    return RedirectResponse(path, 303)


def show_report(content: bytes) -> Response:
    """A report, in a frame or a tab of its own."""
    return HTMLResponse(content, headers=REPORT_POLICY)
