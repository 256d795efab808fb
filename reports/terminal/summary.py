"""Summary of a release as tables for the terminal.

Text and numbers are those of the page, `overview` has the first of them. Slow packages are not
imported, so that `crowdcover show` starts fast.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from crowdcover.reports import about, decisions, facts, history, risk_lines, series, steps
from crowdcover.reports.facts import Fact, Manifest
from crowdcover.reports.quantities import percent
from crowdcover.reports.verdict import Tone, Verdict, judge_manifest
from crowdcover.reports.words import Block, ShareCell, Words

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod, RenderableType
    from rich.table import Table
    from rich.text import Text

CHECK_HEADINGS = ("Check", "Required", "Measured", "Result")
RISK_HEADINGS = ("Measured", "Held against", "Result")
# Of the heading and of its frame. What must not be overlooked is reversed, in a double frame.
STYLES: Mapping[Tone, tuple[str, str]] = {
    "holds": ("bold green", "green"),
    "warns": ("bold yellow", "yellow"),
    "some": ("bold yellow", "yellow"),
    "many": ("bold black on yellow", "yellow"),
    "fails": ("bold white on red", "red"),
}


def print_release(manifest: Manifest, console: "Console", words: Words) -> None:
    """Print all of a release, in colour on a terminal and plain in a pipe."""
    from rich import box
    from rich.panel import Panel
    from rich.text import Text

    judged = judge_manifest(manifest, words)
    style, frame = STYLES[judged.tone]
    text = Text(judged.paragraph + "\n\n")
    if sentence := series.describe_version(manifest):
        text.append(f"{sentence}\n\n")
    for notice in judged.notices:
        text.append(f"! {notice.text}\n\n", style="yellow" if notice.risk else "dim")
    lines = risk_lines.list_risk_lines(manifest, words)
    for line in lines:
        text.append(f"{risk_lines.describe_line(line)}\n\n")
    for aside in risk_lines.list_asides(lines):
        text.append(f"{aside}\n\n", style="dim")
    text.append(words.not_promised_short(manifest), style="dim")
    if judged.tone != "fails":
        text.append(f"\n\n{decisions.HEADING}:", style="bold")
        for decision in decisions.list_decisions(manifest):
            text.append(f"\n- {decision.text}")
    # The frame differs, too: in a pipe there are no colours.
    edge = box.DOUBLE if judged.loud else box.ROUNDED
    text = Text.assemble((title_of_verdict(manifest, judged), style), "\n\n", text)
    console.print(Panel(text, box=edge, border_style=frame, padding=(1, 2)))
    for part in _terminal_parts(manifest, words):
        console.print(part)


def title_of_verdict(manifest: Manifest, judged: Verdict) -> str:
    """The release and the heading of its verdict, in one line."""
    return f"{facts.title_of(manifest)}: {judged.heading[:1].lower()}{judged.heading[1:]}"


def _terminal_parts(manifest: Manifest, words: Words) -> Iterator["Table"]:
    yield _checks_table(manifest, words)
    for risk in words.risks(manifest):
        title = f"{risk.name}: {risk.question}"
        yield _rows_table(title, ("Figure", *RISK_HEADINGS), risk.figures, right=())
    for block in words.protection(manifest):
        yield _block_table(block)
    for part in history.list_history_parts(manifest):
        if part.facts:
            yield _facts_table(part.heading, part.facts)
    for block in words.utility(manifest):
        yield _block_table(block)
    if steps.list_steps(manifest):
        headings = steps.step_headings(manifest)
        numbers = range(len(headings))
        yield _rows_table("Steps", headings, steps.list_shown_rows(manifest, words), right=numbers)
    if measured := facts.list_timings(manifest):
        yield _facts_table(facts.RUN, measured)
    yield _facts_table(facts.RELEASE, facts.release_facts(manifest, words.demand(manifest)))
    if stated := about.list_stated_entries(manifest):
        yield _facts_table(about.HEADING, [Fact(*each[:2]) for each in stated])
    if columns := words.columns(manifest):
        yield _rows_table("Every column of the source", about.COLUMN_HEADINGS, columns, right=())


def _checks_table(manifest: Manifest, words: Words) -> "Table":
    from rich.text import Text

    table = _build_table("Checks", CHECK_HEADINGS, right=(1, 2))
    for what, required, measured, result in _check_rows(manifest, words):
        # Any other result demands nothing: it must not look as if something held.
        style = {"holds": "green", "fails": "bold red"}.get(result, "yellow")
        cells = map(_plain_text, (what, required, measured))
        table.add_row(*cells, Text(result, style=style))
    return table


def _block_table(block: Block) -> "Table":
    if not block.headings:
        return _facts_table(block.heading, [Fact(*map(str, row)) for row in block.rows])
    return _rows_table(block.heading, block.headings, block.rows, right=block.right)


def _facts_table(title: str, rows: Sequence[Fact]) -> "Table":
    explained = any(fact.meaning for fact in rows)
    headings = ("", "", "") if explained else ("", "")
    table = _build_table(title, headings, right=(1,) if explained else ())
    for fact in rows:
        table.add_row(*(_plain_text(cell) for cell in (fact if explained else fact[:2])))
    return table


def _rows_table(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str | ShareCell]],
    right: Iterable[int] | None = None,
) -> "Table":
    """A table with headings; a share takes two columns, its number and its bar."""
    shares = {
        place for row in rows for place, cell in enumerate(row) if isinstance(cell, ShareCell)
    }
    # Places as the caller counts them. A share adds a column for its bar, so later ones move right.
    numbers = set(range(1, len(headings)) if right is None else right)
    wide: list[str] = []
    at_right = []
    for place, heading in enumerate(headings):
        if place in numbers:
            at_right.append(len(wide))
        wide += [heading, ""] if place in shares else [heading]
    table = _build_table(title, wide, right=at_right)
    for row in rows:
        cells: list[RenderableType] = []
        for cell in row:
            if isinstance(cell, ShareCell):
                cells += [_plain_text(percent(cell.value)), _draw_bar(cell)]
            else:
                cells.append(_plain_text(cell))
        table.add_row(*cells)
    return table


def _build_table(title: str, headings: Sequence[str], right: Iterable[int]) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    named = any(headings)
    table = Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD if named else box.SIMPLE,
        show_header=named,
        pad_edge=False,
    )
    numbers = set(right)
    for place, heading in enumerate(headings):
        # Long names fold: names that are cut could look the same.
        justify: JustifyMethod = "right" if place in numbers else "left"
        table.add_column(_plain_text(heading), justify=justify, overflow="fold")
    return table


def _plain_text(text: str) -> "Text":
    from rich.text import Text

    # Not a str: rich would read [..] in the name of a column as markup.
    return Text(text)


def _draw_bar(share: ShareCell) -> "RenderableType":
    from rich.progress_bar import ProgressBar

    known = share.value == share.value  # only nan differs from itself
    return ProgressBar(
        total=1,
        completed=share.value if known else 0.0,
        width=10,
        complete_style=share.colour,
        finished_style=share.colour,
    )


def _check_rows(manifest: Manifest, words: Words) -> list[tuple[str, str, str, str]]:
    return [
        (check.what, check.required, check.measured, check.result)
        for check in words.checks(manifest)
    ]
