"""Draw worlds, and find their components."""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.mixing import mix_bits
from anon_core.specs.graphs import ONE


@kernel
def draw_pair_numbers(numbers, pairs, seed, world):  # numbers int32 (pairs,)
    """Draw a number below ONE for each pair: it depends on seed, world and the pair alone.

    A probability is met within 2^-32, since 2^32 numbers become 10^9.
    """
    # Without this mixing, world w would give pair e the number that world w' gives pair e ^ w ^ w'.
    stream = mix_bits(mix_bits(np.uint64(seed)) ^ np.uint64(world))
    n = np.uint64(pairs.vertices)
    for e in range(len(numbers)):
        pair = np.uint64(pairs.u[e]) * n + np.uint64(pairs.v[e])
        # 32 bits times 10^9 < 2^30 stay below 2^62, so no bit of the product is lost.
        numbers[e] = (mix_bits(stream ^ pair) >> np.uint64(32)) * np.uint64(ONE) >> np.uint64(32)


@kernel
def label_components(top, members, there, pairs, p, numbers):
    # top, members int32 (n,); there int32 (pairs + 1,)
    """Label each vertex by the last vertex of its component; return how many pairs are connected.

    Rem's union: trees grow towards higher numbers, and whoever climbs is spliced into the other
    tree. See Patwary, Blair and Manne, Experiments on Union-Find Algorithms (SEA 2010).
    """
    number = 0
    for e in range(len(numbers)):  # no branch: none is mispredicted
        there[number] = e
        number += numbers[e] < p[e]
    n = len(top)
    for x in range(n):
        top[x], members[x] = x, 0
    for at in range(number):
        a, b = pairs.u[there[at]], pairs.v[there[at]]
        while top[a] != top[b]:
            if top[a] > top[b]:
                a, b = b, a
            above = top[a]
            top[a] = top[b]
            if above == a:
                break
            a = above
    connected = np.int64(0)
    for x in range(n - 1, -1, -1):
        last = top[top[x]]  # a higher vertex has its label
        top[x] = last
        # Each vertex adds its pairs with the members met before: s (s - 1) / 2 in all.
        connected += members[last]
        members[last] += 1
    return connected


@parallel_kernel(lambda times: len(times))
def count_joined(begin, end, times, connected, pairs, asked, seed):
    # times (shares, asked pairs, 2^graphs), zeros; connected int64 (graphs, worlds); asked int32
    # (2, asked pairs)
    """Count, for each asked pair, the worlds in which it is connected in these of the graphs."""
    graphs, worlds = connected.shape
    numbers = np.empty(len(pairs.u), dtype=np.int32)
    there = np.empty(len(numbers) + 1, dtype=np.int32)
    top, members = np.empty((2, pairs.vertices), dtype=np.int32)
    joined = np.empty(asked.shape[1], dtype=np.int8)
    for share in range(begin, end):
        # A share owns its row of `times` and its worlds, so no two threads write one entry.
        for world in range(share, worlds, len(times)):
            draw_pair_numbers(numbers, pairs, seed, world)
            joined[:] = 0
            for g in range(graphs):
                connected[g, world] = label_components(
                    top, members, there, pairs, pairs.p[g], numbers
                )
                for at in range(len(joined)):
                    if top[asked[0, at]] == top[asked[1, at]]:
                        joined[at] |= 1 << g
            for at in range(len(joined)):
                times[share, at, joined[at]] += 1
