"""Sums over the triangles of a graph whose edges exist by chance."""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.measures.graph.triangles.counting_kernels import fetch_ahead

LIMB = 30  # bits: a probability in billionths fits
_LOW = np.int64((1 << LIMB) - 1)


@parallel_kernel(lambda sums: len(sums))
def sum_products(begin, end, sums, lists, p):  # sums int64 (parts, 3), p int32 (m,)
    """Sum p_e p_f p_g over the triangles of each part, in limbs of 30 bits: exact."""
    at = np.zeros(len(lists.start), dtype=np.int64)
    for part in range(begin, end):
        for x in range(lists.parts[part], lists.parts[part + 1]):
            first, last = lists.start[x], lists.start[x + 1]
            if last - first < 2:
                continue
            for i in range(first, last):
                at[lists.higher[i]] = i + 1
            for i in range(first, last):
                fetch_ahead(lists, i)
                y = lists.higher[i]
                for j in range(lists.start[y], lists.start[y + 1]):
                    k = at[lists.higher[j]]
                    if k > 0:
                        # A probability fits 30 bits. So products stay below 2^61, and each limb
                        # grows by less than 2^31 a triangle: 2^32 triangles of a part fit.
                        two = np.int64(p[lists.edge[i]]) * p[lists.edge[j]]
                        three = np.int64(p[lists.edge[k - 1]])
                        low = (two & _LOW) * three
                        high = (two >> LIMB) * three + (low >> LIMB)
                        sums[part, 0] += low & _LOW
                        sums[part, 1] += high & _LOW
                        sums[part, 2] += high >> LIMB
            for i in range(first, last):
                at[lists.higher[i]] = 0


@kernel
def sum_by_edge(begin, end, lists, p, q, at, before, pairs):
    # p, q, before, pairs: float64 (m,); at int64 (n,): zeros, and again afterwards
    """Sum over pairs of triangles that share an edge; returns the sum of P (1 - P).

    Goes on with the triangles whose lowest vertex has a rank from begin to end - 1.

    q is 1 - p, computed without cancelling; 1 - P is the sum of q_e, p_e q_f and p_e p_f q_g.
    Of the edge e, before[e] is the sum of a_t over its triangles t so far, and pairs[e] that of
    a_s a_t over pairs s, t. The order of triangles is that of the graph, so sums have one value.
    """
    alone = 0.0
    for x in range(begin, end):
        first, last = lists.start[x], lists.start[x + 1]
        for i in range(first, last):
            at[lists.higher[i]] = i + 1
        for i in range(first, last):
            fetch_ahead(lists, i)
            y = lists.higher[i]
            for j in range(lists.start[y], lists.start[y + 1]):
                k = at[lists.higher[j]]
                if k > 0:
                    e, f, g = lists.edge[i], lists.edge[j], lists.edge[k - 1]
                    alone += p[e] * p[f] * p[g] * (q[e] + p[e] * (q[f] + p[f] * q[g]))
                    add_pair(e, p[f] * p[g], before, pairs)
                    add_pair(f, p[e] * p[g], before, pairs)
                    add_pair(g, p[e] * p[f], before, pairs)
        for i in range(first, last):
            at[lists.higher[i]] = 0
    return alone


@kernel
def add_pair(e, others, before, pairs):
    """Pair a triangle of e, the product of its other edges given, with those before it."""
    pairs[e] += others * before[e]
    before[e] += others
