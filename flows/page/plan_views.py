"""The plan: look at it, edit it, save it."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from crowdcover.flows.page.answers import fill_layout, fill_page, go_to
from crowdcover.flows.page.columns import view_plan
from crowdcover.flows.page.draft import Draft
from crowdcover.flows.page.edits import COLUMN_ROLES, KINDS_OF_VALUES, MISSING_ASKED, apply_form
from crowdcover.flows.page.following import follow_look
from crowdcover.flows.page.guard import form_of
from crowdcover.flows.page.job_views import describe_tried
from crowdcover.flows.page.jobs import format_command
from crowdcover.flows.page.looking import PageLook
from crowdcover.flows.page.session import Session, shorten_path
from crowdcover.flows.page.source_values import NO_VALUES, read_source_values
from crowdcover.kinds.base import Listener
from crowdcover.kinds.section import PlanError


def show_plan(session: Session, _: Request) -> Response:
    """The plan as a form and as text, and whether `crowdcover release` would take it.

    While the source is looked at, that is shown instead.
    """
    if session.look is not None and session.look.is_running:
        return follow_look(session.look, fill_layout(session, "looking.html.j2", page="/plan"))
    draft = session.require_draft()
    try:
        view = view_plan(draft.text, session.values)
    except PlanError:  # no TOML: the text alone is shown, with the refusal of the command
        view = None
    refusal = draft.find_refusal()
    return fill_page(
        session,
        "plan.html.j2",
        view=view,
        is_counted=session.values.is_whole,
        text=draft.text,
        plan_refusal=refusal,
        path=draft.path,
        file_exists=draft.path.exists(),
        is_saved=draft.is_saved,
        roles=COLUMN_ROLES,
        missing_asked=MISSING_ASKED,
        kinds_of_values=KINDS_OF_VALUES,
        commands=_list_commands(session, draft),
        **describe_tried(session),
    )


def edit_columns(session: Session, request: Request) -> Response:
    """Take over what the form of columns, questions and settings states."""
    draft = session.require_draft()
    text, gone = apply_form(draft.text, form_of(request))
    changed = text != draft.text
    draft.text = text
    if changed:
        _refresh_values(session, whole=session.is_whole_asked)
    session.notice = "The plan was changed. It is not saved yet." if changed else "Nothing changed."
    if gone:
        session.notice += f" Settings that no longer belong were removed: {', '.join(gone)}."
    return go_to("/plan")


def edit_text(session: Session, request: Request) -> Response:
    """Take over the plan as text; the page then shows whether it is refused."""
    draft = session.require_draft()
    text = form_of(request).get("text", "").replace("\r\n", "\n")
    if "\r\n" in draft.text:  # browsers send no other line end; the file keeps its own
        text = text.replace("\n", "\r\n")
    draft.text = text
    _refresh_values(session, whole=False)
    session.notice = "The text was taken over. It is not saved yet."
    return go_to("/plan")


def save_plan(session: Session, request: Request) -> Response:
    """Write the plan to a file beside the source, or to the plan that was opened."""
    draft, form = session.require_draft(), form_of(request)
    path = draft.choose_path(form.get("file", ""))
    draft.save(path, replaces="replaces" in form)
    session.notice = f"The plan was saved: {path}"
    return go_to("/plan")


def show_value_counts(session: Session, _: Request) -> Response:
    """Count the values of all rows of a source that is too large to be counted unasked."""
    look_at_values(session, whole=True)
    return go_to("/plan#columns")


def look_at_values(session: Session, *, whole: bool = False) -> None:
    """Begin to read the values of the plan's source anew."""
    session.is_whole_asked = whole
    session.look = PageLook(partial(read_values, session))


def read_values(session: Session, tell: Listener) -> None:
    """Read the values of the plan's source; none where the plan is refused.

    The session is locked before and afterwards only: reading takes long.
    """
    document: Mapping[str, Any] = {}
    with session.lock:
        with suppress(PlanError):
            document = session.require_draft().document()
        session.values, whole = NO_VALUES, session.is_whole_asked
        sections = session.values_of = _list_read_sections(document)
    tell("Reading the source, to count the values of each column")
    values = read_source_values(document, whole=whole)
    with session.lock:
        if session.values_of is sections:  # else a newer look has begun
            session.values = values
            if values is NO_VALUES:  # so that the next change tries again
                session.values_of = None


def _refresh_values(session: Session, *, whole: bool) -> None:
    """Read the source again only if a section has changed that says what is read, and how."""
    document = None
    with suppress(PlanError):
        document = session.require_draft().document()
    if document is None or session.values_of != _list_read_sections(document):
        look_at_values(session, whole=whole)


def _list_read_sections(document: Mapping[str, Any]) -> tuple[Any, Any]:
    """The sections that values depend on: the kind of a column says how they are counted."""
    return document.get("source"), document.get("columns")


def _list_commands(session: Session, draft: Draft) -> list[tuple[str, str]]:
    """What each action of the page is in a terminal."""
    file = shorten_path(Path(draft.path))
    commands = []
    if session.starter:
        commands.append(
            (
                "Make the starter plan",
                format_command([*session.starter, "--output", file]),
            )
        )
    return [
        *commands,
        ("Check the plan and its source", format_command(["release", file, "--dry-run"])),
        ("Try it", format_command(["try", file, "--k", "3", "5", "10"])),
        ("Release it", format_command(["release", file])),
    ]
