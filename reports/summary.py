"""Summary of a release: markdown for the Prefect artifact, tables for the terminal.

Text and numbers are those of the page. Slow packages are not imported, so that `crowdcover show`
starts fast.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports import about, facts, history, series, steps
from reports.facts import Fact, Manifest
from reports.notices import HEADING
from reports.quantities import percent, printable
from reports.verdict import COLOURS, verdict
from reports.verdicts import checks, expected
from reports.words import Block, Share, Words

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

CHECK_HEADINGS = ("Check", "Required", "Measured", "Result")
RISK_HEADINGS = ("Measured", "Held against", "Result")
COLUMN_HEADINGS = ("Column", "Role", "What the release shows")


# ---------------------------------------------------------------- markdown


def markdown(manifest: Manifest, words: Words) -> str:
    """The release as markdown for a Prefect artifact: column names and counts, no values."""
    blocks = _markdown_blocks(manifest, words)
    return "\n\n".join(block for block in blocks if block) + "\n"


def verdicts(documents: Sequence[Mapping[str, Any]], words: Words) -> str:
    """The expectations of a check with their results, for a Prefect artifact.

    What is expected stands there in the words of the verdict page, and nothing that was measured.
    """
    blocks = []
    for document in documents:
        outcomes = document["outcomes"]
        rows = [
            (
                "holds" if outcome["success"] is True else "fails",
                printable(outcome["column"] or ""),
                expected(outcome, words),
            )
            for outcome in outcomes
        ]
        blocks.append(f"# {_escape(_counted(document, words))}")
        blocks.append(_markdown_table(("Result", "Column", "What is expected"), rows))
    return "\n\n".join(block for block in blocks if block) + "\n"


def verdict_titles(documents: Sequence[Mapping[str, Any]], words: Words) -> str:
    """What a check was about, and how many of its expectations hold, in one line."""
    return "; ".join(_counted(document, words) for document in documents)


def _counted(document: Mapping[str, Any], words: Words) -> str:
    suite, titles = document["suite"], checks(words)
    passed = sum(outcome["success"] is True for outcome in document["outcomes"])
    name = titles[suite].title if suite in titles else printable(suite)
    return f"{name}: {passed} of {len(document['outcomes'])} expectations hold"


def refusal(name: str, reason: str) -> str:
    """Why nothing was published, as markdown for a Prefect artifact.

    Prefect shows entities in a paragraph as they are, so signs are escaped by backslashes.
    """
    told = re.sub(r"([^\w\s.,;:()=%'-]|_|(?<=:)/)", r"\\\1", printable(reason))
    return f"# {_escape(printable(name))}: nothing was published\n\n{told}\n"


def _markdown_blocks(manifest: Manifest, words: Words) -> Iterator[str]:
    yield f"# {_escape(facts.title(manifest))}"
    judged = verdict(manifest, words)
    yield f"**{_escape(judged.heading)}.** {_escape(judged.paragraph)}"
    if told := series.sentence(manifest):
        yield _escape(told)
    if listed := judged.notices:
        yield "\n".join([f"{HEADING}:", "", *(f"- {_escape(notice.text)}" for notice in listed)])
    yield f"*{_escape(words.not_promised_short(manifest))}*"
    yield "## Privacy"
    yield _markdown_table(CHECK_HEADINGS, _check_rows(manifest, words))
    for risk in words.risks(manifest):
        yield _markdown_table((f"{risk.name}: {risk.question}", *RISK_HEADINGS), risk.figures)
    for block in words.protection(manifest):
        yield _markdown_block(block)
    for part in history.parts(manifest):
        yield _markdown_table((part.heading, "Measured", "Meaning"), part.facts)
    yield "## Information kept"
    for block in words.utility(manifest):
        yield _markdown_block(block)
    yield "## Run"
    yield _markdown_table(steps.headings(manifest), steps.shown(manifest, words))
    yield _markdown_table(("Stage", "Measured"), [fact[:2] for fact in facts.timings(manifest)])
    release = facts.release_facts(manifest, words.demand(manifest))
    yield _markdown_table(("Release", "Value"), [fact[:2] for fact in release])
    # A list, since Prefect shows entities in tables as they are: contacts have an @.
    stated = [f"- {fact.label}: {_escape(fact.value)}" for fact in about.stated(manifest)]
    yield "\n".join([f"{about.HEADING}:", "", *stated])
    yield _markdown_table(COLUMN_HEADINGS, words.columns(manifest))


def _markdown_block(block: Block) -> str:
    headings = block.headings or (block.heading, "Value", "Meaning")
    rows = [[percent(c.value) if isinstance(c, Share) else c for c in row] for row in block.rows]
    return _markdown_table(headings, rows)


def _markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = [" | ".join(cell if cell == "-" else _escape(cell) for cell in row) for row in rows]
    rule = " | ".join(["---"] * len(headings))
    return "\n".join(f"| {line} |" for line in (" | ".join(headings), rule, *body)) if body else ""


def _escape(text: str) -> str:
    """Replace signs by entities, so that no markdown dialect reads markup, tables or links."""
    entities = re.sub(r"[^\w\s.,;:()=%'/-]|:(?=/)", lambda mark: f"&#{ord(mark[0])};", text)
    # These could still start a list, make a link or set italics.
    marks = r"(?i)^-|(?<=\bwww)\.|(?<![^\W_])_|_(?![^\W_])"
    return re.sub(marks, lambda mark: f"&#{ord(mark[0])};", entities)


# ---------------------------------------------------------------- terminal


def terminal(manifest: Manifest, console: "Console", words: Words) -> None:
    """Print the release for `crowdcover show`, in colour on a terminal and plain in a pipe."""
    from rich.panel import Panel
    from rich.text import Text

    judged = verdict(manifest, words)
    colour = COLOURS[judged.tone]
    text = Text(judged.paragraph + "\n\n")
    if told := series.sentence(manifest):
        text.append(f"{told}\n\n")
    for notice in judged.notices:
        text.append(f"! {notice.text}\n\n", style="yellow" if notice.risk else "dim")
    text.append(words.not_promised_short(manifest), style="dim")
    title = f"{facts.title(manifest)}: {judged.heading[:1].lower()}{judged.heading[1:]}"
    heading = Text(title, style=f"bold {colour}")
    console.print(
        Panel(text, title=heading, title_align="left", border_style=colour, padding=(1, 2))
    )
    for part in _terminal_parts(manifest, words):
        console.print(part)


def _terminal_parts(manifest: Manifest, words: Words) -> Iterator["Table"]:
    yield _checks_table(manifest, words)
    for risk in words.risks(manifest):
        title = f"{risk.name}: {risk.question}"
        yield _rows_table(title, ("Figure", *RISK_HEADINGS), risk.figures, right=())
    for block in words.protection(manifest):
        yield _block_table(block)
    for part in history.parts(manifest):
        if part.facts:
            yield _facts_table(part.heading, part.facts)
    for block in words.utility(manifest):
        yield _block_table(block)
    if steps.entries(manifest):
        headings = steps.headings(manifest)
        numbers = range(len(headings))
        yield _rows_table("Steps", headings, steps.shown(manifest, words), right=numbers)
    if measured := facts.timings(manifest):
        yield _facts_table(facts.RUN, measured)
    yield _facts_table(facts.RELEASE, facts.release_facts(manifest, words.demand(manifest)))
    yield _facts_table(about.HEADING, [Fact(*each[:2]) for each in about.stated(manifest)])
    if columns := words.columns(manifest):
        yield _rows_table("Every column of the source", COLUMN_HEADINGS, columns, right=())


def _checks_table(manifest: Manifest, words: Words) -> "Table":
    from rich.text import Text

    table = _table("Checks", CHECK_HEADINGS, right=(1, 2))
    for what, required, measured, result in _check_rows(manifest, words):
        style = {"holds": "green", "fails": "bold red"}.get(result, "yellow")
        table.add_row(what, required, measured, Text(result, style=style))
    return table


def _block_table(block: Block) -> "Table":
    if not block.headings:
        return _facts_table(block.heading, [Fact(*map(str, row)) for row in block.rows])
    return _rows_table(block.heading, block.headings, block.rows, right=block.right)


def _facts_table(title: str, rows: Sequence[Fact]) -> "Table":
    explained = any(fact.meaning for fact in rows)
    headings = ("", "", "") if explained else ("", "")
    table = _table(title, headings, right=(1,) if explained else ())
    for fact in rows:
        table.add_row(*(_plain(cell) for cell in (fact if explained else fact[:2])))
    return table


def _rows_table(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str | Share]],
    right: Iterable[int] | None = None,
) -> "Table":
    """A table with headings; a share takes two columns, its number and its bar."""
    shares = {place for row in rows for place, cell in enumerate(row) if isinstance(cell, Share)}
    numbers = set(range(1, len(headings)) if right is None else right)
    wide: list[str] = []
    at_right = []
    for place, heading in enumerate(headings):
        if place in numbers:
            at_right.append(len(wide))
        wide += [heading, ""] if place in shares else [heading]
    table = _table(title, wide, right=at_right)
    for row in rows:
        cells: list[RenderableType] = []
        for cell in row:
            if isinstance(cell, Share):
                cells += [_plain(percent(cell.value)), _bar(cell)]
            else:
                cells.append(_plain(cell))
        table.add_row(*cells)
    return table


def _table(title: str, headings: Sequence[str], right: Iterable[int]) -> "Table":
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
        table.add_column(heading, justify="right" if place in numbers else "left", overflow="fold")
    return table


def _plain(text: str) -> "Text":
    from rich.text import Text

    return Text(text)


def _bar(share: Share) -> "RenderableType":
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
