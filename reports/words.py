"""What a report asks of a kind of data: its words, its numbers and its pictures."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from reports.facts import Fact, Manifest

Text = tuple[str, str]  # a title, and what it means


class Check(NamedTuple):
    """One line of the verdict: what was counted, the required and the measured count."""

    what: str
    required: str
    measured: str
    passed: bool


class Share(NamedTuple):
    """A cell that holds a share, 0 to 1; a terminal draws a bar beside it."""

    value: float
    colour: str


class Block(NamedTuple):
    """A table of a summary: its heading, the headings of its columns, and its rows.

    Without column headings the rows are `Fact`s. Columns named in `right` hold numbers.
    """

    heading: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str | Share]]
    right: Sequence[int] | None = None


class PageSection(NamedTuple):
    """A section of the report page: its id, its heading, and HTML that a template has escaped."""

    id: str
    heading: str
    html: str


class CheckText(NamedTuple):
    """A check between two stages, for people who never saw the code."""

    title: str
    description: str


class Words(Protocol):
    """The words of one kind. Every number comes from the manifest."""

    @property
    def glossary(self) -> Sequence[Text]:
        """Terms of the page."""
        ...

    @property
    def findings(self) -> Mapping[str, str]:
        """What each finding of the audit means, by its name."""
        ...

    @property
    def checks_between_stages(self) -> Mapping[str, CheckText]:
        """The kind's own checks by name, in the order of the course."""
        ...

    def demand(self, manifest: Manifest) -> str:
        """The demanded privacy levels."""
        ...

    def promise(self, manifest: Manifest) -> str:
        """The promise, as one paragraph for a layman."""
        ...

    def promised(self, manifest: Manifest) -> Sequence[Text]:
        """What the release promises, point by point."""
        ...

    def not_promised(self, manifest: Manifest) -> Sequence[Text]:
        """What it does not promise."""
        ...

    def not_promised_short(self, manifest: Manifest) -> str:
        """The same in two sentences."""
        ...

    def checks(self, manifest: Manifest) -> Sequence[Check]:
        """What the auditor counted of the promise; a count that is missing has not passed."""
        ...

    def risks(self, manifest: Manifest) -> Sequence[str]:
        """What a reader must know before use."""
        ...

    def missing(self, manifest: Manifest) -> Sequence[str]:
        """What the manifest does not state."""
        ...

    def headline(self, manifest: Manifest) -> Sequence[Fact]:
        """The numbers at the top of the page, most important first."""
        ...

    def protection(self, manifest: Manifest) -> Sequence[Block]:
        """Measured protection."""
        ...

    def utility(self, manifest: Manifest) -> Sequence[Block]:
        """What is left of the data."""
        ...

    def kept_step(self, steps: Sequence[Mapping[str, Any]]) -> int | None:
        """Place of the step whose result is published."""
        ...

    def sections(self, manifest: Manifest, measured: Any) -> Sequence[PageSection]:
        """Sections of the page between the promise and the history, pictures included.

        `measured` is what `check` kept for pictures; nothing of a single record may be shown.
        """
        ...
