"""[checks] of a plan for a graph: limits that a release must meet; they never shape it."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from crowdcover.kinds.accepting import AcceptedSection, read_counted_limits
from crowdcover.kinds.checks import (
    LimitsSection,
    declare_attack_limit,
    declare_limit,
    declare_unchanged_limit,
)
from crowdcover.kinds.graph.profile import GraphDriftLimits
from crowdcover.kinds.judge.limits import (
    LimitNumber,
    MeasuredSections,
    StarterLine,
    build_number,
    read_number,
)
from crowdcover.kinds.section import Section, Share, declare_or_off

LESS = "lower k, raise privacy.eps or the limit"
_Positive = Annotated[float, Field(ge=0)]


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


def _read_hiding(measured: MeasuredSections, _: float) -> Iterator[LimitNumber]:
    below, records = measured["privacy"]["below"], measured["privacy"]["records"]
    yield build_number(below / records, finding=f"{below} of {records}")


class ChecksSection(LimitsSection):
    """[checks].

    Attributes
    ----------
    drift : how much the data may change since the last release; 'off' compares nothing.
    """

    max_below: Share | None = declare_limit(
        name="vertices below",
        sense="at most",
        expected="At most a share of {required} of the vertices hides among fewer than they "
        "demand.",
        shortfall="{finding} vertices hide among fewer than they demand, a share above "
        "checks.{key} = {required}",
        numbers=_read_hiding,
        description="the share of the vertices that may hide among fewer than they demand.",
        example="0.02",
        documented="share that hides among fewer, where eps allows more",
        remedy="lower k or privacy.eps, or raise the limit",
        starter=StarterLine(3, "0.0", "share that hides among fewer than k. Raise it with eps"),
    )
    max_discrepancy: Share | None = declare_limit(
        name="discrepancy",
        sense="at most",
        expected="The chance of two vertices to be connected differs by at most {required} on "
        "average.",
        shortfall="chances of two vertices to be connected differ by {shown} on average, above "
        "checks.{key} = {required}",
        numbers=read_number("utility", "discrepancy", form=".3f"),
        description="mean change of the chance that two vertices are connected.",
        example="0.1",
        documented="mean change of the chance that two vertices are connected",
        remedy=LESS,
        starter=StarterLine(
            4,
            "0.2",
            "the chance that two vertices are connected changes by 20 points\n"
            "at most, on average. Refused? Lower k, or raise eps",
        ),
    )
    max_degree_error: _Positive | None = declare_limit(
        name="degree error",
        sense="at most",
        expected="Expected degrees differ by at most {required} on average.",
        shortfall="expected degrees differ by {shown} on average, above checks.{key} = {required}",
        numbers=read_number("utility", "degree_error", form=".3f"),
        description="mean change of an expected degree.",
        example="0.5",
        documented="mean change of an expected degree",
        remedy=LESS,
        starter=StarterLine(5, "0.5", "mean change of an expected degree, in edges", offered=True),
    )
    max_attack_success: Share | None = declare_attack_limit(
        "a chance of",
        "vertex",
        description="how often an attacker may find a vertex, on average.",
        example="0.05",
        documented="for each thing that an attacker knows",
        remedy="raise k or the limit",
        starter=StarterLine(
            1,
            "0.05",
            "the best guess at a vertex is right by 1 in 20 at most, on\n"
            "average. It is 1/k: change it with k",
        ),
    )
    max_unchanged: Share | None = declare_unchanged_limit(
        "the edges of source and release",
        "as in the source",
        share="same_edges",
        documented="share of the edges that may be as in the source",
        remedy="raise k, lower privacy.eps or raise the limit",
        starter=StarterLine(
            2,
            "0.99",
            "refuses a graph whose edges are all as in the source: where the\n"
            "vertices hide already, nothing is hidden",
        ),
    )
    drift: Annotated[DriftSection | None, declare_or_off(DriftSection)] = DriftSection()

    @property
    def drift_limits(self) -> GraphDriftLimits | None:
        """Limits on changes between releases; None if the comparison is off."""
        return read_counted_limits(self.drift, GraphDriftLimits)
