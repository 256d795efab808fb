"""Other ways to release sparse rows: suppression only, Mondrian, randomized response."""

import numpy as np
from scipy.special import expit

from anon_core.errors import LimitError

MOST_CREATED = 50_000_000  # pairs of a randomized response that are drawn


def suppressed_only(matrix, group):
    """Share of the entries left where a group's rows keep the items that all its members hold.

    "Non-smooth" of Epasto et al.: nothing is created, so this is the Jaccard similarity, too.
    """
    owner = np.repeat(group.astype(np.int64), np.diff(matrix.indptr))
    pair, holders = np.unique(owner * matrix.items + matrix.indices, return_counts=True)
    size = np.bincount(group)[pair // max(1, matrix.items)]
    return holders[holders == size].sum() / matrix.entries


def mondrian(matrix, k):
    """Group records by binary Mondrian: int64 (n,).

    The column rule: of the items whose holders and others number at least k each, a group is cut
    at the one whose holders are nearest to a half, the first of equals.
    """
    held = np.zeros((matrix.records, matrix.items), dtype=np.int8)
    held[np.repeat(np.arange(matrix.records), np.diff(matrix.indptr)), matrix.indices] = 1
    group, groups = np.empty(matrix.records, dtype=np.int64), 0
    waiting = [np.arange(matrix.records)]
    while waiting:
        members = waiting.pop()
        holders = held[members].sum(axis=0, dtype=np.int64)
        smaller = np.minimum(holders, len(members) - holders)
        item = int(smaller.argmax()) if matrix.items else 0
        if matrix.items and smaller[item] >= k:
            has = held[members, item] == 1
            waiting += [members[has], members[~has]]
            continue
        group[members] = groups
        groups += 1
    return group


def edge_chance(epsilon):
    """Chance p that randomized response draws a pair anew under edge differential privacy."""
    return 2 * expit(-epsilon)


def node_chance(epsilon, items):
    """The same under node differential privacy: epsilon is shared by all items."""
    return 2 * expit(-epsilon / items)


def expected_jaccard(density, p):
    """Jaccard similarity of randomized response on a large matrix of this density.

    A pair stays with a chance of 1 - p / 2, and appears with p / 2.
    """
    return (1 - p / 2) / (1 + p / 2 * (1 - density) / density)


def randomized_response(matrix, p, generator):
    """Draw the response (Epasto et al., Algorithm 1): sorted record * items + item, int64.

    Raises
    ------
    LimitError
        It would be dense: more than 50,000,000 pairs are expected.
    """
    pairs = matrix.records * matrix.items
    if p / 2 * pairs > MOST_CREATED:
        raise LimitError(
            f"the response would hold about {p / 2 * pairs:.3g} of {pairs:.3g} pairs, "
            f"{MOST_CREATED} can be drawn; raise epsilon"
        )
    owner = np.repeat(np.arange(matrix.records, dtype=np.int64), np.diff(matrix.indptr))
    flips = generator.choice(pairs, generator.binomial(pairs, p / 2), replace=False, shuffle=False)
    return np.setxor1d(owner * matrix.items + matrix.indices, flips)


def jaccard_of_response(matrix, response):
    """Jaccard similarity of the matrix and a response."""
    owner = np.repeat(np.arange(matrix.records, dtype=np.int64), np.diff(matrix.indptr))
    both = int(np.isin(response, owner * matrix.items + matrix.indices).sum())
    return both / (matrix.entries + len(response) - both)
