"""Summaries as markdown for Prefect: a release, the verdicts of a check, a refusal.

Prefect's pages cut long table cells off, and its form is narrow. So tables hold short numbers only;
what has sentences is a list. Text and numbers are those of the page.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from crowdcover.reports import about, decisions, facts, history, risk_lines, series, steps
from crowdcover.reports.facts import Fact, Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.notices import HEADING
from crowdcover.reports.pages.verdicts import describe_expected, list_checks
from crowdcover.reports.quantities import percent, printable
from crowdcover.reports.verdict import judge_manifest
from crowdcover.reports.words import ABOVE, NOT_MEASURED, WITHIN, Block, Figure, ShareCell, Words


def render_release(manifest: Manifest, words: Words, places: Sequence[str] = ()) -> str:
    """The release as markdown for a Prefect artifact: column names and counts, no values.

    `places` say where the report lies and how the release is opened.
    """
    blocks = _render_blocks(manifest, words, places)
    return "\n\n".join(block for block in blocks if block) + "\n"


def render_check(documents: Sequence[Mapping[str, Any]], words: Words) -> str:
    """The expectations of a check with their results, for a Prefect artifact.

    What is expected stands there in the words of the verdict page, and nothing that was measured.
    """
    blocks = []
    for document in documents:
        blocks.append(f"# {escape_markup(_count_results(document, words))}")
        blocks.append("\n".join(_render_outcome(each, words) for each in document["outcomes"]))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _render_outcome(outcome: Mapping[str, Any], words: Words) -> str:
    result = "holds" if outcome["success"] is True else "**fails**"
    column = f"{escape_markup(printable(outcome['column']))}: " if outcome["column"] else ""
    return f"- {result}: {column}{escape_markup(describe_expected(outcome, words))}"


def verdict_titles(documents: Sequence[Mapping[str, Any]], words: Words) -> str:
    """What a check was about, and how many of its expectations hold, in one line."""
    return "; ".join(_count_results(document, words) for document in documents)


def _count_results(document: Mapping[str, Any], words: Words) -> str:
    suite, titles = document["suite"], list_checks(words)
    passed = sum(outcome["success"] is True for outcome in document["outcomes"])
    name = titles[suite].title if suite in titles else printable(suite)
    return f"{name}: {passed} of {len(document['outcomes'])} expectations hold"


def render_refusal(name: str, reason: str, accept: Sequence[str] = ()) -> str:
    """Why nothing was published, as markdown for a Prefect artifact.

    `accept` names the drift that a person may accept: limits and columns. Prefect shows entities in
    a paragraph as they are, so signs are escaped by backslashes.
    """
    messages = load_messages("crowdcover.reports")
    # The slash behind a colon, too: otherwise an address would become a link.
    escaped = re.sub(r"([^\w\s.,;:()=%'-]|_|(?<=:)/)", r"\\\1", printable(reason))
    title = messages.say("refusal", "title", name=escape_markup(printable(name)))
    text = f"# {title}\n\n{escaped}\n"
    if not accept:
        return text
    stated = json.dumps({each: {"limit": 1, "note": "why"} for each in accept})
    return f"{text}\n{messages.say('refusal', 'accept')}\n\n```json\n{stated}\n```\n"


def _render_blocks(manifest: Manifest, words: Words, places: Sequence[str]) -> Iterator[str]:
    yield f"# {escape_markup(facts.title_of(manifest))}"
    judged = judge_manifest(manifest, words)
    if judged.loud:
        yield f"## {escape_markup(judged.heading)}"
        yield escape_markup(judged.paragraph)
    else:
        yield f"**{escape_markup(judged.heading)}.** {escape_markup(judged.paragraph)}"
    yield "\n".join(f"- {escape_markup(printable(each))}" for each in places)
    if text := series.describe_version(manifest):
        yield escape_markup(text)
    if listed := judged.notices:
        yield "\n".join(
            [f"{HEADING}:", "", *(f"- {escape_markup(notice.text)}" for notice in listed)]
        )
    lines = risk_lines.list_risk_lines(manifest, words)
    yield "\n".join(f"- {escape_markup(risk_lines.describe_line(line))}" for line in lines)
    yield " ".join(escape_markup(aside) for aside in risk_lines.list_asides(lines))
    yield f"*{escape_markup(words.not_promised_short(manifest))}*"
    if judged.tone != "fails":
        points = decisions.list_decisions(manifest)
        yield "\n".join(
            [f"{decisions.HEADING}:", "", *(f"- {escape_markup(each.text)}" for each in points)]
        )
    yield "## Privacy"
    yield "\n".join(
        f"- {escape_markup(check.what)}: **{escape_markup(check.measured)}**, required "
        f"{escape_markup(check.required)}: {escape_markup(check.result)}"
        for check in words.checks(manifest)
    )
    for risk in words.risks(manifest):
        yield f"### {escape_markup(f'{risk.name}: {risk.question}')}"
        yield "\n".join(map(_render_figure, risk.figures))
    for block in words.protection(manifest):
        yield _render_block(block)
    for part in history.list_history_parts(manifest):
        yield _render_facts(part.heading, part.facts)
    yield "## Information kept"
    for block in words.utility(manifest):
        yield _render_block(block)
    yield "## Run"
    yield _render_table(steps.step_headings(manifest), steps.list_shown_rows(manifest, words))
    yield _render_table(("Stage", "Measured"), [fact[:2] for fact in facts.list_timings(manifest)])
    yield _render_facts("Release", facts.release_facts(manifest, words.demand(manifest)))
    yield _render_facts(about.HEADING, about.list_stated_entries(manifest))
    yield _render_table(about.COLUMN_HEADINGS, words.columns(manifest))


def _render_figure(figure: Figure) -> str:
    """A figure of a risk as a line of a list; a limit is named where there is one."""
    text = f"- {escape_markup(figure.what)}: **{escape_markup(figure.measured)}**"
    if figure.result in (WITHIN, ABOVE):
        return f"{text}, {figure.result} the limit ({escape_markup(figure.against)})"
    return text if figure.measured == NOT_MEASURED else f"{text}, {figure.result}"


def _render_block(block: Block) -> str:
    if not block.headings:
        return _render_facts(block.heading, [Fact(*map(str, row)) for row in block.rows])
    rows = [
        [percent(c.value) if isinstance(c, ShareCell) else c for c in row] for row in block.rows
    ]
    table = _render_table(block.headings, rows)
    if not table:
        return ""
    text = [f"- {escape_markup(each.label)} {escape_markup(each.value)}" for each in block.meanings]
    return f"### {escape_markup(block.heading)}\n\n{table}\n\n" + "\n".join(text)


def _render_facts(heading: str, stated: Sequence[Fact]) -> str:
    """Facts as a list below a heading; empty without facts."""
    if not stated:
        return ""
    lines = [
        f"- {escape_markup(fact.label)}: **{escape_markup(fact.value)}**"
        + (f" ({escape_markup(fact.meaning)})" if fact.meaning else "")
        for fact in stated
    ]
    return "\n".join([f"### {escape_markup(heading)}", "", *lines])


def _render_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    # A lone dash is safe in a cell and reads better than its entity.
    body = [
        " | ".join(cell if cell == "-" else escape_markup(cell) for cell in row) for row in rows
    ]
    rule = " | ".join(["---"] * len(headings))
    return "\n".join(f"| {line} |" for line in (" | ".join(headings), rule, *body)) if body else ""


def escape_markup(text: str) -> str:
    """Replace signs by entities, so that no markdown dialect reads markup, tables or links."""
    entities = re.sub(r"[^\w\s.,;:()=%'/?-]|:(?=/)", lambda mark: f"&#{ord(mark[0])};", text)
    # These could still start a list, make a link or set italics.
    marks = r"(?i)^-|(?<=\bwww)\.|(?<![^\W_])_|_(?![^\W_])"
    return re.sub(marks, lambda mark: f"&#{ord(mark[0])};", entities)
