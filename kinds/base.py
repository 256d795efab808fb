"""The protocol of a kind of data: everything that the course of a release asks of it.

A kind is one folder. The course (`flows/release.py`) and the stages (`tasks/stages`) call these
methods and know no kind by name. A stage hands over folders: a kind reads the files that an earlier
stage stored and writes its own.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from tasks.judging.drift import DriftLimits
from tasks.judging.floors import Floors
from tasks.source.sources import Source

Facts = Mapping[str, Any]


class Checks(Protocol):
    """[checks] of a plan, as a kind types it."""

    @property
    def floors(self) -> Floors:
        """What the measured numbers must reach."""
        ...

    @property
    def drift_limits(self) -> DriftLimits | None:
        """How far the data may drift since the last release; None where nothing is compared."""
        ...


class KindPlan(Protocol):
    """What a plan says of its data, typed by the kind and passed back to it."""

    @property
    def source(self) -> Source:
        """Where the data lies."""
        ...

    def check_header(self, header: Sequence[str] | int) -> None:
        """Compare the plan with the names of the source's columns, or their number."""
        ...


class Kind(Protocol):
    """One kind of data.

    Attributes
    ----------
    name : str
        As [source] kind states it.
    anonymizer : str
        The anonymizer of a plan that names none.
    sections : mapping of str to (type, default)
        The sections of the plan that belong to this kind, "source" and "checks" among them.
    encoded : str
        Name of the stage that encodes; "validate-<checked[1]>" follows it.
    checked : tuple of str
        Names of the checks of ingested, encoded and released data.
    files : mapping of str to str
        Released data file by format.
    """

    name: ClassVar[str]
    anonymizer: ClassVar[str]
    sections: ClassVar[Mapping[str, tuple[Any, Any]]]
    encoded: ClassVar[str] = "encode"
    checked: ClassVar[tuple[str, str, str]] = ("ingested", "encoded", "released")
    files: ClassVar[Mapping[str, str]]

    # ------------------------------------------------------------ the plan

    def plan(self, sections: Any) -> Any:
        """The kind's part of a plan, checked; PlanError where it cannot be followed."""
        ...

    def explain(self, location: Sequence[str]) -> str | None:
        """A message of its own for a refused key, or None."""
        return None

    def replaces(self, place: tuple[str, ...]) -> bool:
        """Whether --set of a table at this key replaces the table there instead of merging."""
        return False

    def shaping(self, sections: Any) -> Mapping[str, Any]:
        """What shapes the release beside the sections as stated, for the plan's hash."""
        return {"kind": self.name}
