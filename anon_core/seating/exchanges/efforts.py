"""What each effort of narrowing tries."""

from typing import NamedTuple

_PAID = 4  # shares that may cause a loss elsewhere for one feature


class Sweep(NamedTuple):
    """Which features a sweep drops.

    Attributes
    ----------
    halvings : int
        A feature saves more than 2^-halvings of the dearest for each holder that moves; 63: any.
    paid : int
        Shares that may cause a loss elsewhere for one feature.
    """

    halvings: int
    paid: int = 0


# What each effort adds to the one before: so more effort never loses more.
SWEEPS = (
    (Sweep(2), Sweep(4), Sweep(5)),
    (Sweep(6), Sweep(7)),
    (Sweep(8), Sweep(8, _PAID)),
    (Sweep(63), Sweep(63, _PAID)),
)
EFFORTS = len(SWEEPS)
