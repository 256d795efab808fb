"""docs/index.html of a run in the vault: what each check expected, and whether it held.

Reads stored verdicts only.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from reports.facts import Fact
from reports.quantities import NOT_STATED, moment, printable
from reports.templates import template
from reports.words import CheckText, Words

Document = Mapping[str, Any]

# The checks of every kind, before and after those that the kind has itself.
BEFORE = {
    "alike": CheckText(
        "The source compared with that of the last release",
        "Rows, categories, the shape of each column and the types of carried columns, compared "
        "with what the vault keeps of the source of the last release.",
    ),
}
AFTER = {
    "required": CheckText(
        "What the plan's checks ask",
        "Limits that this plan sets in [checks], beside the promise, on the numbers that the "
        "auditor measured.",
    ),
    "kept": CheckText(
        "Utility compared with the last release",
        "The same plan on new data: a release that keeps much less than the last one is seen by a "
        "person first.",
    ),
    "beside": CheckText(
        "Other releases of the same people",
        "Two releases of the same people can be intersected. The ledger is searched for people "
        "that other releases show.",
    ),
    "approved": CheckText(
        "A person's approval",
        "The plan asks a person. The approval is about exact bytes and numbers, and the name of "
        "the person is in the manifest.",
    ),
}
ALWAYS_AFTER = ("beside",)  # the others only where there is something to check


def checks(words: Words) -> dict[str, CheckText]:
    """All checks of a kind by name, in the order of the course."""
    return {**BEFORE, **words.checks_between_stages, **AFTER}


def always(words: Words) -> tuple[str, ...]:
    """The checks that every run passes."""
    return (*words.checks_between_stages, *ALWAYS_AFTER)


class Line(NamedTuple):
    """One expectation."""

    column: str
    expected: str
    measured: str
    passed: bool


class CheckResult(NamedTuple):
    """One check; without lines it was not reached."""

    name: str
    text: CheckText
    lines: Sequence[Line]
    moment: str

    @property
    def failed(self) -> Sequence[Line]:
        """The expectations that do not hold."""
        return [line for line in self.lines if not line.passed]

    @property
    def passed(self) -> bool:
        """Whether something was expected and all of it holds."""
        return bool(self.lines) and not self.failed


def render(run: Document, verdicts: Sequence[Document], words: Words) -> str:
    """The page; `verdicts` in the order of the course, each with its moment and version."""
    results = list(_results(verdicts, words))
    reached = [result for result in results if result.lines]
    refused = next((result for result in reached if not result.passed), None)
    lines = list(chain.from_iterable(result.lines for result in reached))
    return template("verdicts.html.j2").render(
        run=printable(run["run"]),
        title=printable(", ".join(run["releases"])) or f"Run {printable(run['run'])[:8]}",
        judged=max((result.moment for result in reached), default=NOT_STATED),
        complete=bool(run["releases"]) and all(result.passed for result in results),
        refused=refused,
        published=bool(run["releases"]),
        checks=results,
        passed=sum(result.passed for result in results),
        expected=len(lines),
        failed=sum(not line.passed for line in lines),
        facts=_facts(run, verdicts),
    )


def _results(verdicts: Sequence[Document], words: Words) -> Iterator[CheckResult]:
    """The checks that every run passes, reached or not, and those that this run met as well."""
    documents = {document["verdict"]["suite"]: document for document in verdicts}
    texts = checks(words)
    met = {name: text for name, text in texts.items() if name in documents or name in always(words)}
    unknown = [name for name in documents if name not in texts]
    met |= {name: CheckText(printable(name).capitalize(), "") for name in unknown}
    for name, text in met.items():
        document = documents.get(name)
        if document is None:
            yield CheckResult(name, text, (), NOT_STATED)
        else:
            lines = [_line(outcome, words) for outcome in document["verdict"]["outcomes"]]
            failures_first = sorted(lines, key=lambda line: line.passed)
            yield CheckResult(name, text, failures_first, moment(document["judged"]))


def _line(outcome: Document, words: Words) -> Line:
    name = outcome["expectation"]
    expected = outcome["words"] or words.findings.get(name) or f"{name.capitalize()}."
    column = "" if outcome["column"] is None else printable(outcome["column"])
    passed = outcome["success"] is True
    return Line(column, printable(expected), printable(outcome["found"]), passed)


def _facts(run: Document, verdicts: Sequence[Document]) -> list[Fact]:
    versions = dict.fromkeys(f"crowdcover {document['version']}" for document in verdicts)
    return [
        Fact("Run", printable(run["run"])),
        Fact("Plan (SHA-256)", printable(run["plan_sha256"])),
        Fact("Published as", printable(", ".join(run["releases"]) or "nothing so far")),
        Fact("Checked by", printable(", ".join(versions) or NOT_STATED)),
    ]
