"""The routes of the page, behind the guard."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from crowdcover.flows.page import job_views, plan_views, release_views, waiting_views
from crowdcover.flows.page.answers import Work, answer_with, go_to
from crowdcover.flows.page.guard import Guard
from crowdcover.flows.page.session import Session
from crowdcover.flows.page.templates import fill_style

_SHOWN: tuple[tuple[str, Work], ...] = (
    ("/try", job_views.show_try),
    ("/try/log", job_views.follow_try),
    ("/make", job_views.show_making),
    ("/make/log", job_views.follow_making),
    ("/waiting", waiting_views.show_waiting),
    ("/waiting/{run}/report", waiting_views.show_waiting_report),
    ("/release", release_views.show_release),
    ("/release/report", release_views.show_release_report),
    ("/column", release_views.show_column),
    ("/affected", job_views.show_affected),
    ("/affected/log", job_views.follow_audit),
    ("/difference", release_views.show_difference),
)
_DONE: tuple[tuple[str, Work], ...] = (
    ("/plan", plan_views.edit_columns),
    ("/plan/text", plan_views.edit_text),
    ("/plan/save", plan_views.save_plan),
    ("/plan/values", plan_views.show_value_counts),
    ("/try", job_views.start_try),
    ("/try/stop", job_views.stop_try),
    ("/make", job_views.start_making),
    ("/make/stop", job_views.stop_making),
    ("/waiting/{run}", waiting_views.decide),
    ("/waiting/{run}/reopen", waiting_views.reopen),
    ("/release", release_views.choose_release),
    ("/column", release_views.ask_release),
    ("/affected", job_views.start_audit),
    ("/affected/stop", job_views.stop_audit),
)


def build_app(session: Session) -> ASGIApp:
    """The application of a session."""
    app = Starlette(
        routes=[
            Route("/", answer_with(_show_first), methods=["GET"]),
            Route("/plan", answer_with(plan_views.show_plan, waits=True), methods=["GET"]),
            Route("/style.css", answer_with(_show_style), methods=["GET"]),
            *(Route(path, answer_with(work), methods=["GET"]) for path, work in _SHOWN),
            *(Route(path, answer_with(work), methods=["POST"]) for path, work in _DONE),
        ]
    )
    app.state.session = session
    return Guard(app, session.own)


def _show_first(session: Session, _: Request) -> Response:
    return go_to("/release" if session.draft is None else "/plan")


def _show_style(_: Session, __: Request) -> Response:
    return fill_style()
