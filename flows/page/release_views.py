"""A release: its verdict, rows beside their people, columns, questions, and another version."""

import os
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from crowdcover.flows.look.differences import compare_releases
from crowdcover.flows.look.named_release import read_manifest, refuse_damaged_manifest
from crowdcover.flows.page.answers import fill_page, go_to, show_report
from crowdcover.flows.page.guard import form_of
from crowdcover.flows.page.jobs import format_command
from crowdcover.flows.page.released.distributions import describe_column
from crowdcover.flows.page.released.first_rows import (
    list_shown_blocks,
    read_first_rows,
    show_tables,
)
from crowdcover.flows.page.released.owned_rows import read_owned_rows
from crowdcover.flows.page.released.private_side import find_private_side, read_released_source
from crowdcover.flows.page.released.questions import COMPARISONS, CONDITIONS, answer_question
from crowdcover.flows.page.session import Session, shorten_place
from crowdcover.kinds import words_called, words_of
from crowdcover.kinds.section import PlanError
from crowdcover.kinds.table.layout import KEY
from crowdcover.reader.release import Release, read
from crowdcover.reports import facts
from crowdcover.reports.risk_lines import describe_line, list_risk_lines
from crowdcover.reports.terminal.difference import (
    build_difference_tables,
    name_sides,
    summarize_difference,
)
from crowdcover.reports.verdict import judge_manifest
from crowdcover.storage.places.place import Place
from crowdcover.storage.series.retractions import notice_of, same_place
from crowdcover.storage.shelf.layout import REPORT
from crowdcover.storage.shelf.shelf import shelf_of


def show_release(session: Session, _: Request) -> Response:
    """The release that was opened, or that the page has made last."""
    folder = session.require_release()
    manifest = read_manifest(folder)
    first, side = read_first_rows(folder, manifest), find_private_side(session.draft, folder)
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
            first=first,
            owned=None if side is None or first is None else read_owned_rows(side, first, manifest),
            blocks=list_shown_blocks(words.utility(manifest)),
            side=side,
            series=manifest.get("series"),
            read=session.has_table,
            versions=_list_sibling_versions(folder),
            others=list(_list_other_versions(session, folder)),
            commands=[
                ("Show the numbers", format_command(["show", shorten_place(folder)])),
                (
                    "Verify who signed it",
                    format_command(["verify", shorten_place(folder), "--key", "KEY"]),
                ),
            ],
        )


def choose_release(session: Session, request: Request) -> Response:
    """Show another version that stands beside the release."""
    folder, version = session.require_release(), form_of(request).get("version", "")
    if version not in _list_sibling_versions(folder):  # so the name leads to no other folder
        raise PlanError("choose a version that stands beside the release")
    if session.audited is not None and session.audited.is_running:
        session.require_idle()
    session.release, session.audited = folder.parent / version, None
    return go_to("/release")


def show_release_report(session: Session, _: Request) -> Response:
    """The report of the release."""
    return show_report((session.require_release() / REPORT).read_bytes())


def show_column(session: Session, request: Request) -> Response:
    """A column of the release beside the same column of the source, and questions about it all."""
    folder, release = _require_reader(session)
    names = list(release.columns)
    name = request.query_params.get("column", names[0])
    if name not in names:
        raise PlanError("the release has no column of this name")
    side = find_private_side(session.draft, folder)
    source = None if side is None else read_released_source(side, name, release.rows[KEY])
    return fill_page(
        session,
        "column.html.j2",
        column=name,
        names=names,
        numbers=[each.name for each in release.columns.values() if each.levels.is_counted],
        found=describe_column(release, name, source),
        is_version=side is not None and side.is_version,
        comparisons=COMPARISONS,
        conditions=range(CONDITIONS),
        answer=session.answer,
        asked=session.asked,
    )


def ask_release(session: Session, request: Request) -> Response:
    """Put the question of a form to the reader of releases."""
    folder, release = _require_reader(session)
    session.asked, session.answer = form_of(request), None
    session.answer = answer_question(release, folder, form_of(request))
    return go_to("/column#answer")


def show_difference(session: Session, request: Request) -> Response:
    """What changed between the release and another one, as `crowdcover diff` tells it."""
    folder = session.require_release()
    others, name = _list_other_versions(session, folder), request.query_params.get("release", "")
    if name not in others:  # so the name leads to no other folder
        raise PlanError("choose a version beside the release, or a release that --diff named")
    old, new = _put_in_order(folder, others[name])
    found = compare_releases(old, new)
    tables = show_tables(build_difference_tables(found, words_called(found["kind"])))
    return fill_page(
        session,
        "difference.html.j2",
        sides=name_sides(found),
        folders=(old, new),
        summary=summarize_difference(found),
        tables=tables,
        commands=[
            ("Compare them", format_command(["diff", shorten_place(old), shorten_place(new)]))
        ],
    )


def _list_other_versions(session: Session, folder: Place) -> dict[str, Place]:
    """What a release can be compared with: versions beside it, then releases that were named."""
    beside = {each: folder.parent / each for each in _list_sibling_versions(folder)}
    known = [folder, *beside.values()]
    named = [each for each in session.others if not any(same_place(each, own) for own in known)]
    others = dict(beside)
    for each in named:
        short = shorten_place(each)
        others[os.path.abspath(short) if short in beside else short] = each
    return others


def _list_sibling_versions(folder: Place) -> list[str]:
    """The versions beside a release."""
    return [each for each in shelf_of(folder.parent).versions() if each != folder.name]


def _put_in_order(folder: Place, other: Place) -> tuple[Place, Place]:
    """The older release first: by their versions in one folder, else by the times they state."""
    if same_place(folder.parent, other.parent):
        versions = shelf_of(folder.parent).versions()
        at = [
            versions.index(each.name) if each.name in versions else -1 for each in (folder, other)
        ]
        return (folder, other) if -1 < at[0] < at[1] else (other, folder)
    made = [str(read_manifest(each).get("created", "")) for each in (folder, other)]
    return (folder, other) if made[0] < made[1] else (other, folder)


def _require_reader(session: Session) -> tuple[Path, Release]:
    """The release as its reader has it; read once."""
    folder = session.require_release()
    if not isinstance(folder, Path):
        raise PlanError("only a release in a folder of this machine is read; copy it here")
    if session.reading is None or session.reading[0] != folder:
        session.reading = folder, read(folder)
        session.answer, session.asked = None, {}
    return session.reading
