"""The texts that all kinds of data share; a kind adds its own. See `reports.words.Words`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from crowdcover.reports.comparison import Compared
from crowdcover.reports.facts import Manifest, describe_levels
from crowdcover.reports.messages import Messages
from crowdcover.reports.quantities import printable
from crowdcover.reports.words import (
    NOT_MEASURED,
    Block,
    CheckText,
    ColumnRole,
    Figure,
    Text,
)

Numbers = tuple[float | None, Callable[[Any], str]]
Rows = Sequence[tuple[str, ...]]


class KindWords:
    """The texts of a kind as its messages state them.

    Attributes
    ----------
    messages : Messages
        Of `kinds` and of the kind's own package.
    number_forms : mapping
        How a number of the manifest's utility is written, by its key.
    checked : tuple of str
        Names of the checks of a run, in the order of the stages.
    """

    messages: Messages
    number_forms: ClassVar[Mapping[str, Callable[[Any], str]]]
    checked: Sequence[str] = ("ingested", "encoded", "audited", "released")

    @property
    def glossary(self) -> Sequence[Text]:
        """The terms of the page."""
        return self.messages.list_texts("glossary")

    @property
    def findings(self) -> Mapping[str, str]:
        """What must hold, by name of the finding; those of every kind are not among them."""
        return self.messages.name_entries("findings")

    @property
    def checks_between_stages(self) -> Mapping[str, CheckText]:
        """The checks of this kind by name, in the order of the stages."""
        return {
            name: CheckText(*self.messages.list_texts("checks", name)[0]) for name in self.checked
        }

    def subjects(self, manifest: Manifest) -> str:  # noqa: ARG002 - of the protocol
        """What has a row or key each."""
        return self.messages.terms["subjects"]

    def demand(self, manifest: Manifest) -> str:
        """The demanded levels, as `k = 10 for everyone` or `k from 5 to 100`."""
        return describe_demand(manifest, self.messages)

    def describe_no_change(self, manifest: Manifest) -> str:
        """That nothing was hidden; empty where something was."""
        raise NotImplementedError

    def describe_promise(self, manifest: Manifest) -> str:
        """The promise as a paragraph."""
        raise NotImplementedError

    def promise(self, manifest: Manifest) -> str:
        """The promise in plain English; that nothing was hidden comes first."""
        first = self.describe_no_change(manifest)
        return f"{first} {self.describe_promise(manifest)}".lstrip()

    def columns(self, manifest: Manifest) -> Sequence[ColumnRole]:
        """The columns that were read, with their roles."""
        return [
            ColumnRole(printable(name), *self.messages.list_texts("columns", stated["role"])[0])
            for name, stated in manifest.get("columns", {}).items()
        ]

    def list_unstated(self, manifest: Manifest) -> Sequence[str]:  # noqa: ARG002 - of the protocol
        """Nothing: every release of the kind states all numbers."""
        return []

    def find_published_step(self, steps: Sequence[Mapping[str, Any]]) -> int | None:
        """The step marked as published."""
        return next((place for place, step in enumerate(steps) if step.get("published")), None)

    def describe_range(self, privacy: Manifest) -> str:
        """The least and the greatest demand, or the one of all."""
        low, high = privacy["k_min"], privacy["k_max"]
        return self.messages.say("headline", "demanded", low=low, high=high)

    def list_compared(self, numbers: Mapping[str, Numbers]) -> Sequence[Compared]:
        """Numbers by their keys, each with the way in which people read it."""
        return [
            Compared(key, self.messages.say("compared", key), value, write(value))
            for key, (value, write) in numbers.items()
        ]

    def build_block(self, heading: str, rows: Rows, headings: str = "") -> Block:
        """A table of the summary under a heading of the messages, "headings" if it has columns."""
        columns = self.messages.list_headings("headings", headings) if headings else ()
        return Block(self.messages.say("headings", heading), columns, rows)


def describe_demand(manifest: Manifest, messages: Messages) -> str:
    """The demanded levels in short, in the words of a kind."""
    return describe_levels(manifest, messages.terms["everyone"], messages.terms["one"])


def list_promised_findings(manifest: Manifest) -> Sequence[str]:
    """Names of the findings that the release promises."""
    promise: Sequence[str] = manifest["privacy"]["promise"]
    return promise


def find_strongest_chance(attacks: Sequence[Any]) -> float | None:
    """The chance of the attack that succeeds most often; None where none was tried."""
    # None compares as "not measured"; 0 would read as an attack that never succeeds.
    return max((attack.success for attack in attacks), default=None)


def build_unmeasured_figure(what: str, against: str = "nothing") -> Figure:
    """A figure that says that nothing was measured, and what would be held against it."""
    return Figure(what, NOT_MEASURED, against, NOT_MEASURED)
