"""What an anonymizer tells while it works: steps, the state to resume from, and who listens."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

_NO_TIME = 1.0  # seconds; a loaded disk takes some tenths for any file


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


class GrowingArrays(Mapping[str, NDArray[Any]]):
    """Arrays of a state that only grow along their last axis, from each step to the next."""

    @abstractmethod
    def after(self, records: int) -> Mapping[str, NDArray[Any]]:
        """Return what a state adds to one whose arrays have so many places on the last axis."""


class Observer:
    """Watches an anonymizer; a subclass shows progress or keeps checkpoints."""

    def expects(self, steps: int | None) -> None:
        """Receive the greatest possible number of steps before the first, None where unknown."""

    def report_records(self, records: int) -> None:
        """Receive, now and then, the number of records that the current step has finished."""

    def on_step(self, state: State) -> None:
        """Receive the state after each step."""


class Pace:
    """Says when the next checkpoint is due: writing them may take a tenth of the time.

    A checkpoint holds all that was made so far, so large tables in many parts would spend more time
    on each. Those that take no time are always due. No result depends on it: a rerun goes on from
    the last one.
    """

    def __init__(self) -> None:
        self._due = 0.0

    def is_due(self, now: float) -> bool:
        """Return whether a checkpoint is to be written at this second."""
        return now >= self._due

    def set_next(self, began: float, ended: float) -> None:
        """Learn in which seconds one was written."""
        taken = ended - began
        # Nine times as long without writing: a tenth of all time is spent on it.
        self._due = ended + 9 * taken if taken >= _NO_TIME else 0.0
