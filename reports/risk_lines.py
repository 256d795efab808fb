"""The three risks in a line each: how many of whom, the limit, and what to change in the plan."""

from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.words import RiskLine, Words

_MESSAGES = load_messages("crowdcover.reports")
RISKS_HEADING = _MESSAGES.say("risk_lines", "heading")


def list_risk_lines(manifest: Manifest, words: Words) -> list[RiskLine]:
    """The lines of a release; none where its kind of data has none."""
    return [risk.line for risk in words.risks(manifest) if risk.line is not None]


def list_asides(lines: list[RiskLine]) -> list[str]:
    """What is so of every release, each once."""
    return list(dict.fromkeys(line.aside for line in lines if line.aside))


def build_risk_line(
    name: str,
    people: str,
    finding: str,
    result: str,
    *,
    limit: str = "",
    change: str,
    warns: bool = False,
    aside: str = "",
) -> RiskLine:
    """A line by the name of its question: "picked", "linked" or "learnt".

    `limit` says what the number is held against; it is empty where the plan says nothing. `change`
    is a sentence, or empty.
    """
    return RiskLine(
        _MESSAGES.say("risk_questions", name),
        people,
        finding,
        _MESSAGES.say("risk_results", result, limit=limit),
        change,
        result,
        warns,
        aside,
    )


def say_people(number: int | float | None, records: int | float, whom: str) -> str:
    """How many of whom, with their share where there are any; that they were not counted."""
    if number is None:
        return _MESSAGES.say("risk_lines", "uncounted", whom=whom)
    return _MESSAGES.say("risk_lines", "people", number=number, records=records, whom=whom)


def describe_line(line: RiskLine) -> str:
    """The line as a paragraph."""
    parts = (line.question, line.people, line.finding, line.limit, line.change)
    return " ".join(filter(None, parts))
