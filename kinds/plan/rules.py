"""The protocol of what a kind of data says of a plan, before any source is read.

A kind states it in its module `rules`, as `RULES`: `crowdcover check` loads that alone.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import polars as pl

from crowdcover.kinds.plan.series import SeriesRules

# The type of a column of the source, by its name; None where it is not known.
FindType = Callable[[str], pl.DataType | None]


class PlanRules(Protocol):
    """What a kind says of a plan.

    Attributes
    ----------
    name : str
        As [source] kind states it.
    anonymizer : str
        The anonymizer of a plan that names none.
    earlier_anonymizers : tuple of str
        Those that such a plan had in older versions, the youngest first.
    sections : mapping of str to (type, default)
        The sections of the plan that belong to this kind, "source" and "checks" among them.
    series : SeriesRules, optional
        What the kind says of [series]; None where it has no series.
    """

    name: ClassVar[str]
    anonymizer: ClassVar[str]
    earlier_anonymizers: ClassVar[tuple[str, ...]] = ()
    sections: ClassVar[Mapping[str, tuple[Any, Any]]]
    series: ClassVar[SeriesRules | None] = None

    @abstractmethod
    def plan(self, sections: Any) -> Any:
        """The kind's part of a plan; PlanError where it cannot be followed.

        It has `source`, and `check_header` compares it with the names of the source's columns.
        """

    def read_as(self, plan: Any, form: int) -> Any:
        """The same plan of a source that is read in a form; see `storage.source.values.FORM`."""
        # The form is that of the reading, not of the plan's text, so no hash of the plan changes.
        return replace(plan, source=replace(plan.source, form=form))

    def explain(self, location: Sequence[str]) -> str | None:
        """A message of the kind's own for a refused key, or None."""
        return None

    def replaces(self, place: tuple[str, ...]) -> bool:
        """Whether --set of a table at this key replaces the table there instead of merging."""
        return False

    def check_method(self, plan: Any, anonymizer: Any) -> None:
        """Refuse an anonymizer that cannot do what the plan asks; by default none.

        What the plan alone tells is refused here, before the source is read.
        """
        return

    def check_types(self, plan: Any, find_type: FindType) -> None:
        """Refuse columns whose type in the source does not fit the plan; by default none."""
        return

    def find_needed_method(self, plan: Any) -> str | None:
        """The anonymizer that alone does what the plan asks, for a plan that names none."""
        return None

    def sections_for_hash(self, sections: Any) -> Mapping[str, Any]:
        """What shapes the release beside the sections as stated, for the plan's hash."""
        return {"kind": self.name}

    def earlier(self, sections: Any) -> Mapping[str, Any]:
        """Sections as older versions understood what they leave to a default."""
        return {}

    def states_levels(self, plan: Any) -> bool:
        """Whether the plan states all demanded levels, instead of drawing or reading them."""
        return False
