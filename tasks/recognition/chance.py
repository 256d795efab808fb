"""How likely so many numbers pass a check by chance."""

from math import exp, inf, lgamma, log, log1p


def tail(hits: int, number: int, chance: float) -> float:
    """The chance that at least `hits` of `number` pass a check that each passes with `chance`."""
    if hits <= 0:
        return 1.0
    if chance <= 0:
        return 0.0
    if chance >= 1:
        return 1.0
    terms = [
        lgamma(number + 1)
        - lgamma(at + 1)
        - lgamma(number - at + 1)
        + at * log(chance)
        + (number - at) * log1p(-chance)
        for at in range(hits, min(number, hits + 400) + 1)
    ]
    greatest = max(terms, default=-inf)
    return min(1.0, exp(greatest) * sum(exp(term - greatest) for term in terms))
