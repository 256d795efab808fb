"""[checks] of a starter plan: what nobody should publish unread, and how to change each limit."""

from collections.abc import Mapping

import polars as pl

from crowdcover.kinds.checks import propose_limits
from crowdcover.kinds.section import toml_key, toml_text
from crowdcover.kinds.table.plan.checks import ChecksSection
from crowdcover.kinds.table.starter.proposal import Proposal
from crowdcover.kinds.table.starter.values import SHARED_BY, Values

COMMENTS_AT = 27  # characters before a comment
_OFFERED = """\
# Defaults: a next table may differ so much (docs/how-to/drift.md).
# drift = {rows = 0.3, new_categories = 0, gone_categories = 0.02, shift = 0.1, utility = 0.05}
# More limits. Take the mark away to set one."""


def offer_mixing(column: str | None) -> list[str]:
    """A line of [privacy] that lets crowds show more values of a column, as a comment."""
    if column is None:
        return []
    return [
        format_commented_line(
            f"# mix = {toml_text(column)}", "lets people exchange rows, so that fewer crowds"
        ),
        format_commented_line("", "show one value of this column; no cell changes"),
    ]


def state_limits(sensitive: str | None, proposals: Mapping[str, Proposal]) -> list[str]:
    """Limits that a release must keep to be published and, as comments, what else may be demanded.

    `sensitive` is the column that the comments name, if there is any.
    """
    known: dict[str, object] = {"k": SHARED_BY, "chance": 1 / SHARED_BY}
    quasi = [name for name, proposal in proposals.items() if proposal.role == "quasi"]
    if quasi:
        known["quasi"] = toml_key(quasi[0])
    if sensitive is not None:
        known["sensitive"] = toml_text(sensitive)
    return [
        format_commented_line(
            "[checks]", "a release beyond a limit is not published. Change a limit, or"
        ),
        format_commented_line("", "delete its line, if you can say why"),
        propose_limits(ChecksSection, known, _OFFERED, COMMENTS_AT),
    ]


def most_uniform(frame: pl.DataFrame, proposals: Mapping[str, Proposal]) -> str | None:
    """The sensitive column whose commonest value is the most common; the first of several."""
    commonest = {
        name: Values(frame[name]).commonest
        for name, proposal in proposals.items()
        if proposal.role == "sensitive"
    }
    return max(commonest, key=lambda name: commonest[name], default=None)


def format_commented_line(text: str, comment: str) -> str:
    """A line of a plan with a comment, all comments one below the other."""
    return f"{text.ljust(COMMENTS_AT - 1)} # {comment}"
