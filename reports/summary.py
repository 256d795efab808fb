"""A release in short: markdown for the run's artifact, tables for the terminal.

Words and numbers are those of the page. Imports nothing slow, since `crowdcover show` answers within a second.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports import attackers, facts, history, promises
from reports.facts import Manifest
from reports.notices import HEADING, notices
from reports.quantities import count, percent, printable, seconds, utility

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

ITERATION_HEADINGS = ("Iteration", "Utility", "Weighted utility", "Cover edges", "Time")
CHECK_HEADINGS = ("Check", "Required", "Found", "Result")
MOST_ITERATIONS = 12
ENDS = 4


# ---------------------------------------------------------------- markdown


def markdown(manifest: Manifest) -> str:
    """The release as markdown for a Prefect artifact; it names columns and counts, never values."""
    return "\n\n".join(block for block in _markdown_blocks(manifest) if block) + "\n"


def verdicts(documents: Sequence[Mapping[str, Any]]) -> str:
    """What a border expects and what of it holds, for a Prefect artifact: names of expectations and columns only."""
    blocks = []
    for document in documents:
        outcomes = document["outcomes"]
        held = sum(outcome["success"] is True for outcome in outcomes)
        rows = [
            (
                outcome["expectation"],
                printable(outcome["column"] or ""),
                "holds" if outcome["success"] is True else "fails",
            )
            for outcome in outcomes
        ]
        blocks.append(
            f"# {_escape(document['suite'])}: {held} of {len(outcomes)} expectations hold"
        )
        blocks.append(_markdown_table(("Expectation", "Column", "Result"), rows))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _markdown_blocks(manifest: Manifest) -> Iterator[str]:
    yield f"# {_escape(facts.title(manifest))}"
    yield f"**{_escape(promises.verdict(manifest))}.** {_escape(promises.promise(manifest))}"
    if told := notices(manifest):
        yield "\n".join([f"{HEADING}:", "", *(f"- {_escape(notice.words)}" for notice in told)])
    yield f"*{_escape(promises.NOT_PROMISED_SHORT)}*"
    yield "## Privacy"
    yield _markdown_table(CHECK_HEADINGS, _check_rows(manifest))
    yield _markdown_table((facts.CROWDS, "Value", "Meaning"), facts.privacy_facts(manifest))
    yield _markdown_table(facts.TOLD_HEADINGS, facts.told(manifest))
    yield _markdown_table(*_attack_table(manifest))
    for part in history.parts(manifest):
        yield _markdown_table((part.heading, "Found", "Meaning"), part.facts)
    yield "## Information kept"
    yield _markdown_table((facts.UTILITY, "Value", "Meaning"), facts.utility_facts(manifest))
    yield _markdown_table(facts.COLUMN_HEADINGS, facts.column_rows(manifest))
    yield "## Run"
    yield _markdown_table(ITERATION_HEADINGS, _shown_iterations(manifest))
    yield _markdown_table(("Stage", "Measured"), [fact[:2] for fact in facts.timings(manifest)])
    yield _markdown_table(
        ("Release", "Value"), [fact[:2] for fact in facts.release_facts(manifest)]
    )


def _markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = [" | ".join(cell if cell == "-" else _escape(cell) for cell in row) for row in rows]
    rule = " | ".join(["---"] * len(headings))
    return "\n".join(f"| {line} |" for line in (" | ".join(headings), rule, *body)) if body else ""


def _escape(text: str) -> str:
    """Text that no markdown dialect reads as markup, table or link: marks become entities."""
    entities = re.sub(r"[^\w\s.,;:()=%'/-]|:(?=/)", lambda mark: f"&#{ord(mark[0])};", text)
    # What is left could still start a list, make a link, or set letters in italics.
    marks = r"(?i)^-|(?<=\bwww)\.|(?<![^\W_])_|_(?![^\W_])"
    return re.sub(marks, lambda mark: f"&#{ord(mark[0])};", entities)


# ---------------------------------------------------------------- terminal


def terminal(manifest: Manifest, console: "Console") -> None:
    """Print the release for `crowdcover show`, in colour on a terminal and plain in a pipe."""
    from rich.panel import Panel
    from rich.text import Text

    colour = "green" if promises.holds(manifest) else "red"
    words = Text(promises.promise(manifest) + "\n\n")
    for notice in notices(manifest):
        words.append(f"! {notice.words}\n\n", style="yellow" if notice.risk else "dim")
    words.append(promises.NOT_PROMISED_SHORT, style="dim")
    heading = Text(
        f"{facts.title(manifest)}: {promises.verdict(manifest).lower()}", style=f"bold {colour}"
    )
    console.print(
        Panel(words, title=heading, title_align="left", border_style=colour, padding=(1, 2))
    )
    for part in _terminal_parts(manifest):
        console.print(part)


def _terminal_parts(manifest: Manifest) -> Iterator["Table"]:
    yield _checks_table(manifest)
    yield _facts_table(facts.CROWDS, facts.privacy_facts(manifest))
    if told := facts.told(manifest):
        yield _rows_table(facts.TOLD, facts.TOLD_HEADINGS, told)
    if manifest.get("attacks"):
        yield _rows_table(attackers.HEADING, *_attack_table(manifest))
    for part in history.parts(manifest):
        if part.facts:
            yield _facts_table(part.heading, part.facts)
    yield _facts_table(facts.UTILITY, facts.utility_facts(manifest))
    if manifest["utility"].get("per_column"):
        yield _columns_table(manifest)
    if manifest.get("iterations"):
        yield _rows_table(
            "Iterations",
            ITERATION_HEADINGS,
            _shown_iterations(manifest),
            right=range(len(ITERATION_HEADINGS)),
        )
    if measured := facts.timings(manifest):
        yield _facts_table(facts.RUN, measured)
    yield _facts_table(facts.RELEASE, facts.release_facts(manifest))


def _checks_table(manifest: Manifest) -> "Table":
    from rich.text import Text

    table = _table("Checks", CHECK_HEADINGS, right=(1, 2))
    for what, required, found, result in _check_rows(manifest):
        table.add_row(
            what, required, found, Text(result, style="green" if result == "holds" else "bold red")
        )
    return table


def _facts_table(title: str, told: Iterable[facts.Fact]) -> "Table":
    rows = list(told)
    explained = any(fact.meaning for fact in rows)
    table = _table(title, ("", "", "") if explained else ("", ""), right=(1,) if explained else ())
    for fact in rows:
        table.add_row(*(_plain(cell) for cell in (fact if explained else fact[:2])))
    return table


def _rows_table(
    title: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Iterable[int] | None = None,
) -> "Table":
    table = _table(title, headings, right=range(1, len(headings)) if right is None else right)
    for row in rows:
        table.add_row(*(_plain(cell) for cell in row))
    return table


def _columns_table(manifest: Manifest) -> "Table":
    name, exact, kept = facts.COLUMN_HEADINGS
    table = _table(facts.COLUMNS, (name, exact, "", kept, ""), right=(1, 3))
    for column in facts.columns(manifest):
        bars = _bar(column.exact, "yellow"), _bar(column.kept, "cyan")
        table.add_row(
            _plain(column.name), percent(column.exact), bars[0], percent(column.kept), bars[1]
        )
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
    return ProgressBar(
        total=1, completed=completed, width=10, complete_style=colour, finished_style=colour
    )


# ---------------------------------------------------------------- rows


def _check_rows(manifest: Manifest) -> list[tuple[str, str, str, str]]:
    return [
        (*check[:3], "holds" if check.passed else "fails") for check in promises.checks(manifest)
    ]


def _attack_table(manifest: Manifest) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings and rows of the attacks."""
    tried = attackers.attacks(manifest)
    times = attackers.multiples(tried)
    headings = (*attackers.HEADINGS, *attackers.multiple_headings(times))
    return headings, [(*attack.row, *attackers.shares(attack, times)) for attack in tried]


def _shown_iterations(manifest: Manifest) -> list[tuple[str, ...]]:
    """The iterations, the middle of a long run left out; the published one always stands there."""
    entries = manifest.get("iterations", [])
    shown: set[int] = set(range(len(entries)))
    if len(entries) > MOST_ITERATIONS:
        shown = {
            *range(ENDS),
            facts.kept_iteration(entries),
            *range(len(entries) - ENDS, len(entries)),
        }
    return iteration_rows(manifest, sorted(shown))


def iteration_rows(manifest: Manifest, shown: Iterable[int]) -> list[tuple[str, ...]]:
    """These iterations under `ITERATION_HEADINGS`; what lies between them is counted."""
    rows: list[tuple[str, ...]] = []
    before = -1
    for place in shown:
        if place > before + 1:
            rows.append(
                (f"{count(place - before - 1)} more",) + ("",) * (len(ITERATION_HEADINGS) - 1)
            )
        rows.append(_iteration_row(place, manifest["iterations"]))
        before = place
    return rows


def _iteration_row(place: int, entries: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    entry = entries[place]
    return (
        f"{place + 1} (published)" if place == facts.kept_iteration(entries) else str(place + 1),
        utility(entry["utility"]),
        utility(entry.get("weighted_utility")),
        count(entry.get("cover_edges")),
        seconds(entry.get("seconds")),
    )
