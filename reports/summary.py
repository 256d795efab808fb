"""A release in short: markdown for the run's artifact, tables for the terminal.

Words and numbers come from `reports.wording`. Imports nothing slow, since `crowdcover show` answers within a second.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports import wording

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

ITERATION_HEADINGS = ("Iteration", "Utility", "Weighted utility", "Cover edges", "Time")
MOST_ITERATIONS = 12
ENDS = 4


# ---------------------------------------------------------------- markdown


def markdown(manifest: wording.Manifest) -> str:
    """The release as markdown for a Prefect artifact; it names columns and counts, never values."""
    return "\n\n".join(block for block in _markdown_blocks(manifest) if block) + "\n"


def verdicts(documents: Sequence[Mapping[str, Any]]) -> str:
    """What a border expects and what of it holds, for a Prefect artifact: names of expectations and columns only."""
    blocks = []
    for document in documents:
        outcomes = document["outcomes"]
        held = sum(outcome["success"] is True for outcome in outcomes)
        rows = [
            (outcome["expectation"], wording.printable(outcome["column"] or ""), "holds" if outcome["success"] else "fails")
            for outcome in outcomes
        ]
        blocks.append(f"# {_escape(document['suite'])}: {held} of {len(outcomes)} expectations hold")
        blocks.append(_markdown_table(("Expectation", "Column", "Result"), rows))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _markdown_blocks(manifest: wording.Manifest) -> Iterator[str]:
    yield f"# {_escape(wording.title(manifest))}"
    yield f"**{_escape(wording.verdict(manifest))}.** {_escape(wording.promise(manifest))}"
    yield f"*{_escape(wording.NOT_PROMISED_SHORT)}*"
    yield "## Privacy"
    yield _markdown_table(("Check", "Required", "Found", "Result"), _check_rows(manifest))
    facts = [*wording.privacy_facts(manifest), *wording.protection_facts(manifest)]
    yield _markdown_table(("Crowds", "Value", "Meaning"), facts)
    yield _markdown_table(wording.TOLD_HEADINGS, wording.told(manifest))
    yield "## Utility"
    yield _markdown_table(("Measure", "Value", "Meaning"), wording.utility_facts(manifest))
    columns = [(c.name, wording.percent(c.exact), wording.percent(c.ncp)) for c in wording.columns(manifest)]
    yield _markdown_table(("Column", "Exact cells", "Mean loss (NCP)"), columns)
    yield "## Run"
    yield _markdown_table(ITERATION_HEADINGS, _iteration_rows(manifest))
    yield _markdown_table(("Stage", "Measured"), [fact[:2] for fact in wording.timings(manifest)])
    yield _markdown_table(("Release", "Value"), [fact[:2] for fact in wording.release_facts(manifest)])


def _markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = [" | ".join(_escape(cell) for cell in row) for row in rows]
    rule = " | ".join(["---"] * len(headings))
    return "\n".join(f"| {line} |" for line in (" | ".join(headings), rule, *body)) if body else ""


def _escape(text: str) -> str:
    """Text that no markdown dialect reads as markup, table or link: marks become entities."""
    entities = re.sub(r"[^\w\s.,;:()=%'/-]|:(?=/)", lambda mark: f"&#{ord(mark[0])};", text)
    # What is left could still start a list, make a link, or set letters in italics.
    marks = r"(?i)^-|(?<=\bwww)\.|(?<![^\W_])_|_(?![^\W_])"
    return re.sub(marks, lambda mark: f"&#{ord(mark[0])};", entities)


# ---------------------------------------------------------------- terminal


def terminal(manifest: wording.Manifest, console: "Console") -> None:
    """Print the release for `crowdcover show`, in colour on a terminal and plain in a pipe."""
    from rich.panel import Panel
    from rich.text import Text

    colour = "green" if wording.holds(manifest) else "red"
    words = Text(wording.promise(manifest) + "\n\n").append(wording.NOT_PROMISED_SHORT, style="dim")
    heading = Text(f"{wording.title(manifest)}: {wording.verdict(manifest).lower()}", style=f"bold {colour}")
    console.print(Panel(words, title=heading, title_align="left", border_style=colour, padding=(1, 2)))
    for part in _terminal_parts(manifest):
        console.print(part)


def _terminal_parts(manifest: wording.Manifest) -> Iterator["Table"]:
    yield _checks_table(manifest)
    yield _facts_table("Crowds", [*wording.privacy_facts(manifest), *wording.protection_facts(manifest)])
    if told := wording.told(manifest):
        yield _told_table(told)
    yield _facts_table("Utility", wording.utility_facts(manifest))
    if manifest["utility"].get("per_column"):
        yield _columns_table(manifest)
    if manifest.get("iterations"):
        yield _iterations_table(manifest)
    if facts := wording.timings(manifest):
        yield _facts_table("Run", facts)
    yield _facts_table("Release", wording.release_facts(manifest))


def _checks_table(manifest: wording.Manifest) -> "Table":
    from rich.text import Text

    table = _table("Checks", ("Check", "Required", "Found", "Result"), right=(1, 2))
    for what, required, found, result in _check_rows(manifest):
        table.add_row(what, required, found, Text(result, style="green" if result == "holds" else "bold red"))
    return table


def _facts_table(title: str, facts: Iterable[wording.Fact]) -> "Table":
    rows = list(facts)
    explained = any(fact.meaning for fact in rows)
    table = _table(title, ("", "", "") if explained else ("", ""), right=(1,) if explained else ())
    for fact in rows:
        table.add_row(*(_plain(cell) for cell in (fact if explained else fact[:2])))
    return table


def _told_table(told: Iterable[wording.CrowdTold]) -> "Table":
    table = _table("What the worst crowd tells", wording.TOLD_HEADINGS, right=(1, 2, 3))
    for name, *numbers in told:
        table.add_row(_plain(name), *numbers)
    return table


def _columns_table(manifest: wording.Manifest) -> "Table":
    table = _table("Columns, most masked first", ("Column", "Exact cells", "", "Mean loss (NCP)", ""), right=(1, 3))
    for loss in wording.columns(manifest):
        exact, ncp = wording.percent(loss.exact), wording.percent(loss.ncp)
        table.add_row(_plain(loss.name), exact, _bar(loss.exact, "cyan"), ncp, _bar(loss.ncp, "yellow"))
    return table


def _iterations_table(manifest: wording.Manifest) -> "Table":
    table = _table("Iterations", ITERATION_HEADINGS, right=range(len(ITERATION_HEADINGS)))
    for row in _iteration_rows(manifest):
        table.add_row(*row)
    return table


def _table(title: str, headings: Sequence[str], right: Iterable[int]) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    named = any(headings)
    table = Table(
        title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD if named else box.SIMPLE,
        show_header=named, pad_edge=False,
    )  # fmt: skip
    numbers = set(right)
    for place, heading in enumerate(headings):
        # Long names fold, since cut names could be mistaken for each other.
        table.add_column(heading, justify="right" if place in numbers else "left", overflow="fold")
    return table


def _plain(text: str) -> "Text":
    from rich.text import Text

    return Text(text)


def _bar(share: float, colour: str) -> "RenderableType":
    from rich.progress_bar import ProgressBar

    completed = share if share == share else 0.0
    return ProgressBar(total=1, completed=completed, width=10, complete_style=colour, finished_style=colour)


# ---------------------------------------------------------------- rows


def _check_rows(manifest: wording.Manifest) -> list[tuple[str, str, str, str]]:
    return [(*check[:3], "holds" if check.passed else "fails") for check in wording.checks(manifest)]


def _iteration_rows(manifest: wording.Manifest) -> list[tuple[str, ...]]:
    """The iterations, the middle of a long run left out; the published one always stands there."""
    entries = manifest.get("iterations", [])
    if not entries:
        return []
    kept = wording.kept_iteration(entries)
    shown = set(range(len(entries)))
    if len(entries) > MOST_ITERATIONS:
        shown = {*range(ENDS), kept, *range(len(entries) - ENDS, len(entries))}
    rows: list[tuple[str, ...]] = []
    before = -1
    for place in sorted(shown):
        if place > before + 1:
            rows.append((f"{wording.count(place - before - 1)} more",) + ("",) * (len(ITERATION_HEADINGS) - 1))
        rows.append(iteration_row(place, entries[place], kept))
        before = place
    return rows


def iteration_row(place: int, entry: Mapping[str, Any], kept: int) -> tuple[str, ...]:
    """One iteration under `ITERATION_HEADINGS`."""
    number = f"{place + 1} (published)" if place == kept else str(place + 1)
    return (
        number,
        wording.utility(entry["utility"]),
        wording.utility(entry.get("weighted_utility")),
        wording.count(entry.get("cover_edges")),
        wording.seconds(entry.get("seconds")),
    )
