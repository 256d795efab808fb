"""What randomized response and suppression cannot reach: Epasto et al., section 4."""

import math


def most_jaccard(epsilon, density, pairs, delta=0.01):
    """Theorem 4.1: a similarity that randomized response exceeds with a chance below delta.

    Returns 1 where the theorem's condition p / 4 >= sqrt(log(2 / delta) / (2 pairs)) fails.
    """
    slack = math.sqrt(math.log(2 / delta) / 2 / pairs)
    if 2 / (1 + math.exp(epsilon)) / 4 < slack:
        return 1.0
    flips = 1 / (math.exp(epsilon) + 1)
    return min(1.0, (1 - flips) / (1 + flips * (1 - density) / density) + 2 * slack)


def least_epsilon(jaccard, density):
    """Figure 2: the least epsilon at which Theorem 4.1, without slack, allows a similarity.

    J = (1 - f) / (1 + f (1 - density) / density), f = 1 / (e^epsilon + 1).
    """
    flips = (1 - jaccard) / (1 + jaccard * (1 - density) / density)
    return math.log(1 / flips - 1)


def vanishing_jaccard(epsilon, items, degree):
    """Corollary 4.2: the similarity's bound at an average degree; it falls to 0 as items grow.

    Degree up to items^0.99 and epsilon in o(log items).
    """
    return 1 / (1 + (items / degree - 1) / (math.exp(epsilon) + 1))


def epsilon_of_any_mechanism(jaccard, records, items):
    """Theorem 4.3: the least epsilon of any edge-private mechanism of this expected similarity.

    log(alpha^2 n m / (4 (l + 1))), l = floor((n m)^0.9); 0 where that is negative.
    """
    pairs = records * items
    few = math.floor(pairs**0.9)
    return max(0.0, math.log(jaccard**2 * pairs / (4 * (few + 1))))


def most_suppressed_edges(records, chance):
    """Theorem 4.4: edges a node that a k-anonymous subgraph keeps at most, and the k it needs."""
    bits = math.log(1 / chance)
    return (2 * math.log(records) + 10) / bits, 2 * math.log(records) / bits
