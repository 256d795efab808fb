"""[checks] of a plan for a graph: limits that a release must meet; they never shape it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from kinds.accepting import AcceptedSection, limits_of, refuse_unknown
from kinds.graph.profile import GraphDriftLimits
from kinds.judge.floors import Asked, Floors, Sections, attack_success, build_unchanged_limit
from kinds.section import Section, Share, or_off

LESS = "lower k, raise privacy.eps or the limit"
Positive = Annotated[float, Field(ge=0)]


class DriftSection(Section):
    """[checks] drift: allowed changes since the last release, as shares; 1 allows everything.

    Attributes
    ----------
    vertices : difference of the two numbers of vertices, as a share of the larger.
    edges : the same of edges.
    expected_edges : the same of expected edges.
    utility : fall of the utility, under the same plan only.
    """

    vertices: Share = GraphDriftLimits.vertices
    edges: Share = GraphDriftLimits.edges
    expected_edges: Share = GraphDriftLimits.expected_edges
    utility: Share = GraphDriftLimits.utility
    accepted: dict[str, AcceptedSection] = {}


OrOff = BeforeValidator(or_off, json_schema_input_type=DriftSection | Literal["off"])


class ChecksSection(Section):
    """[checks].

    Attributes
    ----------
    max_below : the share of the vertices that may hide among fewer than they demand.
    max_discrepancy : mean change of the chance that two vertices are connected.
    max_degree_error : mean change of an expected degree.
    max_attack_success : how often an attacker may find a vertex, on average.
    max_unchanged : the share of the edges of source and release that may be as in the source; less
        than 1 refuses a release in which nothing was hidden.
    drift : how much the data may change since the last release; 'off' compares nothing.
    """

    max_below: Share | None = None
    max_discrepancy: Share | None = None
    max_degree_error: Positive | None = None
    max_attack_success: Share | None = None
    max_unchanged: Share | None = None
    drift: Annotated[DriftSection | None, OrOff] = DriftSection()

    @property
    def floors(self) -> "GraphFloors":
        """The limits as the tasks use them."""
        return GraphFloors(
            max_below=self.max_below,
            max_discrepancy=self.max_discrepancy,
            max_degree_error=self.max_degree_error,
            max_attack_success=self.max_attack_success,
            max_unchanged=self.max_unchanged,
        )

    @property
    def drift_limits(self) -> GraphDriftLimits | None:
        """Limits on changes between releases; None if the comparison is off."""
        if self.drift is None:
            return None
        refuse_unknown(self.drift)
        return limits_of(self.drift, GraphDriftLimits)


@dataclass(frozen=True, kw_only=True)
class GraphFloors(Floors):
    """The limits of a plan for a graph."""

    max_below: float | None = None
    max_discrepancy: float | None = None
    max_degree_error: float | None = None
    max_attack_success: float | None = None
    max_unchanged: float | None = None

    def requirements(self, measured: Sections) -> Iterator[Asked]:
        """Every limit with its measured number."""
        if self.max_below is not None:
            yield _require_hiding(self.max_below, measured["privacy"])
        if self.max_discrepancy is not None:
            yield _require_discrepancy(self.max_discrepancy, measured["utility"]["discrepancy"])
        if self.max_degree_error is not None:
            yield _degree_error(self.max_degree_error, measured["utility"]["degree_error"])
        if self.max_attack_success is not None:
            yield from _require_attacks(self.max_attack_success, measured.get("attacks", {}))
        if self.max_unchanged is not None:
            edges, remedy = "the edges of source and release", "raise k, lower privacy.eps or raise"
            same = measured["utility"].get("same_edges")
            yield build_unchanged_limit(same, self.max_unchanged, edges, f"{remedy} the limit")


def _require_hiding(limit: float, privacy: Sections) -> Asked:
    found = privacy["below"] / privacy["records"]
    return Asked(
        measure="vertices below",
        found=found,
        required=limit,
        shown=f"{found:.4f}",
        shortfall=f"{privacy['below']} of {privacy['records']} vertices hide among fewer than they "
        f"demand, a share above checks.max_below = {limit}",
        remedy="lower k or privacy.eps, or raise the limit",
    )


def _require_discrepancy(limit: float, found: float) -> Asked:
    return Asked(
        measure="discrepancy",
        found=found,
        required=limit,
        shown=f"{found:.3f}",
        shortfall=f"chances of two vertices to be connected differ by {found:.3f} on average, "
        f"above checks.max_discrepancy = {limit}",
        remedy=LESS,
    )


def _degree_error(limit: float, found: float) -> Asked:
    return Asked(
        measure="degree error",
        found=found,
        required=limit,
        shown=f"{found:.3f}",
        shortfall=f"expected degrees differ by {found:.3f} on average, above "
        f"checks.max_degree_error = {limit}",
        remedy=LESS,
    )


def _require_attacks(limit: float, attacks: Sections) -> Iterator[Asked]:
    """The limit for each thing that an attacker knows."""
    for name, attack in attacks.items():
        remedy = "raise k or the limit"
        yield attack_success(name, attack["success"], limit, "a chance of", remedy, "vertex")
