"""Maximum flow through a bipartite graph that holds some of it already (Dinic)."""

import numpy as np

from anon_core.jit.kernel import inlined, kernel


@kernel
def turn_around(indptr, rows, start, slot, owner):
    # start (R + 1,): room of each right vertex; slot, owner (pairs,): filled
    """List the pairs of each right vertex r, slot[start[r] : start[r + 1]], and their owners."""
    free = start[:-1].copy()
    for c in range(len(indptr) - 1):
        for e in range(indptr[c], indptr[c + 1]):
            at = free[rows[e]]
            slot[at], owner[at] = e, c
            free[rows[e]] += 1


@inlined
def number_layers(
    indptr, rows, limit, held, left, right, start, slot, owner, layer, row_layer, queue
):
    # layer (C,), row_layer (R,): filled; queue (C,): scratch
    """Number the vertices by their distance from the left vertices that still hold something.

    Returns the first left layer next to a right vertex with room, or -1.
    """
    layer[:], row_layer[:] = -1, -1
    head, tail, last = 0, 0, -1
    for c in range(len(left)):
        if left[c] > 0:
            layer[c], queue[tail] = 0, c
            tail += 1
    while head < tail:
        c = queue[head]
        head += 1
        # Later layers lie on no shortest path.
        if last >= 0 and layer[c] > last:
            break
        for e in range(indptr[c], indptr[c + 1]):
            r = rows[e]
            if row_layer[r] >= 0 or held[e] >= limit[e]:
                continue
            row_layer[r] = layer[c] + 1
            if right[r] > 0:
                last = layer[c]
            for place in range(start[r], start[r + 1] if last < 0 else start[r]):
                other = owner[place]
                if layer[other] < 0 and held[slot[place]] > 0:
                    layer[other], queue[tail] = layer[c] + 1, other
                    tail += 1
    return last


@kernel
def raise_flow(indptr, rows, limit, held, left, right, start, slot, owner):
    # limit, held int32 or int64 (pairs,); left int64 (C,), right int64 (R,): not held yet
    # start, slot, owner: of `turn_around`
    """Raise `held` to a maximum flow within `limit`; a flow above its limit may stay or fall.

    Each round numbers layers from all left vertices that hold something, then finds a blocking
    flow along shortest augmenting paths (Dinic).
    """
    classes = len(left)
    layer, row_layer = np.empty(classes, dtype=np.int32), np.empty(len(right), dtype=np.int32)
    turn, row_turn = np.empty(classes, dtype=np.int64), np.empty(len(right), dtype=np.int64)
    queue, at = np.empty(classes, dtype=np.int32), np.empty(classes + 1, dtype=np.int32)
    there, back = np.empty(classes, dtype=np.int64), np.empty(classes, dtype=np.int64)
    while True:
        last = number_layers(
            indptr, rows, limit, held, left, right, start, slot, owner, layer, row_layer, queue
        )
        if last < 0:
            return
        for c in range(classes):  # a slice assigned would compile numba's error texts, for 2 s
            turn[c] = indptr[c + 1]
        for r in range(len(right)):
            row_turn[r] = start[r]
        for source in range(classes):
            depth, at[0] = 0, source
            while left[source] > 0:
                c, found = at[depth], False
                while turn[c] > indptr[c] and not found:
                    e = turn[c] - 1
                    r = rows[e]
                    if held[e] < limit[e] and row_layer[r] == layer[c] + 1:
                        if right[r] > 0:
                            amount = min(left[source], right[r], np.int64(limit[e] - held[e]))
                            for i in range(depth):
                                amount = min(
                                    amount,
                                    np.int64(limit[there[i]] - held[there[i]]),
                                    np.int64(held[back[i]]),
                                )
                            for i in range(depth):
                                held[there[i]] += amount
                                held[back[i]] -= amount
                            held[e] += amount
                            left[source] -= amount
                            right[r] -= amount
                            depth, found = 0, True
                            continue
                        while row_layer[r] <= last and row_turn[r] < start[r + 1] and not found:
                            other = owner[row_turn[r]]
                            if layer[other] == row_layer[r] and held[slot[row_turn[r]]] > 0:
                                there[depth], back[depth] = e, slot[row_turn[r]]
                                depth, found = depth + 1, True
                                at[depth] = other
                            else:
                                row_turn[r] += 1
                    if not found:
                        turn[c] -= 1
                if not found:
                    if depth == 0:
                        break
                    depth -= 1
                    # A dead end stays one until layers are numbered anew, so it is not
                    # tried again.
                    row_turn[rows[there[depth]]] += 1
