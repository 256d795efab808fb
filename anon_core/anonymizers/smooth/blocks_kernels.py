"""Which records, or groups, hash alike by what most of those around them hold."""

import numpy as np

from anon_core.anonymizers.smooth.neighbours_kernels import BEYOND_DISTANCE, SORT_BITS
from anon_core.jit.kernel import parallel_kernel
from anon_core.jit.mixing import mix_bits


@parallel_kernel(lambda keys: len(keys))
def compute_consensus_keys(begin, end, keys, members, items, rows, arrivals):
    # keys uint64 (sets,); members: Members, of sets that may overlap; arrivals (3, items)
    """Return a sort key: which item that half of a set holds arrives first in each race.

    Two records of a crowd share more of what their neighbours hold than of what they hold.
    """
    held = np.zeros(items, dtype=np.int32)
    for g in range(begin, end):
        inside = members.record[members.start[g] : members.start[g + 1]]
        for v in inside:
            for item in rows.indices[rows.indptr[v] : rows.indptr[v + 1]]:
                held[item] += 1
        key = np.uint64(0)
        for race_of in range(3):
            best, first = BEYOND_DISTANCE, np.int64(-1)
            for v in inside:
                for item in rows.indices[rows.indptr[v] : rows.indptr[v + 1]]:
                    often = 2 * held[item] >= len(inside)
                    if often and arrivals[race_of, item] < best:
                        best, first = arrivals[race_of, item], np.int64(item)
            short = mix_bits(np.uint64(first + 1)) >> np.uint64(64 - SORT_BITS)
            key = (key << np.uint64(SORT_BITS)) | short
        keys[g] = key
        for v in inside:
            for item in rows.indices[rows.indptr[v] : rows.indptr[v + 1]]:
                held[item] = 0
