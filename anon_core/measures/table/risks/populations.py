"""What groups of a sample tell about the population that it was drawn from."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, hyp2f1


def expect_chances(held: NDArray[np.integer], fraction: float) -> NDArray[np.float64]:
    """The expected chance to name a sampled person who is looked for in the population.

    Parameters
    ----------
    held : int (rows,)
        Rows of the sample that agree with each row, itself included.
    fraction : float
        The share of the population that was drawn, in (0, 1].

    Returns
    -------
    float64 (rows,)
        E[1/F] where F, the people of the population who agree, follows a negative binomial
        distribution given those of the sample: (p/f) 2F1(1, 1; f + 1; 1 - p).

    References
    ----------
    Benedetti and Franconi, Statistical and Technological Solutions for Controlled Data
    Dissemination; the individual risk of mu-Argus and sdcMicro.
    """
    sizes, place = np.unique(held, return_inverse=True)
    chance: NDArray[np.float64] = fraction / sizes * hyp2f1(1, 1, sizes + 1, 1 - fraction)
    return chance[place]


def estimate_uniques_by_zayatz(sizes: NDArray[np.integer], population: int) -> float:
    """How many people are unique in a population, by the sizes of a sample's groups.

    Parameters
    ----------
    sizes : int (groups,)
        Rows of each group; they sum to the size n of the sample.
    population : int
        The people of the population, at least n.

    Notes
    -----
    The sizes of groups in the population are taken to be distributed as in the sample. So the
    chance that a unique row is of a unique person follows from drawing without replacement.

    References
    ----------
    Zayatz, Estimation of the Percent of Unique Population Elements on a Microdata File Using the
    Sample.
    """
    size, times = np.unique(sizes, return_counts=True)
    drawn = int(sizes.sum())
    if size[0] != 1:
        return 0.0
    # The chance that one of `size` people of the population is drawn.
    log_chance = (
        np.log(size)
        + _log_binomial(population - size, drawn - 1)
        - _log_binomial(np.array(population), drawn)
    )
    chance = times * np.exp(log_chance)
    return float(times[0] / drawn * population * chance[0] / chance.sum())


def estimate_uniques_by_pitman(sizes: NDArray[np.integer], population: int) -> float:
    """The same where groups follow Pitman's sampling formula, fitted by greatest likelihood.

    References
    ----------
    Hoshino, Applying Pitman's Sampling Formula to Microdata Disclosure Risk Assessment.
    """
    drawn, groups = int(sizes.sum()), len(sizes)
    size, times = np.unique(sizes, return_counts=True)
    if times[0] == groups and size[0] == 1:
        return float(population)  # the likelihood grows up to the model in which all are unique

    def compute_loss(given: NDArray[np.float64]) -> float:
        shift, share = _read_parameters(given)
        ratio = shift / share
        return -float(
            (groups - 1) * np.log(share)
            + gammaln(ratio + groups)
            - gammaln(ratio + 1)
            - (gammaln(shift + drawn) - gammaln(shift + 1))
            + (times * (gammaln(size - share) - gammaln(1 - share))).sum()
        )

    found = _find_least(compute_loss, ([np.log(groups), -2.0], [np.log(groups), 0.0], [0.0, 2.0]))
    shift, share = _read_parameters(found)
    uniques = np.exp(gammaln(shift + 1) - gammaln(shift + share)) * population**share
    return float(min(uniques, population))


def _find_least(
    compute_loss: Callable[[NDArray[np.float64]], float], starts: Sequence[Sequence[float]]
) -> NDArray[np.float64]:
    """Where a loss is least, of what is found from each start."""
    from scipy.optimize import minimize  # takes a third of a second to import

    found = (
        minimize(compute_loss, start, method="Nelder-Mead", options={"maxiter": 2000})
        for start in starts
    )
    best: NDArray[np.float64] = min(found, key=lambda each: each.fun).x
    return best


def estimate_uniques_by_inverse_gaussian(sizes: NDArray[np.integer], population: int) -> float:
    """The same where people of a group follow a Poisson-inverse-Gaussian distribution.

    Notes
    -----
    Each possible group has a rate lambda of its own, inverse Gaussian with mean mu and shape s. Its
    people are Poisson(lambda), and each is drawn with the same chance f: so those of the sample
    follow the same model with f mu and f s. Groups that nobody was drawn of are not seen. mu and s
    have the greatest likelihood of the groups that are; what they expect to be unseen gives the
    number of groups.

    References
    ----------
    Carlson, Assessing Microdata Disclosure Risk Using the Poisson-Inverse Gaussian Distribution.
    Willmot, The Poisson-Inverse Gaussian Distribution as an Alternative to the Negative Binomial.
    """
    size, times = np.unique(sizes, return_counts=True)
    groups, fraction = len(sizes), int(sizes.sum()) / population
    if times[0] == groups and size[0] == 1:
        return float(population)  # the likelihood grows up to the model in which all are unique

    def compute_loss(given: NDArray[np.float64]) -> float:
        mean, spread = np.exp(np.clip(given, -30, 30))
        unseen = log_inverse_gaussian_chances(np.zeros(1, dtype=np.int64), mean, spread)[0]
        seen = np.log(-np.expm1(min(unseen, -1e-300)))
        log_chances = log_inverse_gaussian_chances(size, mean, spread)
        return -float((times * (log_chances - seen)).sum())

    middle = np.log(sizes.mean())
    starts = ([middle, 0.0], [middle, 2 * middle + 1], [-2.0, 0.0], [-6.0, 6.0])
    found = _find_least(compute_loss, starts)
    mean, spread = np.exp(np.clip(found, -30, 30))
    unseen = log_inverse_gaussian_chances(np.zeros(1, dtype=np.int64), mean, spread)[0]
    one = np.ones(1, dtype=np.int64)
    alone = log_inverse_gaussian_chances(one, mean / fraction, spread / fraction)[0]
    uniques = groups / -np.expm1(min(unseen, -1e-300)) * np.exp(alone)
    return float(min(uniques, population))


_BY_STEPS = 64  # counts below it follow one from another, those above from a series


def log_inverse_gaussian_chances(
    counts: NDArray[np.integer], mean: float, spread: float
) -> NDArray[np.float64]:
    """The logarithm of Poisson-inverse-Gaussian chances of some counts, ascending.

    Parameters
    ----------
    counts : int (m,)
        Not negative, ascending.
    mean : float
        mu of the rates.
    spread : float
        mu^2 over the shape: the variance of a count is mu (1 + spread).

    Notes
    -----
    Chances follow one from another (Willmot). Above 64 they are those of the Bessel function K of
    great order by Debye's series, whose relative error is below 1e-6 there.
    """
    scale = 1 + 2 * spread
    first, drift = mean / np.sqrt(scale), 2 * spread / scale
    log_chance = np.empty(_BY_STEPS + 1)
    log_chance[0] = -2 * mean / (1 + np.sqrt(scale))  # -(mu / spread) (sqrt(scale) - 1), stable
    ratio = first
    for count in range(1, _BY_STEPS + 1):
        if count > 1:
            ratio = drift * (1 - 1.5 / count) + first**2 / (count * (count - 1) * ratio)
        log_chance[count] = log_chance[count - 1] + np.log(ratio)
    few = counts <= _BY_STEPS
    many = counts[~few].astype(np.float64)
    point = 2 * first / drift
    end = np.array([float(_BY_STEPS)])
    beyond = _log_bessel_term(many, first, point) - _log_bessel_term(end, first, point)
    return np.concatenate([log_chance[counts[few]], log_chance[-1] + beyond])


def _log_bessel_term(
    counts: NDArray[np.float64], first: float, point: float
) -> NDArray[np.float64]:
    """log(first^n / n! K(n - 1/2, point)) by Debye's series for great orders."""
    order = counts - 0.5
    ratio = point / order
    root = np.sqrt(1 + ratio**2)
    t = 1 / root
    series = (
        1
        - (3 * t - 5 * t**3) / (24 * order)
        + (81 * t**2 - 462 * t**4 + 385 * t**6) / (1152 * order**2)
    )
    log_bessel = (
        0.5 * np.log(np.pi / (2 * order))
        - order * (root + np.log(ratio / (1 + root)))
        - 0.5 * np.log(root)
        + np.log(series)
    )
    term: NDArray[np.float64] = counts * np.log(first) - gammaln(counts + 1) + log_bessel
    return term


def estimate_uniques_by_snb(sizes: NDArray[np.integer], population: int) -> float:
    """The same where a group has one person, and more of a negative binomial distribution.

    Notes
    -----
    The three parameters, with the number of groups, follow from the size of the population and
    from the expected numbers of groups and of unique people in the sample. If the sample is more
    even, or more uneven, than this model can be, the nearest such model is taken.

    References
    ----------
    Chen and Keller-McNulty, Estimation of Identification Disclosure Risk in Microdata: the slide
    negative binomial model.
    """
    from scipy.optimize import brentq  # takes a third of a second to import

    drawn, groups = int(sizes.sum()), len(sizes)
    fraction, alone = drawn / population, int((sizes == 1).sum())
    if alone == groups:
        return float(population)

    def fit_mean(log_odds: float) -> float:
        """Of the people beyond the first of a group, so that the sample has its groups."""

        def compute_excess(log_mean: float) -> float:
            mean = float(np.exp(log_mean))
            shown = -float(np.expm1(_log_unseen(mean, log_odds, 1 - fraction)))
            return population / (1 + mean) * shown - groups

        return float(np.exp(brentq(compute_excess, -30, 30)))

    def compute_excess_of_uniques(log_odds: float) -> float:
        mean = fit_mean(log_odds)
        chance = _chance_alone(mean, log_odds, fraction)
        return population / (1 + mean) * chance - alone

    ends = _UNEVEN, _EVEN
    excess = [compute_excess_of_uniques(end) for end in ends]
    if excess[0] * excess[1] < 0:
        best = float(brentq(compute_excess_of_uniques, *ends))
    else:
        best = ends[int(np.argmin(np.abs(excess)))]
    mean = fit_mean(best)
    number, chance = _read_binomial(mean, best)
    return float(population / (1 + mean) * np.exp(number * np.log(chance)))


_UNEVEN, _EVEN = -15.0, 15.0  # logarithmic odds of the negative binomial's chance


def _read_binomial(mean: float, log_odds: float) -> tuple[float, float]:
    """The number and the chance of a negative binomial distribution of this mean."""
    return mean * float(np.exp(log_odds)), float(expit(log_odds))


def _log_unseen(mean: float, log_odds: float, missed: float) -> float:
    """The logarithm of the chance that nobody of a group is drawn, each missed with a chance."""
    if missed <= 0:
        return -np.inf
    number, chance = _read_binomial(mean, log_odds)
    return float(np.log(missed) + number * np.log(chance / (1 - (1 - chance) * missed)))


def _chance_alone(mean: float, log_odds: float, fraction: float) -> float:
    """The chance that one person of a group is drawn."""
    number, chance = _read_binomial(mean, log_odds)
    missed, rest = 1 - fraction, 1 - (1 - chance) * (1 - fraction)
    weight = np.exp(number * np.log(chance / rest))
    return float(fraction * weight * (1 + missed * number * (1 - chance) / rest))


def _read_parameters(given: NDArray[np.float64]) -> tuple[float, float]:
    """Theta > -alpha and alpha in (0, 1), of two free numbers."""
    share = float(expit(np.clip(given[1], -30, 30)))
    return float(np.exp(np.clip(given[0], -30, 30))) - share, share


def _log_binomial(of: NDArray[np.integer], drawn: int) -> NDArray[np.float64]:
    """The logarithm of how many ways there are to draw from so many; -inf if there are too few."""
    enough = of >= drawn
    counted = np.where(enough, of, drawn)
    log = gammaln(counted + 1.0) - gammaln(drawn + 1.0) - gammaln(counted - drawn + 1.0)
    return np.where(enough, log, -np.inf)
