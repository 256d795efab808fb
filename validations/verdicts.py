"""What a border said of what crossed it: yes and no, types of expectations, column names. No Great Expectations here."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """Whether one expectation holds.

    `column` is None where it speaks of the whole table; `words` say what was expected, `found` an aggregate where one may
    be told.
    """

    expectation: str
    column: str | None
    success: bool
    words: str = ""
    found: str = ""

    def __str__(self) -> str:
        return self.expectation if self.column is None else f"{self.expectation} ({self.column})"


@dataclass(frozen=True)
class Verdict:
    """What a suite found, in the suite's order."""

    suite: str
    outcomes: tuple[Outcome, ...]

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The expectations that do not hold."""
        return tuple(outcome for outcome in self.outcomes if not outcome.success)

    @property
    def success(self) -> bool:
        """Whether all expectations hold; a suite that expects nothing lets nothing pass."""
        return bool(self.outcomes) and not self.failures

    def sentence(self) -> str:
        """The verdict in one line for people: counts, types of expectations and column names."""
        held = len(self.outcomes) - len(self.failures)
        found = f"{self.suite}: {held} of {len(self.outcomes)} expectations hold"
        return f"{found}; failed: {', '.join(map(str, self.failures))}" if self.failures else found


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """The verdict as a JSON document."""
    return asdict(verdict)


def verdict_from_json(document: Mapping[str, Any]) -> Verdict:
    """The verdict of a JSON document; TypeError or KeyError where it is none. What is not said to hold does not."""
    outcomes = [
        Outcome(**{**outcome, "success": outcome["success"] is True})
        for outcome in document["outcomes"]
    ]
    return Verdict(str(document["suite"]), tuple(outcomes))
