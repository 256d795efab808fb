"""A release on one screen of a terminal, for `crowdcover show`; `summary` has all of it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crowdcover.reports import decisions, risk_lines, series
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import take_first_sentence
from crowdcover.reports.terminal.summary import STYLES, title_of_verdict
from crowdcover.reports.verdict import Verdict, judge_manifest
from crowdcover.reports.words import Words

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

MOST_LINES = 25  # on a terminal of 80 columns or more
_ALARM = "bold white on red"
_MESSAGES = load_messages("crowdcover.reports")


def print_overview(
    manifest: Manifest, console: "Console", words: Words, place: str, alarm: str = ""
) -> None:
    """Print the three risks, sizes, loss, and in one sentence each what a person must look at.

    `place` is the folder, to read on; `alarm` stands first, where there is one.
    """
    judged = judge_manifest(manifest, words)
    parts = list(_list_first_parts(manifest, words, judged, alarm))
    points = list(_list_points(manifest, judged))
    last = _say_where(place, 0)
    room = MOST_LINES - sum(_count_lines(part, console) for part in (*parts, last))
    shown = len(points)
    while shown and _count_lines(_list_rows(points[:shown]), console) > room:
        shown -= 1
        last = _say_where(place, len(points) - shown)
        room = MOST_LINES - sum(_count_lines(part, console) for part in (*parts, last))
    for part in (*parts, *([_list_rows(points[:shown])] if shown else [])):
        console.print(part)
    console.print(last, soft_wrap=True)  # a command is copied: the terminal breaks it, not rich


def _list_first_parts(
    manifest: Manifest, words: Words, judged: Verdict, alarm: str
) -> Iterator["RenderableType"]:
    """Heading, the three risks and headline numbers."""
    from rich.text import Text

    if alarm:
        yield Text(alarm, style=_ALARM)
    style, _ = STYLES[judged.tone]
    yield Text(title_of_verdict(manifest, judged), style=style)
    lines = risk_lines.list_risk_lines(manifest, words)
    # The lines say of whom the promise is true; where it is broken, the paragraph names the checks.
    if judged.tone == "fails" or not lines:
        yield Text(judged.paragraph)
    if sentence := series.describe_version(manifest):
        yield Text(take_first_sentence(sentence))
    yield Text("")
    if judged.tone != "fails":
        yield _list_rows([
            (
                "!" if line.tone in ("open", "fail") else "",
                risk_lines.describe_line(
                    line._replace(finding=take_first_sentence(line.finding))
                ),
            )
            for line in lines
        ])  # fmt: skip
        yield Text("")
    yield _list_rows([(fact.value, fact.label) for fact in words.headline(manifest)], right=True)
    yield Text("")


def _list_points(manifest: Manifest, judged: Verdict) -> Iterator[tuple[str, str]]:
    """The first sentence of each warning and of each decision, with a sign before it."""
    for notice in judged.notices:
        yield "!" if notice.risk else "?", take_first_sentence(notice.text)
    # A release that fails is not to be used: there is nothing to decide.
    if judged.tone != "fails":
        for decision in decisions.list_decisions(manifest):
            yield "-", take_first_sentence(decision.text)


def _say_where(place: str, left_out: int) -> "RenderableType":
    from rich.text import Text

    return Text(_MESSAGES.say("overview", "more", place=place, left_out=left_out), style="dim")


def _list_rows(rows: list[tuple[str, str]], *, right: bool = False) -> "Table":
    """Lines with a sign or a number before them; broken lines begin behind it."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify="right" if right else "left", no_wrap=True)
    table.add_column(overflow="fold")
    for sign, text in rows:
        table.add_row(Text(sign), Text(text))
    return table


def _count_lines(part: "RenderableType", console: "Console") -> int:
    return len(console.render_lines(part))
