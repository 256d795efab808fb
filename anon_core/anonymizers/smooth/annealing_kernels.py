"""Annealing: random moves and swaps, also such that lower J a little, ever less."""

import numpy as np

from anon_core.anonymizers.smooth.counts_kernels import LOG_BITS, compute_log2
from anon_core.anonymizers.smooth.state_kernels import load_counts, unload_counts
from anon_core.anonymizers.smooth.sweeps_kernels import (
    gain_of_move,
    gain_of_swap,
    may_leave,
    move_record,
)
from anon_core.jit.kernel import kernel
from anon_core.jit.mixing import mix_bits


@kernel
def member_at(groups, g, place):
    """Return the member of a group at this place of its chain."""
    member = groups.first[g]
    for _ in range(place):
        member = groups.after[member]
    return member


@kernel
def anneal_records(sweep, heat, rows, near, groups, items):
    """Offer each record once a random neighbour's group; return how many moved or swapped.

    A change that lowers the sum of `true` - J `created` by d is made with a chance of
    2^-(d / heat), heat in 2^-16. What is drawn depends on the sweep and the record alone.
    """
    held_a, held_b = np.zeros((2, items), dtype=np.int32)
    made = 0
    for v in range(len(near)):
        drawn = mix_bits(mix_bits(np.uint64(sweep)) ^ np.uint64(v))
        u = near[v, drawn % np.uint64(near.shape[1])]
        a = groups.group[v]
        b = groups.group[u] if u >= 0 else a
        if a == b:
            continue
        drawn = mix_bits(drawn)
        # One more than there are members: the last place means that v moves and none comes back.
        at = np.int64(drawn % np.uint64(groups.size[b] + 1))
        w = member_at(groups, b, at) if at < groups.size[b] else np.int32(-1)
        if w < 0:
            fits = groups.size[b] + 1 >= rows.k[v] and may_leave(rows, groups, v)
        else:
            fits = rows.k[w] <= groups.size[a] and rows.k[v] <= groups.size[b]
        if not fits:
            continue
        load_counts(groups, a, held_a)
        load_counts(groups, b, held_b)
        if w < 0:
            gain = gain_of_move(rows, groups, v, b, held_a, held_b)
        else:
            gain = gain_of_swap(rows, groups, v, w, held_a, held_b)
        unload_counts(groups, a, held_a)
        unload_counts(groups, b, held_b)
        drawn = (mix_bits(drawn) >> np.uint64(2)) | np.uint64(1)
        late = (62 << LOG_BITS) - compute_log2(np.int64(drawn))
        if gain > -(((groups.whole[1] * heat) >> LOG_BITS) * late >> LOG_BITS):
            move_record(rows, groups, v, b, w)
            made += 1
    return made
