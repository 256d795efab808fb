"""What rows cost with each of the classes that give up one share of them."""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.seating.exchanges.swapping_kernels import (
    UNBOUNDED,
    compute_share_loss,
    find_hidden_without,
    shares_in,
    unite_row,
)


@parallel_kernel(lambda rows: len(rows))
def all_costs(begin, end, rows, share, shared, class_bits, bits, parties, prices, costs):
    # rows int64 (m,), costs float64 (m, m): by the share's holder in rows[j], and row
    """costs[j, i] = what row i costs more with the holder of row j than without this share."""
    kept = np.empty(bits.shape[1], dtype=np.uint64)
    for i in range(begin, end):
        r = rows[i]
        mine = shared.holders[r, share]
        find_hidden_without(r, mine, shared, class_bits, bits, kept)
        for j in range(len(rows)):
            c = shared.holders[rows[j], share]
            held = shares_in(r, c, shared.holders, parties.party)
            held -= np.int64(parties.party[c] == parties.party[mine])
            if held < parties.limit[c]:
                costs[j, i] = np.float64(
                    compute_share_loss(r, c, kept, class_bits, bits, prices, UNBOUNDED)
                )
            else:
                costs[j, i] = np.inf


@kernel
def hand_over(rows, givers, share, shared, class_bits, bits, blank, prices):
    # rows, givers int64 (m,): row rows[i] gets the share's holder in row givers[i]
    """Give each row its new holder of one share, and find again what it hides."""
    taken = shared.holders[givers, share].copy()
    kept = np.empty(bits.shape[1], dtype=np.uint64)
    for i in range(len(rows)):
        if shared.holders[rows[i], share] != taken[i]:
            shared.holders[rows[i], share] = taken[i]
            unite_row(rows[i], shared, class_bits, bits, blank, prices, kept)
