"""Rubin's rules: one estimate from those of several completed tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isinf, sqrt

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
        Degrees of freedom of its t-distribution: (m - 1) / `missing`^2; with those of a plain
        table as Barnard and Rubin join the two.
    missing : float
        Share of the squared error that comes from masking: (1 + 1/m) B / error^2.
    """

    estimate: float
    error: float
    within: float
    between: float
    degrees: float
    missing: float


def pooled(
    estimates: Iterable[float],
    errors: Iterable[float] | None = None,
    degrees: float | None = None,
) -> Pooled:
    """Combine the estimates of several completed tables.

    Parameters
    ----------
    estimates : iterable of float
        The same quantity, of each completed table.
    errors : iterable of float, optional
        Its standard error in each table, as an analysis of a plain table gives it. Left out, they
        are 0: the answer is about these rows, not about the population that they come from.
    degrees : float, optional
        Degrees of freedom of these errors in a plain table, such as rows less coefficients. Left
        out, they are taken to be infinite.

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
    J. Barnard and D. B. Rubin, Small-Sample Degrees of Freedom with Multiple Imputation,
    Biometrika 86, 1999.
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
    missing = spread / total if total else 0.0
    # Tables that agree say nothing against the error within: a normal distribution.
    between_tables = (m - 1) / missing**2 if missing else inf
    if degrees is None or isinf(degrees):
        joined = between_tables
    else:
        observed = (degrees + 1) / (degrees + 3) * degrees * (1 - missing)
        joined = 1 / (1 / between_tables + 1 / observed) if observed else 0.0
    return Pooled(mean, sqrt(total), within, between, joined, missing)
