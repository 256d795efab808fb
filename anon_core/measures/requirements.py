"""What a measured number must reach: the only place that compares a number with a limit."""

import math
from dataclasses import dataclass
from typing import Literal

Sense = Literal["at least", "at most", "below"]
_ROUNDING = 1e-9  # allowed for the rounding of sums


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """One number of a release and its limit.

    Parameters
    ----------
    sense : Sense
        On which side of the limit the number must lie.
    about : str or None
        The column or the attack that the number is about; None for the whole release.
    found : float or None
        The measured number; None if it was not measured or has no bound.
    required : float
        The limit.
    expectation, expected : str
        What is expected, as a verdict names it and as a sentence.
    """

    sense: Sense
    about: str | None = None
    found: float | None
    required: float
    expectation: str
    expected: str

    @property
    def holds(self) -> bool:
        """Whether the number reaches its limit."""
        return is_limit_reached(self.sense, self.found, self.required)


def is_limit_reached(sense: Sense, found: float | None, required: float) -> bool:
    """Whether a number is on the required side of its limit.

    Parameters
    ----------
    sense : Sense
        Which side that is.
    found : float or None
        None, nan and infinity reach no limit.
    required : float
        The limit. An equal number reaches it, up to rounding, unless it must stay below the limit.

    Returns
    -------
    bool
    """
    # nan compares false with any limit, but infinity would pass "at least".
    if found is None or not math.isfinite(found):
        return False
    match sense:
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
