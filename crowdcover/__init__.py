"""Read a release of crowdcover: `release = crowdcover.read("releases/adult/v1")`.

A masked cell of a release allows several values. Read as text it misleads: cells that stay exact
are not typical. This package reads each cell as the set that it is, and answers counts,
frequencies, means and crosstabs with what is certain, what is possible and what is expected.

It needs polars and numpy, and nothing of the vault.
"""

from crowdcover.errors import ReleaseError, RulesWarning
from crowdcover.reader.answers import Count, Mean
from crowdcover.reader.columns import Column
from crowdcover.reader.conditions import (
    Between,
    Under,
    above,
    at_least,
    at_most,
    below,
    between,
    under,
)
from crowdcover.reader.release import Release, read
from crowdcover.reader.rubin import Pooled, pooled

__all__ = [
    "Between",
    "Column",
    "Count",
    "Mean",
    "Pooled",
    "Release",
    "ReleaseError",
    "RulesWarning",
    "Under",
    "above",
    "at_least",
    "at_most",
    "below",
    "between",
    "pooled",
    "read",
    "under",
]
