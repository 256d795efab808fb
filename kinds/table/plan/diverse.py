"""[privacy] diverse: what each class must show of a sensitive column."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from anon_core.specs.demands import DiverseMeasure
from crowdcover.kinds.columns import Column
from crowdcover.kinds.section import PlanError, Section
from crowdcover.kinds.table.layout import RANKED


@dataclass(frozen=True)
class Diverse:
    """The demand of a plan.

    Attributes
    ----------
    column : str
    measure : {"distinct", "entropy", "distance"}
        See `DiverseDemand`.
    limit : float
        l, or t where the measure is a distance.
    ordered : bool
        Whether the values have ranks.
    """

    column: str
    measure: DiverseMeasure
    limit: float
    ordered: bool

    def state(self) -> dict[str, Any]:
        """As the manifest states it."""
        key = "t" if self.measure == "distance" else "l"
        return {"column": self.column, "measure": self.measure, key: self.limit}


class DiverseSection(Section):
    """[privacy] diverse: l or t.

    Attributes
    ----------
    column : a sensitive column.
    l : how many values each class shows, at least.
    kind : of l: distinct: count values; entropy: count them by how even they are.
    t : instead of l: how far the values of a class may be from those of all rows.
    """

    column: str
    l: Annotated[int, Field(ge=2)] | None = None
    kind: Literal["distinct", "entropy"] | None = None
    t: Annotated[float, Field(gt=0, lt=1)] | None = None

    def type_demand(self, column: Column) -> Diverse:
        """The demand of this section, with the order of the column's values."""
        if column.role != "sensitive":
            raise PlanError(
                f"privacy.diverse: column {self.column!r} has role = {column.role!r}; name a "
                "column whose role is 'sensitive'"
            )
        if (self.l is None) == (self.t is None):
            raise PlanError("privacy.diverse needs l or t; state one of them")
        ordered = column.kind in RANKED
        if self.t is not None:
            if self.kind is not None:
                raise PlanError("privacy.diverse.kind belongs to l; leave it out, or state l")
            return Diverse(self.column, "distance", self.t, ordered)
        assert self.l is not None
        return Diverse(self.column, self.kind or "distinct", self.l, ordered)
