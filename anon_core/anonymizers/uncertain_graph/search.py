"""The search for the least sigma: Algorithm 5."""

from collections.abc import Sequence
from typing import NamedTuple

from anon_core.steps import Step

_LEAST = 1 / 256
_GREATEST = 8.0  # a normal distribution of this deviation is even on [0, 1] but for 1 %
_HALVINGS = 6


class Turn(NamedTuple):
    """What the next step tries.

    Attributes
    ----------
    sigma : float
    c : float
        Candidates for each edge.
    """

    sigma: float
    c: float


def next_turn(steps: Sequence[Step], exempt: int, c: float, most_c: float) -> Turn | None:
    """Return what comes after these steps, None at the end: a function of their figures alone.

    sigma = 0 comes first. Then sigma doubles from `_LEAST` on until an attempt is accepted, because
    the number of vertices below does not fall steadily. If none is, c rises by 1 and the scan
    starts anew. Then the range below the accepted sigma is halved `_HALVINGS` times.
    """
    if not steps:
        return Turn(0.0, 1.0)
    accepted = [step.figures["below"] <= exempt for step in steps]
    if not any(accepted):
        return _next_of_scan(steps, c, most_c)
    first = accepted.index(True)
    if first == 0 or len(steps) - first > _HALVINGS:
        return None
    tried = [(step.figures["sigma"], kept) for step, kept in zip(steps, accepted, strict=True)]
    tried = tried[first:]  # the scan's last turn, and the halvings
    high = min(sigma for sigma, kept in tried if kept)
    scanned = [0.0 if tried[0][0] == _LEAST else tried[0][0] / 2]
    low = max([sigma for sigma, kept in tried if not kept and sigma < high] + scanned)
    return Turn((low + high) / 2, steps[-1].figures["c"])


def _next_of_scan(steps: Sequence[Step], c: float, most_c: float) -> Turn | None:
    last = steps[-1].figures
    if len(steps) == 1:
        return Turn(_LEAST, c)
    if last["sigma"] < _GREATEST:
        return Turn(2 * last["sigma"], last["c"])
    return Turn(_LEAST, last["c"] + 1) if last["c"] + 1 <= most_c else None


def find_best_step(steps: Sequence[Step], exempt: int) -> int:
    """Return the number of the accepted step with the least degree error, 0 if there is none."""
    accepted = [step for step in steps if step.figures["below"] <= exempt]
    if not accepted:
        return 0
    return min(accepted, key=lambda step: step.figures["degree error"]).number


def most_turns(c: float, most_c: float) -> int:
    """Return how many steps a search has at most."""
    scans = int(most_c - c) + 1
    # The ratio is a power of two: its bit length counts the values of sigma from least to greatest.
    doublings = (_GREATEST / _LEAST).as_integer_ratio()[0].bit_length()
    return 1 + scans * doublings + _HALVINGS
