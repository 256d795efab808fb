"""What matrices say of a plan before a source is read."""

from collections.abc import Mapping, Sequence
from typing import Any

from crowdcover.kinds.demands import shape_k
from crowdcover.kinds.matrix.plan.sections import K_RULE, SECTIONS, MatrixPlan
from crowdcover.kinds.plan.rules import PlanRules
from crowdcover.kinds.section import BINS

ALLOWING = ("allow", "note")  # keys of [columns] that only allow a release


class MatrixRules(PlanRules):
    """See `kinds.plan.rules.PlanRules`."""

    name = "matrix"
    anonymizer = "smooth"
    sections = SECTIONS

    def plan(self, sections: Any) -> MatrixPlan:
        """[source], [columns], [privacy] and [checks] together."""
        return MatrixPlan.of(sections)

    def explain(self, location: Sequence[str]) -> str | None:
        """The forms of k and bins, which pydantic would list one by one."""
        if list(location[:2]) == ["privacy", "k"]:
            return f"privacy.k {K_RULE}"
        if list(location[:2]) == ["columns", "bins"] and len(location) > 2:
            return f"{'.'.join(location[:3])} {BINS}"
        return None

    def replaces(self, place: tuple[str, ...]) -> bool:
        """The forms of a column's bins exclude each other."""
        return len(place) == 3 and place[:2] == ("columns", "bins")

    def sections_for_hash(self, sections: Any) -> Mapping[str, Any]:
        """What shapes the release, without what only allows one."""
        columns = sections.columns.model_dump(exclude=set(ALLOWING))
        privacy = {"k": shape_k(sections.privacy.k)}
        return {"kind": self.name, "columns": columns, "privacy": privacy}

    def states_levels(self, plan: MatrixPlan) -> bool:
        """k is one number."""
        return isinstance(plan.k, int)


RULES = MatrixRules()
