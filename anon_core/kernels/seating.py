"""A random walk over perfect matchings."""

from anon_core.kernels.jit import kernel


@kernel
def swap_walk(seat, bits, hidden, u, v, draws):  # seat (n,) row -> person, changed; draws uint64
    """For each draw, let the persons of two joined rows change places if both fit there.

    A proposal is as likely as its reverse, so the walk forgets where it began in favour of the uniform distribution over
    the matchings that it can reach.
    """
    edges = len(u)
    for draw in draws:
        e = int((draw >> 32) * edges >> 32)
        first, second = u[e], v[e]
        p, q = seat[first], seat[second]
        fits = True
        for w in range(bits.shape[1]):
            if (bits[p, w] ^ bits[second, w]) & ~hidden[second, w] or (bits[q, w] ^ bits[first, w]) & ~hidden[first, w]:
                fits = False
                break
        if fits:
            seat[first], seat[second] = q, p
