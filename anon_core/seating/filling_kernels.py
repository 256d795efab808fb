"""Maximum flow through a bipartite graph that holds some of it already (Dinic)."""

import numpy as np

from anon_core.jit.kernel import kernel


@kernel
def turn_around(indptr, rows, start, slot, owner):
    # start (R + 1,): room of each right vertex; slot, owner (pairs,): filled
    """The pairs of each right vertex r, slot[start[r] : start[r + 1]], and their left vertices."""
    free = start[:-1].copy()
    for c in range(len(indptr) - 1):
        for e in range(indptr[c], indptr[c + 1]):
            at = free[rows[e]]
            slot[at], owner[at] = e, c
            free[rows[e]] += 1


@kernel
def fill(indptr, rows, limit, held, left, right, start, slot, owner):
    # limit, held (pairs,), left (C,), right (R,): what is to be held yet; the last three as `turn_around` made them
    """Raise `held` to a maximum flow within `limit`; what is held above its limit may stay or fall.

    Rounds of shortest augmenting paths: layers from all left vertices that have something left, then a blocking flow.
    """
    classes = len(left)
    layer, row_layer = np.empty(classes, dtype=np.int32), np.empty(len(right), dtype=np.int32)
    turn, row_turn = np.empty(classes, dtype=np.int64), np.empty(len(right), dtype=np.int64)
    queue, at = np.empty(classes, dtype=np.int32), np.empty(classes + 1, dtype=np.int32)
    there, back = np.empty(classes, dtype=np.int64), np.empty(classes, dtype=np.int64)
    while True:
        last = layers(
            indptr, rows, limit, held, left, right, start, slot, owner, layer, row_layer, queue
        )
        if last < 0:
            return
        turn[:], row_turn[:] = indptr[1:], start[:-1]
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
                    row_turn[rows[there[depth]]] += 1


@kernel
def layers(indptr, rows, limit, held, left, right, start, slot, owner, layer, row_layer, queue):
    """Number the vertices by their distance from what is left; returns the left layer from which a row has room, or -1."""
    layer[:], row_layer[:] = -1, -1
    head, tail, last = 0, 0, -1
    for c in range(len(left)):
        if left[c] > 0:
            layer[c], queue[tail] = 0, c
            tail += 1
    while head < tail:
        c = queue[head]
        head += 1
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
