"""Which edges represent an uncertain graph: drawn, then swapped until degrees are as expected."""

import numpy as np

from anon_core.anonymizers.uncertain_graph.worlds.worlds_kernels import draw_world
from anon_core.jit.kernel import kernel
from anon_core.jit.mixing import mix_bits


@kernel
def start_of(edges, wanted, seed):  # edges, the likeliest first
    """Pass over the edges, keeping each with its chance, until the number wanted is kept."""
    kept, exists = np.zeros((2, len(edges.u)), dtype=np.bool_)
    turn = 0
    while wanted > 0:
        draw_world(exists, edges, seed, turn)
        turn += 1
        for e in range(len(kept)):
            if exists[e] and not kept[e] and wanted > 0:
                kept[e] = True
                wanted -= 1
    return kept


@kernel
def less_apart(e, step, edges, excess):
    """Return by how much the sum of |excess| falls if the degree of both ends rises by `step`."""
    a, b = excess[edges.u[e]], excess[edges.v[e]]
    return abs(a) - abs(a + step) + abs(b) - abs(b + step)


@kernel
def shift_degrees(e, step, edges, excess):
    """Add `step` to the degree of both ends of an edge."""
    excess[edges.u[e]] += step
    excess[edges.v[e]] += step


@kernel
def swap_edge_pairs(kept, places, excess, edges, one, steps, seed):
    # places int32 (m,): the kept edges, then the others; excess int64 (n,): degree less expectation
    """Swap drawn pairs of a kept edge and another if the sum of |excess| falls; count the swaps."""
    inside = np.int64(kept.sum())
    outside = len(places) - inside
    swaps = 0
    for step in range(steps):
        number = mix_bits(np.uint64(seed) ^ mix_bits(np.uint64(step)))
        i = np.int64(number % np.uint64(inside))
        j = inside + np.int64(mix_bits(number) % np.uint64(outside))
        old, new = places[i], places[j]
        gain = less_apart(old, -one, edges, excess)
        # Few kept edges have a gain that another edge cannot undo: most pairs end here.
        if gain + 2 * one <= 0:
            continue
        shift_degrees(old, -one, edges, excess)
        if gain + less_apart(new, one, edges, excess) > 0:
            shift_degrees(new, one, edges, excess)
            kept[old], kept[new] = False, True
            places[i], places[j] = new, old
            swaps += 1
        else:
            shift_degrees(old, one, edges, excess)
    return swaps
