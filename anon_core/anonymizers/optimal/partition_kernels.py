"""Search for groups of small reduced cost: the columns of a set partition."""

import numpy as np

from anon_core.anonymizers.loss_kernels import (
    PROHIBITIVE_LOSS,
    compute_level_increase,
    compute_loss_increase,
    widen_cell,
    widen_row,
)
from anon_core.jit.kernel import kernel


@kernel
def better_groups(
    k, alike, dual, limit, falling, budget, cells, found, length, cost
):  # k, alike, dual (n,); budget (1,); found (most, longest), length, cost (most,)
    """List groups whose loss less the duals of their members is below `limit`.

    alike[v]: record v equals the one before. Of groups that differ in equals only, the one with the
    first of them is listed. `falling`: a group must be below half of what the last one with the
    same first record was, too.

    A group holds at least the greatest k of its members, and less than twice as many: a larger one
    can be cut in two that lose no more. Row d of cells is the group of d + 1 records on the path of
    the search. A branch is left if even the best duals of later records cannot bring it below.
    Returns how many there are, at most `most`, or -1 if `budget` groups were looked at; the budget
    becomes what is left of it.
    """
    n, most, longest = len(k), found.shape[0], found.shape[1]
    best = _greatest_sums(dual, longest)
    path, loss = np.empty(longest, dtype=np.int64), np.zeros(longest, dtype=np.int64)
    gain, need = np.zeros(longest), np.zeros(longest, dtype=np.int64)
    number = 0
    for root in range(n):
        if alike[root]:
            continue
        below = limit
        path[0], loss[0], gain[0], need[0] = root, 0, dual[root], k[root]
        _reset_row(root, 0, cells)
        if k[root] == 1 and -dual[root] < limit:
            if number == most:
                return number
            found[number, 0], length[number], cost[number] = root, 1, 0
            number += 1
        depth, v = 0, root + 1
        while depth >= 0:
            if v >= n or depth + 1 >= longest:
                v = path[depth] + 1
                depth -= 1
                continue
            if alike[v] and path[depth] != v - 1:
                v += 1
                continue
            if budget[0] == 0:
                return -1
            budget[0] -= 1
            size = depth + 2
            duals, least = gain[depth] + dual[v], max(need[depth], k[v])
            # Each further member loses as much as the others do now, at least.
            room = -np.inf
            for final in range(max(size, least), longest + 1):
                room = max(room, (below + duals + best[v + 1, final - size]) / final)
            at_most = np.int64(np.ceil(max(room, 0.0))) - loss[depth]
            more = compute_loss_increase(v, depth, at_most, cells)
            if more >= at_most:
                v += 1
                continue
            total = loss[depth] + more
            if size >= least and size < 2 * least and total * size - duals < below:
                if number == most:
                    return number
                if falling:
                    below = min(below, (total * size - duals) / 2)
                length[number] = size
                for d in range(depth + 1):
                    found[number, d] = path[d]
                found[number, depth + 1], cost[number] = v, total * size
                number += 1
            depth += 1
            path[depth], loss[depth], gain[depth], need[depth] = v, total, duals, least
            _copy_row(depth, cells)
            widen_row(v, depth, cells)
            v += 1
    return number


@kernel
def _greatest_sums(dual, longest):
    """The sum of the m greatest positive duals of records i, i + 1, ..: (n + 1, longest + 1)."""
    n = len(dual)
    sums = np.zeros((n + 1, longest + 1))
    for i in range(n):
        tail = np.sort(-dual[i:])
        for m in range(1, longest + 1):
            more = -tail[m - 1] if m - 1 < len(tail) else 0.0
            sums[i, m] = sums[i, m - 1] + max(0.0, more)
    return sums


@kernel
def likely_groups(k, dual, limit, cells, found, length, cost):
    # k, dual (n,); found (n, longest), length, cost (n,)
    """List groups as `better_groups` does: one at most that grows greedily from each record.

    Row 0 of cells is the group. Returns how many there are.
    """
    n, longest, number = len(k), found.shape[1], 0
    more, by_attribute = np.empty(n, dtype=np.int64), np.empty(cells.codes.T.shape, dtype=np.int64)
    by_level = np.empty(cells.offsets[-1], dtype=np.int64)
    for root in range(n):
        _reset_row(root, 0, cells)
        more[:], by_attribute[:] = 0, 0
        for a in range(len(by_attribute)):
            _price_attribute(a, cells, by_level, by_attribute[a], more)
        found[number, 0] = root
        total, duals, need, below = np.int64(0), dual[root], k[root], limit
        joined = np.zeros(n, dtype=np.bool_)
        joined[root] = True
        length[number] = 0
        for size in range(2, longest + 1):
            best, place = np.inf, 0
            for v in range(n):
                if not joined[v]:
                    reduced = (total + more[v]) * size - duals - dual[v]
                    if reduced < best:
                        best, place = reduced, v
            total, duals, need = total + more[place], duals + dual[place], max(need, k[place])
            for a in range(len(by_attribute)):
                q = cells.codes[place, a]
                if not cells.member[0, cells.offsets[a] + q]:
                    widen_cell(a, q, 0, cells)
                    _price_attribute(a, cells, by_level, by_attribute[a], more)
            joined[place] = True
            found[number, size - 1] = place
            if need <= size < 2 * need and best < below:
                below, length[number], cost[number] = best, size, total * size
        if length[number] > 0:
            number += 1
    return number


@kernel
def _price_attribute(a, cells, by_level, now, more):  # by_level (levels,); now, more (n,)
    """Let `now` be what row 0 loses more by each record in attribute a; `more` follows."""
    levels = cells.offsets[a + 1] - cells.offsets[a]
    few = levels <= len(now)  # the table of which these records are a part may have many
    for q in range(levels if few else 0):
        by_level[q] = compute_level_increase(a, q, 0, cells)
    for v in range(len(now)):
        q = cells.codes[v, a]
        increase = by_level[q] if few else compute_level_increase(a, q, 0, cells)
        more[v] += increase - now[v]
        now[v] = increase


@kernel
def _reset_row(v, r, cells):
    """Let row r allow the levels of record v only."""
    cells.low[r], cells.high[r], cells.member[r] = cells.codes[v], cells.codes[v], False
    for a in range(len(cells.ordinal)):
        cells.member[r, cells.offsets[a] + cells.codes[v, a]] = True


@kernel
def _copy_row(r, cells):
    """Let row r be as the row before it."""
    cells.low[r], cells.high[r] = cells.low[r - 1], cells.high[r - 1]
    cells.member[r] = cells.member[r - 1]


@kernel
def least_partition(
    count, begin, member, length, cost, reduced, limit, budget, path
):  # count (kinds,), begin (kinds + 1,) of the columns; member (columns, longest); path (records,)
    """Find the partition of least cost whose reduced costs sum to less than `limit`.

    count[d]: records of kind d. Columns stand by their least kind, and by their reduced costs, none
    of which is negative. The first kind that is not used up is in a column that begins with it.
    Returns how many columns `path` then holds, 0 if there is no such partition, or -1 if `budget`
    columns were tried; the budget becomes what is left of it.
    """
    free, kind = count.copy(), np.zeros(len(path) + 1, dtype=np.int64)
    place, column = np.zeros(len(path) + 1, dtype=np.int64), np.zeros_like(path)
    total, spent = np.zeros(len(path) + 1), np.zeros(len(path) + 1, dtype=np.int64)
    size, least, depth = 0, PROHIBITIVE_LOSS, 0
    while depth >= 0:
        c = place[depth]
        place[depth] += 1
        if c >= begin[kind[depth] + 1] or total[depth] + reduced[c] >= limit:
            depth -= 1
            if depth >= 0:
                _release_column(column[depth], member, length, free)
            continue
        if budget[0] == 0:
            return -1
        budget[0] -= 1
        if not _take_column(c, member, length, free):
            continue
        column[depth] = c
        total[depth + 1], spent[depth + 1] = total[depth] + reduced[c], spent[depth] + cost[c]
        later = kind[depth]
        while later < len(free) and free[later] == 0:
            later += 1
        if later < len(free):
            # Columns of one kind are taken in one order.
            kind[depth + 1], place[depth + 1] = later, c if later == kind[depth] else begin[later]
            depth += 1
            continue
        if spent[depth + 1] < least:
            least, limit, size = spent[depth + 1], min(limit, total[depth + 1]), depth + 1
            path[:size] = column[:size]
        _release_column(c, member, length, free)
    return size


@kernel
def _take_column(c, member, length, free):
    """Take the records of a column, unless some are taken already."""
    for m in range(length[c]):
        free[member[c, m]] -= 1
        if free[member[c, m]] < 0:
            for taken in range(m + 1):
                free[member[c, taken]] += 1
            return False
    return True


@kernel
def _release_column(c, member, length, free):
    """Undo `_take_column`."""
    for m in range(length[c]):
        free[member[c, m]] += 1
