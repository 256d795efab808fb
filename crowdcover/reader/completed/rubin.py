"""Rubin's rules: one estimate from those of several completed tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, sqrt

from crowdcover.errors import ReleaseError


@dataclass(frozen=True)
class Pooled:
    """An estimate from m completed tables.

    Attributes
    ----------
    estimate : float
        The mean of the m estimates.
    error : float
        Its standard error: sqrt(W + (1 + 1/m) B), W the mean of the squared standard errors within
        the tables, B the variance between the m estimates.
    within, between : float
        W and B.
    degrees : float
        Degrees of freedom of its t-distribution: (m - 1) (1 + W / ((1 + 1/m) B))^2.
    missing : float
        Share of the squared error that comes from masking: (1 + 1/m) B / error^2.
    """

    estimate: float
    error: float
    within: float
    between: float
    degrees: float
    missing: float


def pooled(estimates: Iterable[float], errors: Iterable[float] | None = None) -> Pooled:
    """Combine the estimates of several completed tables.

    Parameters
    ----------
    estimates : iterable of float
        The same quantity, of each completed table.
    errors : iterable of float, optional
        Its standard error in each table, as an analysis of a plain table gives it. Left out, they
        are 0: the answer is about these rows, not about the population that they come from.

    Returns
    -------
    Pooled

    Raises
    ------
    ReleaseError
        There are fewer than two estimates, or not as many errors.

    References
    ----------
    D. B. Rubin, Multiple Imputation for Nonresponse in Surveys, Wiley 1987, section 3.1.
    """
    values = [float(each) for each in estimates]
    squared = [0.0] * len(values) if errors is None else [float(each) ** 2 for each in errors]
    m = len(values)
    if m < 2 or len(squared) != m:
        raise ReleaseError(
            f"{m} estimates and {len(squared)} errors cannot be combined; give as many errors as "
            "estimates, of two completed tables or more: release.complete(5)"
        )
    mean, within = sum(values) / m, sum(squared) / m
    between = sum((each - mean) ** 2 for each in values) / (m - 1)
    spread = (1 + 1 / m) * between
    total = within + spread
    # Tables that agree say nothing against the error within: a normal distribution.
    degrees = inf if spread == 0 else (m - 1) * (1 + within / spread) ** 2
    return Pooled(mean, sqrt(total), within, between, degrees, spread / total if total else 0.0)
