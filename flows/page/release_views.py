"""A release: its verdict, ten of its rows, the loss of each column, and its report."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from crowdcover.flows.look.named_release import read_manifest, refuse_damaged_manifest
from crowdcover.flows.page.answers import fill_page, show_report
from crowdcover.flows.page.jobs import format_command
from crowdcover.flows.page.released import list_shown_blocks, read_first_rows
from crowdcover.flows.page.session import Session, shorten_path
from crowdcover.kinds import words_of
from crowdcover.kinds.section import PlanError
from crowdcover.reports import facts
from crowdcover.reports.risk_lines import describe_line, list_risk_lines
from crowdcover.reports.verdict import judge_manifest
from crowdcover.storage.places.place import Place
from crowdcover.storage.series.retractions import notice_of
from crowdcover.storage.shelf.layout import REPORT


def show_release(session: Session, _: Request) -> Response:
    """The release that was opened, or that the page has made last."""
    folder = _require_folder(session)
    manifest = read_manifest(folder)
    with refuse_damaged_manifest():
        words = words_of(manifest)
        return fill_page(
            session,
            "release.html.j2",
            title=facts.title_of(manifest),
            verdict=judge_manifest(manifest, words),
            lines=[describe_line(line) for line in list_risk_lines(manifest, words)],
            retracted=notice_of(folder),
            folder=folder,
            first=read_first_rows(folder, manifest),
            blocks=list_shown_blocks(words.utility(manifest)),
            commands=[
                ("Show the numbers", format_command(["show", _shorten(folder)])),
                (
                    "Verify who signed it",
                    format_command(["verify", _shorten(folder), "--key", "KEY"]),
                ),
            ],
        )


def show_release_report(session: Session, _: Request) -> Response:
    """The report of the release."""
    return show_report((_require_folder(session) / REPORT).read_bytes())


def _require_folder(session: Session) -> Place:
    if session.made is not None:
        session.show_release_of(session.made)
    if session.release is None:
        raise PlanError("no release was made yet; make one, or open the folder of one")
    return session.release


def _shorten(folder: Place) -> str:
    return shorten_path(folder) if isinstance(folder, Path) else str(folder)
