"""Values of different lengths, in another order."""

from anon_core.jit.kernel import kernel


@kernel
def gather_values(order, start, word, begin, out):
    # order int64 (count,), start int64 (all + 1,), begin int64 (count + 1,), out int32 (words,)
    """Write the values in this order; begin says where each of them begins."""
    total = 0
    for i in range(len(order)):
        begin[i] = total
        for at in range(start[order[i]], start[order[i] + 1]):
            out[total] = word[at]
            total += 1
    begin[len(order)] = total
