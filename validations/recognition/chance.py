"""How likely so many numbers pass a check by chance."""

from scipy.special import bdtrc


def compute_binomial_tail(hits: int, number: int, chance: float) -> float:
    """The chance that at least `hits` of `number` pass a check that each passes with `chance`."""
    # bdtrc sums the terms above its first argument, hence hits - 1.
    return 1.0 if hits <= 0 else float(bdtrc(hits - 1, number, chance))
