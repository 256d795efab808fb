"""The interface between reports and kinds of data: texts, numbers and pictures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from crowdcover.reports.comparison import Compared
from crowdcover.reports.facts import Fact, Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import one_in

Text = tuple[str, str]  # a term or title, and its explanation


class Check(NamedTuple):
    """One line of the verdict: what is counted, the required and the measured count.

    An empty check holds for any release, since k = 1 demands nothing.
    """

    what: str
    required: str
    measured: str
    passed: bool
    empty: bool = False

    @property
    def result(self) -> str:
        """The result as text."""
        return ("demands nothing" if self.empty else "holds") if self.passed else "fails"


class ShareCell(NamedTuple):
    """A cell with a share from 0 to 1; the terminal draws a bar beside it."""

    value: float
    colour: str


class Block(NamedTuple):
    """A table of a summary: its heading, its column headings and its rows.

    Without column headings, each row is a `Fact`. Columns in `right` are numbers, aligned right;
    None means all but the first. `meanings` explain the rows to readers without the page.
    """

    heading: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str | ShareCell]]
    right: Sequence[int] | None = None
    meanings: Sequence[Fact] = ()


class Figure(NamedTuple):
    """A measured figure of a risk, what it is held against, and one of the results below."""

    what: str
    measured: str
    against: str
    result: str


WITHIN, ABOVE, NO_LIMIT = "within", "above", "no limit set"
OF_EVERY_RELEASE = "so in every release"  # no warning: no other release does better
NO_DEMAND = "nothing demanded"  # with k = 1 for everyone, any figure would be within
NOT_MEASURED = "not measured"


def against_limit(what: str, attack: Any, holds: bool, limits: Mapping[str, float]) -> Figure:
    """An attacker's mean chance against the plan's limit, else against guessing.

    `attack` has a name, `success` and `guess`. Without a limit by its name, `holds` says whether
    the result is within.
    """
    # The plan's limit replaces the guess, also where the guess is the stricter of the two.
    limit, messages = limits.get(attack.name), load_messages("crowdcover.reports")
    if limit is not None:
        result, held = attack.success <= limit, messages.say("against", "limit", limit=limit)
    else:
        result, held = holds, messages.say("against", "guess", guess=attack.guess)
    return Figure(what, one_in(attack.success), held, WITHIN if result else ABOVE)


def attack_limits(manifest: Manifest) -> dict[str, float]:
    """The plan's limits of attack success, by what an attacker knows."""
    return {
        each["about"]: each["required"]
        for each in manifest.get("checks", [])
        if each["measure"] == "attack success"
    }


class RiskLine(NamedTuple):
    """A risk in one line, for a person who signs.

    Attributes
    ----------
    question : what may happen to somebody.
    people : how many of whom, or that they were not counted: the beginning of `finding`.
    finding : what happens to them, at the hands of whom.
    limit : what the number is held against, and whether it is kept.
    change : what to change if it is too much.
    result : as of a figure.
    warns : whether a reader must know it before use.
    aside : what is so of every release, and therefore no warning.
    """

    question: str
    people: str
    finding: str
    limit: str
    change: str
    result: str
    warns: bool = False
    aside: str = ""

    @property
    def tone(self) -> str:
        """How pages colour it: "fail", "open" where it warns, "pass", or "calm"."""
        if self.result == ABOVE:
            return "fail"
        return "open" if self.warns else "pass" if self.result == WITHIN else "calm"


class Risk(NamedTuple):
    """A risk by the name that the field gives it, as a question, with its figures.

    `line` is the risk for a person who signs; None where a kind of data has no such line.
    """

    name: str
    question: str
    figures: Sequence[Figure]
    line: RiskLine | None = None


def three_risks(
    whom: str,
    learn: str,
    singling_out: Iterable[Figure],
    linkability: Iterable[Figure],
    inference: Iterable[Figure],
    found: str = "row",
    lines: Sequence[RiskLine | None] = (None, None, None),
) -> list[Risk]:
    """Singling out, linkability and inference (WP216); `whom` and what may be learnt of them.

    `found` is what of the release someone may find to be theirs. `lines` has a line of each risk.
    """
    questions = load_messages("crowdcover.reports").list_texts(
        "risks", whom=whom, learn=learn, found=found
    )
    figures = (singling_out, linkability, inference)
    return [
        Risk(name, question, list(measured), line)
        for (name, question), measured, line in zip(questions, figures, lines, strict=True)
    ]


class Exposure(NamedTuple):
    """People of whom a release shows something although its promise holds.

    `share` is their share, None where it was not counted. `text` says how many of whom, and what is
    shown, such as "12 of 500 people (2.4 %) fit only rows that show one value of illness".
    """

    share: float | None
    text: str


class ColumnRole(NamedTuple):
    """A column of the source, its role in plain words and what the release shows of it."""

    name: str
    role: str
    shown: str


class PageSection(NamedTuple):
    """A section of the report page: id, heading, and HTML from a template that escapes text."""

    id: str
    heading: str
    html: str


class CheckText(NamedTuple):
    """Title and description of a check, for readers who do not know the code."""

    title: str
    description: str


class Words(Protocol):
    """The texts of one kind of data. Every number comes from the manifest."""

    @property
    def glossary(self) -> Sequence[Text]:
        """The terms of the page, with their meaning."""
        ...

    @property
    def findings(self) -> Mapping[str, str]:
        """What must hold, by name of the finding: for the audit, the page and Prefect."""
        ...

    @property
    def checks_between_stages(self) -> Mapping[str, CheckText]:
        """The checks of this kind by name, in the order of the stages."""
        ...

    @property
    def number_forms(self) -> Mapping[str, Callable[[Any], str]]:
        """How a number of the manifest's utility is written, by its key."""
        ...

    def subjects(self, manifest: Manifest) -> str:
        """Whom the promise counts, in the plural, such as "people"."""
        ...

    def demand(self, manifest: Manifest) -> str:
        """The demanded privacy levels, in short."""
        ...

    def promise(self, manifest: Manifest) -> str:
        """The promise as one paragraph for a layman; that nothing was hidden comes first."""
        ...

    def describe_no_change(self, manifest: Manifest) -> str:
        """That nothing was hidden, in a sentence or two; empty where something was."""
        ...

    def promised(self, manifest: Manifest) -> Sequence[Text]:
        """The points of the promise."""
        ...

    def not_promised(self, manifest: Manifest) -> Sequence[Text]:
        """Protection that the release does not promise."""
        ...

    def not_promised_short(self, manifest: Manifest) -> str:
        """The same in two sentences."""
        ...

    def checks(self, manifest: Manifest) -> Sequence[Check]:
        """The counts of the auditor for the promise; a missing count has not passed."""
        ...

    def warnings(self, manifest: Manifest) -> Sequence[str]:
        """What a reader must know before use, a sentence each; it is part of the verdict."""
        ...

    def exposure(self, manifest: Manifest) -> Exposure | None:
        """The largest group whose secret the release shows, for the heading; None if there is none.

        `warnings` say the same at length.
        """
        ...

    def risks(self, manifest: Manifest) -> Sequence[Risk]:
        """Measured figures by risk, each held against the plan's limit or the promise."""
        ...

    def columns(self, manifest: Manifest) -> Sequence[ColumnRole]:
        """All columns of the source; none if an older manifest does not name them."""
        ...

    def list_unstated(self, manifest: Manifest) -> Sequence[str]:
        """Measurements that the manifest does not state."""
        ...

    def headline(self, manifest: Manifest) -> Sequence[Fact]:
        """The numbers at the top of the page, most important first."""
        ...

    def compared(self, sections: Manifest) -> Sequence[Compared]:
        """The numbers by which settings are compared, from the measured sections."""
        ...

    def protection(self, manifest: Manifest) -> Sequence[Block]:
        """Tables of the measured protection."""
        ...

    def utility(self, manifest: Manifest) -> Sequence[Block]:
        """Tables of the information that the release keeps."""
        ...

    def find_published_step(self, steps: Sequence[Mapping[str, Any]]) -> int | None:
        """Position of the step whose result was kept; more work may follow on it."""
        ...

    def sections(self, manifest: Manifest, measured: Any) -> Sequence[PageSection]:
        """Sections of the page between promise and history, with their pictures.

        `measured` is what `check` stored for pictures; no section may show a single record.
        """
        ...
