"""[checks] of a plan for a matrix: limits that a release must meet; they never shape it."""

from collections.abc import Iterator
from typing import Annotated

from crowdcover.kinds.accepting import AcceptedSection, read_counted_limits
from crowdcover.kinds.checks import (
    LimitsSection,
    declare_attack_limit,
    declare_limit,
    declare_unchanged_limit,
)
from crowdcover.kinds.judge.limits import (
    LimitNumber,
    MeasuredSections,
    StarterLine,
    read_attacks,
    read_number,
)
from crowdcover.kinds.matrix.profile import MatrixDriftLimits
from crowdcover.kinds.section import Section, Share, declare_or_off


class DriftSection(Section):
    """[checks] drift: allowed changes since the last release, as shares; 1 allows everything.

    Attributes
    ----------
    rows : difference of the two numbers of users, as a share of the larger.
    items : the same of items: which items there are is not compared.
    entries : the same of entries.
    utility : fall of the Jaccard similarity, under the same plan only.
    """

    rows: Share = MatrixDriftLimits.rows
    items: Share = MatrixDriftLimits.items
    entries: Share = MatrixDriftLimits.entries
    utility: Share = MatrixDriftLimits.utility
    accepted: dict[str, AcceptedSection] = {}


def _read_attacks(measured: MeasuredSections, stated: float) -> Iterator[LimitNumber]:
    """The success for each number of known items that some user has."""
    for number in read_attacks(measured, stated):
        if measured["attacks"][number.about]["tried"]:
            yield number


class ChecksSection(LimitsSection):
    """[checks].

    Attributes
    ----------
    drift : how much the data may change since the last release; 'off' compares nothing.
    """

    min_utility: Share = declare_limit(
        0.0,
        name="jaccard",
        sense="at least",
        expected="The Jaccard similarity of released and source entries is at least {required}.",
        shortfall="the Jaccard similarity {shown} is below checks.{key} = {required}",
        numbers=read_number("utility", "jaccard", form=".3f"),
        description="the Jaccard similarity of released and source entries that must be reached.",
        example="0.7",
        documented="Jaccard similarity of released and source entries",
        remedy="lower k or the floor",
        starter=StarterLine(
            2,
            "0.4",
            "Jaccard similarity: 40 % of what is in source or release is in\n"
            "both, at least. Refused? Lower k",
        ),
    )
    max_attack_success: Share | None = declare_attack_limit(
        "a chance of up to",
        numbers=_read_attacks,
        description="how often an attacker may find a user's row, on average.",
        example="0.2",
        documented="for each number of items that an attacker knows",
        remedy="raise k or the limit",
        starter=StarterLine(
            1,
            "0.2",
            "who knows 1, 2, 5 or 10 items of a user finds the user's row by\n"
            "1 in 5 at most, on average. It is 1/k: change it with k",
        ),
    )
    max_unchanged: Share | None = declare_unchanged_limit(
        "the entries of source and release",
        "in both",
        share="jaccard",
        documented="share of the entries that may be as in the source",
        remedy="raise k or the limit",
        starter=StarterLine(
            3, "0.99", "refuses a matrix whose entries are all as in the source", offered=True
        ),
    )
    drift: Annotated[DriftSection | None, declare_or_off(DriftSection)] = DriftSection()

    @property
    def drift_limits(self) -> MatrixDriftLimits | None:
        """Limits on changes between releases; None if the comparison is off."""
        return read_counted_limits(self.drift, MatrixDriftLimits)
