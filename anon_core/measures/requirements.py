"""What a measured number must reach: the one place where a number and a limit are compared."""

import math
from dataclasses import dataclass
from typing import Literal

Measure = Literal[
    "utility",
    "information",
    "distinct values",
    "values by entropy",
    "odds",
    "distance",
    "row loss",
    "attack success",
]
Sense = Literal["at least", "at most", "below"]

SENSES: dict[Measure, Sense] = {
    "utility": "at least",
    "information": "at least",
    "distinct values": "at least",
    "values by entropy": "at least",
    "odds": "below",
    "distance": "at most",
    "row loss": "at most",
    "attack success": "at most",
}
ROUNDING = 1e-9  # of the sums that a measure takes


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """One number of a release and its limit.

    Parameters
    ----------
    measure : Measure
        What was measured; it decides on which side of the limit the number must lie.
    about : str or None
        The column, or the attack, whose number it is; None where it is the whole release's.
    found : float or None
        The number; None where it was not measured, or is without bound.
    required : float
        The limit.
    l : int or None
        Of odds: from which of a crowd's values on the others are counted.
    """

    measure: Measure
    about: str | None = None
    found: float | None
    required: float
    l: int | None = None

    @property
    def holds(self) -> bool:
        """Whether the number reaches its limit."""
        return reached(self.measure, self.found, self.required)


def reached(measure: Measure, found: float | None, required: float) -> bool:
    """Whether a number is on the right side of its limit.

    Parameters
    ----------
    measure : Measure
        What was measured.
    found : float or None
        What is no finite number reaches nothing: a gate stays shut when its hinge breaks.
    required : float
        The limit; reached by an equal number, up to rounding, unless the measure must stay below it.

    Returns
    -------
    bool
    """
    if found is None or not math.isfinite(found):
        return False
    match SENSES[measure]:
        case "at least":
            return found >= required - _slack(required)
        case "at most":
            return at_most(found, required)
        case "below":
            return found < required


def at_most(found: float, limit: float) -> bool:
    """Whether a number stays within a limit, up to rounding."""
    return found <= limit + _slack(limit)


def _slack(limit: float) -> float:
    return ROUNDING * max(1.0, abs(limit))
