"""docs/index.html of a run in the vault: the expectations of each check and their results.

Reads stored verdicts only.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from crowdcover.reports.facts import Fact, list_facts
from crowdcover.reports.findings import sentence_of_finding
from crowdcover.reports.messages import load_messages
from crowdcover.reports.pages.templates import load_template
from crowdcover.reports.quantities import NOT_STATED, moment, printable
from crowdcover.reports.words import CheckText, Words

Document = Mapping[str, Any]

_MESSAGES = load_messages("crowdcover.reports")
ALWAYS_AFTER = ("beside",)  # the others run only if there is something to check


def list_checks(words: Words) -> dict[str, CheckText]:
    """All checks of a kind by name, in the order of the stages."""
    before, after = _list_shared_checks("checks_before"), _list_shared_checks("checks_after")
    return {**before, **words.checks_between_stages, **after}


def _list_shared_checks(group: str) -> dict[str, CheckText]:
    """Checks that every kind has."""
    return {
        name: CheckText(*_MESSAGES.list_texts(group, name)[0])
        for name in _MESSAGES.list_names(group)
    }


def list_constant_checks(words: Words) -> tuple[str, ...]:
    """Names of the checks that every run has."""
    return (*words.checks_between_stages, *ALWAYS_AFTER)


class _Line(NamedTuple):
    """One expectation with its result."""

    column: str
    expected: str
    measured: str
    passed: bool


class CheckResult(NamedTuple):
    """One check; a check without lines was not reached."""

    name: str
    text: CheckText
    lines: Sequence[_Line]
    moment: str

    @property
    def failed(self) -> Sequence[_Line]:
        """The expectations that do not hold."""
        return [line for line in self.lines if not line.passed]

    @property
    def passed(self) -> bool:
        """Whether there are expectations and all of them hold."""
        return bool(self.lines) and not self.failed


def render_verdicts_page(run: Document, verdicts: Sequence[Document], words: Words) -> str:
    """Render the page; `verdicts` in the order of the stages, each with its time and version."""
    results = list(_list_results(verdicts, words))
    reached = [result for result in results if result.lines]
    # The first in the order of stages; a refusal ends a run.
    refused = next((result for result in reached if not result.passed), None)
    lines = list(chain.from_iterable(result.lines for result in reached))
    return load_template("verdicts.html.j2").render(
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
        facts=_list_facts(run, verdicts),
    )


def _list_results(verdicts: Sequence[Document], words: Words) -> Iterator[CheckResult]:
    """The checks that every run has, reached or not, and further checks of this run."""
    documents = {document["verdict"]["suite"]: document for document in verdicts}
    texts = list_checks(words)
    shown = {
        name: text
        for name, text in texts.items()
        if name in documents or name in list_constant_checks(words)
    }
    # A run of another version may have had checks that this program does not know.
    unknown = [name for name in documents if name not in texts]
    shown |= {name: CheckText(printable(name).capitalize(), "") for name in unknown}
    for name, text in shown.items():
        document = documents.get(name)
        if document is None:
            yield CheckResult(name, text, (), NOT_STATED)
        else:
            lines = [_describe_line(outcome, words) for outcome in document["verdict"]["outcomes"]]
            failures_first = sorted(lines, key=lambda line: line.passed)
            yield CheckResult(name, text, failures_first, moment(document["judged"]))


def describe_expected(outcome: Document, words: Words) -> str:
    """What an expectation expects, or what must hold for a finding of the audit."""
    return printable(outcome["words"] or sentence_of_finding(outcome["expectation"], words))


def _describe_line(outcome: Document, words: Words) -> _Line:
    column = "" if outcome["column"] is None else printable(outcome["column"])
    # A stored document is read without a schema: a text such as "false" would count as true.
    passed = outcome["success"] is True
    return _Line(column, describe_expected(outcome, words), printable(outcome["found"]), passed)


def _list_facts(run: Document, verdicts: Sequence[Document]) -> list[Fact]:
    versions = dict.fromkeys(f"crowdcover {document['version']}" for document in verdicts)
    figures = {"versions": list(versions), "not_stated": NOT_STATED, **run}
    return list_facts(_MESSAGES, "run", **figures)
