"""What the starter proposes for one column: a role, a reason with counts, and what to decide."""

from typing import NamedTuple

import polars as pl

from crowdcover.kinds.table.starter.names import Name
from crowdcover.kinds.table.starter.values import FEW, SHARED_BY, Values

MOST_LEVELS = 500  # past this a category is hardly ever shared by a crowd
LONG_TEXT = 60  # characters on average: free text
NUMERIC = 'kind = "numeric"'


class Proposal(NamedTuple):
    """A role with its reason, the settings that belong to it, and what is asked about it."""

    role: str
    reason: str
    settings: tuple[str, ...] = ()
    decide: tuple[str, ...] = ()


def build_numeric_proposal(
    values: Values, what: str, ask: str = "", groups: str = 'bins = "deciles"'
) -> Proposal:
    """A quasi-identifier of numbers, in groups unless they are few."""
    settings = (NUMERIC, 'bins = "none"' if values.distinct <= FEW else groups)
    return Proposal("quasi", f"{what}: {describe_counts(values)}", settings, (ask,) if ask else ())


def build_category_proposal(
    name: Name, values: Values, what: str = "", decide: tuple[str, ...] = ()
) -> Proposal:
    """A quasi-identifier of categories, or to leave it out where no crowd can share its values."""
    what = f"{what}: " if what else "a place: " if name.place else ""
    long = values.numbers is None and values.length > LONG_TEXT
    if values.distinct > MOST_LEVELS:
        return Proposal("drop", f"{what}{describe_counts(values)}, too many to share with a crowd")
    if values.distinct > FEW and values.scarce > values.number / (20 if long else 2):
        scarce = f"{values.scarce:,} rows share theirs with fewer than {SHARED_BY - 1} others"
        return Proposal("drop", f"{what}{describe_counts(values)}; {scarce}")
    if not (name.known or name.place or decide) and (looks := _describe_suspicion(values)):
        what, decide = f"{what}{looks}: ", ("role",)
    kind = "binary" if values.distinct == 2 else "categorical"
    return Proposal("quasi", f"{what}{describe_counts(values)}", (f'kind = "{kind}"',), decide)


def _describe_suspicion(values: Values) -> str:
    """Why categories may be names or numbers of people; empty if nothing says so."""
    if values.full_names:
        return "capital words, which may be names"
    if values.is_uncased:
        return "words of a script without capitals, which may be names"
    return "long numbers, which may be of people" if values.long_numbers else ""


def describe_counts(values: Values) -> str:
    """How many distinct values, of which type, in how many rows."""
    what = "values"
    if values.formats:
        what = "dates"
    elif values.numbers is not None:
        what = "whole numbers" if values.whole else "numbers"
    elif values.present.dtype == pl.String:
        what = "texts"
    return f"{values.distinct:,} distinct {what} in {values.number:,} rows"
