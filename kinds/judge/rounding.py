"""How numbers are rounded that are published of a release: never in its favour."""

import math

DIGITS = 1000  # published shares and differences are multiples of 0.001
ROUNDING = 1e-6  # of float arithmetic: what misses a multiple, or a limit, by less meets it


def round_down(share: float) -> float:
    """A number of which more is better."""
    # 2^H of k equal chances may end just below k: without the slack, less would be stated.
    return math.floor(share * DIGITS + ROUNDING) / DIGITS


def round_up(share: float) -> float:
    """A number of which less is better."""
    return math.ceil(share * DIGITS - ROUNDING) / DIGITS
