"""Rules for columns of numbers: amounts in intervals, codes as categories, the rest asked about."""

import numpy as np
from numpy.typing import NDArray

from crowdcover.kinds.table.starter.names import Name
from crowdcover.kinds.table.starter.proposal import (
    MOST_LEVELS,
    NUMERIC,
    Proposal,
    build_category_proposal,
    build_numeric_proposal,
    describe_counts,
)
from crowdcover.kinds.table.starter.values import FEW, SHARED_BY, Values

GROUPS = 12  # up to so many numbered levels of an age or a time are coded groups
OLDEST = 130
_BORN = (1850, 2100)
# The same for every table: edges from the data would say how old the oldest person is.
DECADES = "bins = {edges = [10, 20, 30, 40, 50, 60, 70, 80, 90]}"
# Not proposed outright: a node holds fixed groups, an interval any that lie side by side.
LADDER = "# hierarchy = {ladder = [5, 10, 20]}  # in place of bins: cells are fixed steps of years"
DECADES_OF_BIRTH = (
    "bins = {edges = [1920, 1930, 1940, 1950, 1960, 1970, 1980, 1990, 2000, 2010, 2020]}"
)


def propose_for_ages(name: Name, values: Values) -> Proposal | None:
    """Ages and years of birth, in groups that people use."""
    if name.coded or not (name.age or name.birth) or _is_recoded(values):
        return None
    groups, what = (DECADES, "ages") if name.age else (DECADES_OF_BIRTH, "years of birth")
    low, high = (0, OLDEST) if name.age else _BORN
    if not values.within(low, high) or (name.birth and not values.whole):
        return None
    proposal = build_numeric_proposal(values, f"{what} by the name", groups=groups)
    if groups not in proposal.settings:
        return proposal
    return proposal._replace(settings=(*proposal.settings, LADDER))


def _is_recoded(values: Values) -> bool:
    """Numbered groups, or numbers that a program gave in the order of the rows."""
    groups = values.is_gapless and values.distinct <= GROUPS
    return groups or (values.in_order_of_rows and not values.is_ascending)


def propose_for_weights(values: Values) -> Proposal:
    """Sampling weights: kept, in steps that enough rows share, or left out where none would do."""
    reason = f"a sampling weight by its name: {describe_counts(values)}"
    step = None if values.negative else _find_shared_step(values.floats)
    if step is None:
        return Proposal("drop", reason)
    settings = (NUMERIC, f"step = {step:g}", 'top = "k"', 'bottom = "k"')
    return Proposal("keep", f"{reason}, rounded so that rows share it", settings)


def _find_shared_step(numbers: NDArray[np.float64]) -> float | None:
    """The least step of 1, 2 or 5 times a power of ten by which numbers become shared.

    Less than twice `SHARED_BY` rows may be of a number that too few others have: the greatest and
    the smallest become open groups. None if more than half of the numbers would be one.
    """
    for exponent in range(-3, len(f"{numbers.max():.0f}") + 1):
        for digit in (1, 2, 5):
            step = digit * 10.0**exponent
            counts = np.unique(np.rint(numbers / step), return_counts=True)[1]
            if counts.max() > len(numbers) / 2:
                return None
            if counts[counts < SHARED_BY].sum() < 2 * SHARED_BY:
                return step
    return None


def propose_for_percentages(name: Name, values: Values) -> Proposal | None:
    """Percentages in whole numbers, or with their sign."""
    if values.percentages:
        return Proposal(
            "drop", f"percentages with a sign: {describe_counts(values)}", decide=("role",)
        )
    spread = values.within(0, 100) and values.is_gapless and values.levels[-1] == 100
    if spread and not (name.measured or name.is_counted or name.coded):
        return build_numeric_proposal(values, "from 0 or 1 to 100, so perhaps percentages", "kind")
    return None


def propose_for_unit(name: Name, values: Values) -> Proposal | None:
    """Numbers that were written with a unit."""
    if not values.unit or values.numbers is None or name.coded:
        return None
    return build_numeric_proposal(values, "numbers with a unit, so amounts")


def propose_for_fractions(name: Name, values: Values) -> Proposal | None:
    """Numbers with fractions: amounts, or positions."""
    if values.numbers is None or values.whole or name.coded:
        return None
    if name.position:
        return build_numeric_proposal(values, "a position, which may name a home", ask="role")
    return build_numeric_proposal(values, "with fractions, so amounts")


def propose_for_codes(name: Name, values: Values) -> Proposal | None:
    """Whole numbers that stand for things: by their name, or numbered by a program."""
    if values.numbers is None:
        return None
    if name.coded and not name.is_counted:
        return build_category_proposal(name, values, "codes by the name")
    if values.distinct > GROUPS and _is_recoded(values):
        ask = ("kind",) if values.distinct > FEW else ()
        return build_category_proposal(
            name, values, "numbered in the order of the rows, so codes", ask
        )
    if name.measured and values.is_gapless and values.distinct <= GROUPS:
        return build_category_proposal(name, values, "groups with numbers by name and values")
    return None


def propose_for_amounts(name: Name, values: Values) -> Proposal | None:
    """Whole numbers whose name tells that intervals make sense, and few of any name."""
    if values.numbers is None:
        return None
    if name.measured or name.is_counted:
        ask = "role" if name.of_a_body else ""
        return build_numeric_proposal(values, "amounts by the name", ask)
    if values.distinct <= FEW:
        return build_category_proposal(name, values, "few, so codes or counts")
    return build_numeric_proposal(values, "some negative") if values.negative else None


def propose_by_shape(_name: Name, values: Values) -> Proposal | None:
    """Whole numbers that only their shape explains."""
    if values.numbers is None:
        return None
    # Ascending without a gap is a numbering of the rows, as even as it may look.
    if values.smooth and not (values.is_ascending and values.is_gapless):
        return build_numeric_proposal(
            values, "neighbours are about as frequent, so perhaps amounts", "kind"
        )
    if values.is_gapless:
        reason = f"numbered without a gap, perhaps people: {describe_counts(values)}"
        return Proposal("identifier", reason, decide=("role",))
    return None


def propose_for_unknown_numbers(name: Name, values: Values) -> Proposal | None:
    """Whole numbers that neither name nor shape explains."""
    if values.numbers is None:
        return None
    if values.distinct <= MOST_LEVELS and values.scarce < values.number / 2:
        return build_category_proposal(name, values, "with gaps, so perhaps codes", ("kind",))
    if values.long_tail:
        return build_numeric_proposal(
            values, "most small and some large, so perhaps amounts", "kind"
        )
    reason = f"may number people or things: {describe_counts(values)}"
    return Proposal("identifier", reason, decide=("role",))
