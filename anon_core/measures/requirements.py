"""What a measured number must reach: the only place that compares a number with a limit."""

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
    "uniform crowds",
    "identical rows",
    "row loss",
    "attack success",
    "jaccard",
    "discrepancy",
    "degree error",
    "vertices below",
    "unchanged",
]
_Sense = Literal["at least", "at most", "below"]

SENSES: dict[Measure, _Sense] = {
    "utility": "at least",
    "information": "at least",
    "distinct values": "at least",
    "values by entropy": "at least",
    "odds": "below",
    "distance": "at most",
    "uniform crowds": "at most",
    "identical rows": "at least",
    "row loss": "at most",
    "attack success": "at most",
    "jaccard": "at least",
    "discrepancy": "at most",
    "degree error": "at most",
    "vertices below": "at most",
    "unchanged": "at most",
}
_ROUNDING = 1e-9  # allowed for the rounding of sums


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """One number of a release and its limit.

    Parameters
    ----------
    measure : Measure
        What was measured; it decides on which side of the limit the number must lie.
    about : str or None
        The column or the attack that the number is about; None for the whole release.
    found : float or None
        The measured number; None if it was not measured or has no bound.
    required : float
        The limit.
    l : int or None
        For odds: the values from the l-th commonest on are counted together.
    """

    measure: Measure
    about: str | None = None
    found: float | None
    required: float
    l: int | None = None

    @property
    def holds(self) -> bool:
        """Whether the number reaches its limit."""
        return is_limit_reached(self.measure, self.found, self.required)


def is_limit_reached(measure: Measure, found: float | None, required: float) -> bool:
    """Whether a number is on the required side of its limit.

    Parameters
    ----------
    measure : Measure
        What was measured.
    found : float or None
        None, nan and infinity reach no limit.
    required : float
        The limit. An equal number reaches it, up to rounding, unless it must stay below the limit.

    Returns
    -------
    bool
    """
    if found is None or not math.isfinite(found):
        return False
    match SENSES[measure]:
        case "at least":
            return found >= required - _compute_slack(required)
        case "at most":
            return is_at_most(found, required)
        case "below":
            return found < required


def is_at_most(found: float, limit: float) -> bool:
    """Whether a number is at most a limit, up to rounding."""
    return found <= limit + _compute_slack(limit)


def _compute_slack(limit: float) -> float:
    return _ROUNDING * max(1.0, abs(limit))
