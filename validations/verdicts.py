"""The verdict of a check: yes or no, types of expectations, column names.

Great Expectations is not imported here.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """Whether one expectation passed.

    `column` is None if it is about the whole table. `words` say what is expected. `found` is an
    aggregate, where one may be shown.
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
    """The outcomes of a suite, in its order."""

    suite: str
    outcomes: tuple[Outcome, ...]

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The expectations that failed."""
        return tuple(outcome for outcome in self.outcomes if not outcome.success)

    @property
    def success(self) -> bool:
        """Whether all expectations passed; a suite without expectations never passes."""
        return bool(self.outcomes) and not self.failures

    def sentence(self) -> str:
        """The verdict in one line for people: counts, types of expectations and column names."""
        passed = len(self.outcomes) - len(self.failures)
        counts = f"{self.suite}: {passed} of {len(self.outcomes)} expectations hold"
        failed = ", ".join(map(str, self.failures))
        return f"{counts}; failed: {failed}" if failed else counts


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """The verdict as a JSON document."""
    return asdict(verdict)


def verdict_from_json(document: Mapping[str, Any]) -> Verdict:
    """Read the verdict of a JSON document; TypeError or KeyError if it is none.

    An outcome passed only if the document says `true`.
    """
    outcomes = [
        # `is True`: a stored 1 or "yes" is no pass.
        Outcome(**{**outcome, "success": outcome["success"] is True})
        for outcome in document["outcomes"]
    ]
    return Verdict(str(document["suite"]), tuple(outcomes))
