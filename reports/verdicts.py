"""docs/index.html of a run in the vault: what every border expected, and whether it held. Reads stored verdicts only."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from reports.facts import Fact
from reports.quantities import NOT_STATED, moment, printable
from reports.templates import template

Document = Mapping[str, Any]


class Border(NamedTuple):
    """What lies between two stages, in words for people who never saw the code."""

    name: str
    title: str
    judges: str


BORDERS = (  # in the order of the flow
    Border(
        "alike",
        "The table beside that of the last release",
        "Rows, categories, the shape of each column and the types of what is carried, held against what the vault keeps of the "
        "table of the last release.",
    ),
    Border(
        "ingested",
        "The table as it was read",
        "Before anything is coded: the columns are those that the plan names, no identifier is among them, and their values "
        "are of the kind that the plan states.",
    ),
    Border(
        "binarized",
        "The coded records",
        "Before the anonymizer sees them: the bits of every record are read back and must give a level of each column, and "
        "every demand for a crowd must be one that a table of this size can meet.",
    ),
    Border(
        "audited",
        "The guarantees",
        "Recomputed from the source and from the very bytes that would be published, by code that shares nothing with the "
        "part that made them.",
    ),
    Border(
        "released",
        "The rows to be published",
        "The audited rows once more, row by row: keys, cells, crowds and truth, held against the same source.",
    ),
    Border(
        "required",
        "What the plan's checks ask",
        "Beside the promise that every release keeps: limits that this plan sets in [checks], on the numbers that the audit "
        "measured.",
    ),
    Border(
        "kept",
        "What is kept beside the last release",
        "The same plan on new data: a release that keeps much less than the last one did is seen by a person first.",
    ),
    Border(
        "beside",
        "Other releases of the same people",
        "Two releases of the same people can be intersected. Whom the ledger knows from another release is looked for.",
    ),
    Border(
        "approved",
        "A person's approval",
        "The plan asks a person: what is approved are exact bytes and numbers, and the name stands in the manifest.",
    ),
)
ALWAYS = (
    "ingested",
    "binarized",
    "audited",
    "released",
    "beside",
)  # the others, where there is something to judge

GUARANTEES = {
    "readable files": "Every file of the rows is there and can be read.",
    "same table in every format": "The formats hold the same table.",
    "codebook of the source": "The published codebook is the one that the source gives.",
    "no other column": "The key, the quasi-identifiers, the sensitive and the kept columns, and no other.",
    "no traces in the files": "Headers and footers of the files tell nothing but the rows.",
    "rows ordered by key": "The order of the rows tells nothing: it is that of random keys.",
    "keys of 16 hexadecimal digits": "Every key is 16 hexadecimal digits.",
    "order tells nothing": "A guess by the order of the source is right no more often than chance allows.",
    "one row a record": "As many rows as people, and every key once.",
    "known keys": "Every person has a row, and one only.",
    "readable cells": "Every published cell can be read under the codebook.",
    "truthful rows": "Every row is true of its person: values are less exact, never changed.",
    "compatible crowds": "Every person fits at least as many rows as demanded.",
    "matchable crowds": "At least as many rows as demanded could be the person's while everyone else has one, too.",
}


class Line(NamedTuple):
    """One expectation."""

    column: str
    words: str
    found: str
    holds: bool


class Judged(NamedTuple):
    """One border; without lines it was not reached."""

    border: Border
    lines: Sequence[Line]
    moment: str

    @property
    def wrong(self) -> Sequence[Line]:
        """The expectations that do not hold."""
        return [line for line in self.lines if not line.holds]

    @property
    def passes(self) -> bool:
        """Whether something was expected and all of it holds."""
        return bool(self.lines) and not self.wrong


def render(run: Document, verdicts: Sequence[Document]) -> str:
    """The page; `verdicts` in the order of the flow, each with the moment and the version that it was judged by."""
    borders = list(_borders(verdicts))
    reached = [border for border in borders if border.lines]
    refused = next((border for border in reached if not border.passes), None)
    lines = list(chain.from_iterable(border.lines for border in reached))
    return template("verdicts.html.j2").render(
        run=printable(run["run"]),
        title=printable(", ".join(run["releases"])) or f"Run {printable(run['run'])[:8]}",
        judged=max((border.moment for border in reached), default=NOT_STATED),
        complete=bool(run["releases"]) and all(border.passes for border in borders),
        refused=refused,
        published=bool(run["releases"]),
        borders=borders,
        passed=sum(border.passes for border in borders),
        expected=len(lines),
        failed=sum(not line.holds for line in lines),
        facts=_facts(run, verdicts),
    )


def _borders(verdicts: Sequence[Document]) -> Iterator[Judged]:
    """Those that every run crosses, reached or not, and those that this one met beside them."""
    told = {document["verdict"]["suite"]: document for document in verdicts}
    met = [border for border in BORDERS if border.name in told or border.name in ALWAYS]
    known = {border.name for border in BORDERS}
    unknown = [Border(name, printable(name).capitalize(), "") for name in told if name not in known]
    for border in (*met, *unknown):
        document = told.get(border.name)
        if document is None:
            yield Judged(border, (), NOT_STATED)
        else:
            lines = sorted(
                map(_line, document["verdict"]["outcomes"]), key=lambda line: line.holds
            )  # what fails is seen
            yield Judged(border, lines, moment(document["judged"]))


def _line(outcome: Document) -> Line:
    name = outcome["expectation"]
    words = outcome["words"] or GUARANTEES.get(name) or f"{name.capitalize()}."
    column = "" if outcome["column"] is None else printable(outcome["column"])
    return Line(column, printable(words), printable(outcome["found"]), outcome["success"] is True)


def _facts(run: Document, verdicts: Sequence[Document]) -> list[Fact]:
    versions = dict.fromkeys(f"crowdcover {document['version']}" for document in verdicts)
    return [
        Fact("Run", printable(run["run"])),
        Fact("Plan (SHA-256)", printable(run["plan_sha256"])),
        Fact("Published as", printable(", ".join(run["releases"]) or "nothing so far")),
        Fact("Judged by", printable(", ".join(versions) or NOT_STATED)),
    ]
