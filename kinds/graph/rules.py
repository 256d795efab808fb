"""What graphs say of a plan before a source is read."""

from collections.abc import Mapping, Sequence
from typing import Any

from crowdcover.kinds.demands import shape_k
from crowdcover.kinds.graph.plan.sections import K_RULE, SECTIONS, EarlierGraphSource, GraphPlan
from crowdcover.kinds.plan.rules import PlanRules


class GraphRules(PlanRules):
    """See `kinds.plan.rules.PlanRules`."""

    name = "graph"
    anonymizer = "uncertain_graph"
    sections = SECTIONS

    def plan(self, sections: Any) -> GraphPlan:
        """[source], [columns], [privacy] and [checks] together."""
        return GraphPlan.of(sections)

    def explain(self, location: Sequence[str]) -> str | None:
        """The forms of k, which pydantic would list one by one."""
        return f"privacy.k {K_RULE}" if list(location[:2]) == ["privacy", "k"] else None

    def sections_for_hash(self, sections: Any) -> Mapping[str, Any]:
        """What shapes the release, without what only allows one and without paths."""
        stated = sections.privacy
        privacy = {"k": shape_k(stated.k), "eps": stated.eps, "knows": stated.knows}
        source = sections.source.model_dump(exclude={"kind", "path", "uri"})
        source |= sections.source.hashed_settings
        return {"kind": self.name, "privacy": privacy, "source": source}

    def earlier(self, sections: Any) -> Mapping[str, Any]:
        """[source] as 0.1.0 understood it: with what only allows a release in the plan's hash."""
        return {"source": EarlierGraphSource.of(sections.source)}

    def states_levels(self, plan: GraphPlan) -> bool:
        """k is one number."""
        return isinstance(plan.k, int)


RULES = GraphRules()
