"""Crowds of people of whom few quasi-identifiers are known: every set of so many is looked at."""

from dataclasses import dataclass
from itertools import combinations

from anon_core.errors import InputError
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import count_rows_by_known


@dataclass(frozen=True)
class FewestRows:
    """The smallest crowd of anybody, and by which attributes.

    Attributes
    ----------
    rows : int
        Rows that the loneliest record fits.
    known : tuple of int
        The attributes that are known of it; the first set of several.
    """

    rows: int
    known: tuple[int, ...]


def find_fewest_rows(released: ReleasedCells, classes: Classes, known: int) -> FewestRows:
    """Find the smallest crowd of anybody of whom `known` attributes are known.

    Parameters
    ----------
    released : ReleasedCells
    classes : Classes
        Of the records and these rows.
    known : int
        At least 1, at most the number of attributes.

    Raises
    ------
    InputError
        `known` is out of range.

    Notes
    -----
    Someone who knows less of a record fits no fewer rows to it. So no set of fewer attributes
    finds a smaller crowd, and smaller sets are not looked at. Time: that of counting crowds, for
    each of the sets; memory that of one.

    References
    ----------
    Terrovitis, Mamoulis and Kalnis, Privacy-preserving Anonymization of Set-valued Data: the crowd
    of those of whom at most m items are known.
    """
    attributes = len(released.cell)
    if not 1 <= known <= attributes:
        raise InputError(f"known must be from 1 to the number of attributes, {attributes}")
    counted = (
        (int(count_rows_by_known(released, classes, of).min()), of)
        for of in combinations(range(attributes), known)
    )
    return FewestRows(*min(counted))
