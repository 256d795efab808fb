"""[checks] of a starter plan: what nobody should publish unread, and how to change each limit."""

from collections.abc import Mapping

import polars as pl

from kinds.section import toml_key, toml_text
from kinds.table.starter.proposal import Proposal
from kinds.table.starter.values import SHARED_BY, Values

COMMENTS_AT = 27  # characters before a comment
UNIFORM = """\
max_uniform = 0.05         # at most 5 % of the people may hide in a crowd that shows one value of
                           # a sensitive column: who knows their quasi-identifiers learns it.
                           # Refused? Raise k, or let mix (above) name the column"""
NOT_UNIFORM = """\
# max_uniform = 0.05       # with a sensitive column: at most 5 % of the people may hide in a crowd
                           # that shows one value of it"""
LIMITS = """\
max_attack_success = {chance}   # how often somebody may name the right row, on average: 1/k. Change
                           # it with k
min_utility = 0.5          # at least half of the bits must stay visible. Refused? Lower k, or drop
                           # quasi-identifiers
max_row_loss = 0.02        # rules such as missing = "drop" may leave out 2 % of the rows
# Defaults: a next table may differ so much (docs/how-to/drift.md).
# drift = {{rows = 0.3, new_categories = 0, gone_categories = 0.02, shift = 0.1, utility = 0.05}}
# More limits. Take the mark away to set one.
# equivalence_k = {k}        # each row equals k - 1 others, as [anonymizer] "optimal" makes them
# max_unchanged = 0.99      # refuses a release in which all cells are as in the source"""


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
    lines = [
        format_commented_line(
            "[checks]", "a release beyond a limit is not published. Change a limit, or"
        ),
        format_commented_line("", "delete its line, if you can say why"),
        NOT_UNIFORM if sensitive is None else UNIFORM,
        LIMITS.format(k=SHARED_BY, chance=1 / SHARED_BY),
    ]
    quasi = [name for name, proposal in proposals.items() if proposal.role == "quasi"]
    if quasi:
        lines.append(f"# columns = {{{toml_key(quasi[0])} = 0.5}}    # a share of its information")
    if sensitive is not None:
        column = f"column = {toml_text(sensitive)}"
        lines += [
            f"# l_diversity = {{{column}, l = 2}}    # each crowd shows 2 values at least",
            f"# t_closeness = {{{column}, t = 0.5}}    # 0: each crowd is as mixed as the table",
        ]
    return lines


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
