"""A random walk over perfect matchings."""

import numpy as np

from anon_core.kernels.jit import kernel


@kernel
def swap_walk(person, bits, hidden, u, v, draws):  # person (n,) by row, changed; bits, hidden (n, words); draws uint32
    """For each draw, let the persons of two joined rows change places if both fit there.

    A proposal is as likely as its reverse, so the walk forgets where it began in favour of the uniform distribution over
    the matchings that it can reach.
    """
    edges = np.uint64(len(u))
    for draw in draws:
        e = (np.uint64(draw) * edges) >> np.uint64(32)
        first, second = u[e], v[e]
        p, q = person[first], person[second]
        fits = True
        for w in range(bits.shape[1]):
            if (bits[p, w] ^ bits[second, w]) & ~hidden[second, w] or (bits[q, w] ^ bits[first, w]) & ~hidden[first, w]:
                fits = False
                break
        if fits:
            person[first], person[second] = q, p
