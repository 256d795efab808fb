"""What an anonymizer tells while it works: steps, the state to resume from, and who listens."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True)
class Step:
    """One finished step of an anonymizer; a method without iterations has one.

    Attributes
    ----------
    number : int
        1, 2, ...
    figures : mapping of str to float
        Aggregates that the method reports of this step, such as "utility"; never a cell.
    """

    number: int
    figures: Mapping[str, float]


@dataclass(frozen=True)
class State:
    """A checkpoint: all that the next step needs. The anonymizer that wrote it checks it.

    Attributes
    ----------
    arrays : mapping of str to ndarray
        By name, in the order of the data's records; no secret but who was close to whom.
    steps : tuple of Step
        The steps so far, at least one.
    """

    arrays: Mapping[str, NDArray[Any]] = field(repr=False)
    steps: tuple[Step, ...]


class Observer:
    """Watches an anonymizer; a subclass shows progress or keeps checkpoints."""

    def expects(self, steps: int | None) -> None:
        """Receive the greatest possible number of steps before the first, None where unknown."""

    def report_records(self, records: int) -> None:
        """Receive, now and then, the number of records that the current step has finished."""

    def on_step(self, state: State) -> None:
        """Receive the state after each step."""
