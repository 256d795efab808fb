"""The cheapest box around a record: best-first branch and bound. Auditors only.

A node is a box, and records that it must not hold. Its children take in one more record, or rule
that record out. Levels of a box are an interval, or a set, in each attribute.
"""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel

_GROWTH = 2**24  # comparisons of levels spent on one record's first box
_WORK = 2**18  # comparisons of levels spent on one record after its first box
_MOST_NODES = 2**10
_NEAREST = 2**12  # classes at least


@parallel_kernel(lambda sample: len(sample))
def find_cheapest_boxes(begin, end, sample, level, share, whole, ordinal, unit, offset, cost):
    # level (classes, attributes), share (classes,), cost (len(sample),): filled
    """Bound, for each class of the sample, the cost of a box that holds shares of the whole."""
    for s in range(begin, end):
        cost[s] = _bound_cost(sample[s], level, share, whole, ordinal, unit, offset)


@kernel
def _bound_cost(center, level, share, whole, ordinal, unit, offset):
    """The least cost of a box around a class, or less where the work is spent before."""
    classes, attributes = level.shape
    low, high = np.empty(attributes, np.int32), np.empty(attributes, np.int32)
    holds = np.zeros(offset[attributes], np.bool_)
    extra, near = np.empty(classes, np.int64), np.arange(classes)
    none = np.empty(0, np.int64)

    _start_box(center, level, offset, low, high, holds)
    _price(near, level, ordinal, unit, offset, low, high, holds, none, extra)
    # Boxes that hold enough are looked for among the nearest ones; any of them is an upper bound.
    most = min(classes - 1, max(_NEAREST, 16 * (whole // share[center])))
    nearest = near[extra <= np.partition(extra, most)[most]]
    reached = _reach(extra[nearest], share, nearest, whole)
    if reached < 0:
        nearest, reached = near, _reach(extra, share, near, whole)
    for each in nearest:
        if extra[each] <= reached:
            _extend_box(each, level, offset, low, high, holds)
    known = _cost_of(ordinal, unit, offset, low, high, holds)
    if known == 0:
        return np.int64(0)
    _start_box(center, level, offset, low, high, holds)
    grown = _grow(nearest, level, share, whole, ordinal, unit, offset, low, high, holds)
    known = min(known, grown)
    # A box that holds any other class costs `known` at least, so it is no cheaper box.
    near = near[extra < known]

    nodes = min(_MOST_NODES, 2 + _WORK // max(1, len(near) * attributes))
    parent, added = np.full(2 * nodes, -1), np.full(2 * nodes, -1)
    inside = np.zeros(2 * nodes, np.bool_)  # whether the box takes `added` in
    bound, branch = np.empty(2 * nodes, np.int64), np.empty(2 * nodes, np.int64)
    out, used, node = np.empty(2 * nodes, np.int64), 0, 0
    for _ in range(nodes):
        for side in range(2 if used else 1):
            if used:
                parent[used], added[used], inside[used] = node, branch[node], side == 0
            _start_box(center, level, offset, low, high, holds)
            ruled_out, at = 0, used
            while parent[at] >= 0:
                if inside[at]:
                    _extend_box(added[at], level, offset, low, high, holds)
                else:
                    out[ruled_out] = added[at]
                    ruled_out += 1
                at = parent[at]
            own = _cost_of(ordinal, unit, offset, low, high, holds)
            _price(near, level, ordinal, unit, offset, low, high, holds, out[:ruled_out], extra)
            more = _reach(extra[: len(near)], share, near, whole)
            # If those near do not reach the whole, no box below this node costs less than `known`.
            bound[used] = known if more < 0 else min(known, own + more)
            # With more == 0 the box holds enough as it is: nothing to branch on, and its cost is
            # exact.
            branch[used] = _find_nearest(near, extra) if more > 0 else -1
            used += 1
        node = _find_least(bound, used)
        if bound[node] == known or branch[node] < 0:
            return bound[node]
        found, bound[node] = bound[node], np.iinfo(np.int64).max  # its children follow
    # The work is spent. Any box is below some open node, so the least open bound holds for all.
    return found


@kernel
def _grow(near, level, share, whole, ordinal, unit, offset, low, high, holds):
    """The cost of the box that takes in the cheapest class until it holds the whole.

    The greatest number where the work is spent before.
    """
    extra, none = np.empty(len(near), np.int64), np.empty(0, np.int64)
    for _ in range(1 + _GROWTH // max(1, len(near) * len(low))):
        _price(near, level, ordinal, unit, offset, low, high, holds, none, extra)
        held = np.int64(0)
        for place in range(len(near)):
            if extra[place] == 0:
                held += share[near[place]]
        nearest = _find_nearest(near, extra)
        if held >= whole:
            return _cost_of(ordinal, unit, offset, low, high, holds)
        if nearest < 0:
            break
        _extend_box(nearest, level, offset, low, high, holds)
    return np.iinfo(np.int64).max


@kernel
def _start_box(center, level, offset, low, high, holds):
    """Make the box that holds one class."""
    holds[:] = False
    for a in range(level.shape[1]):
        low[a] = high[a] = level[center, a]
        holds[offset[a] + level[center, a]] = True


@kernel
def _extend_box(one, level, offset, low, high, holds):
    """Take a class into the box."""
    for a in range(level.shape[1]):
        low[a], high[a] = min(low[a], level[one, a]), max(high[a], level[one, a])
        holds[offset[a] + level[one, a]] = True


@kernel
def _cost_of(ordinal, unit, offset, low, high, holds):
    """What a row loses that shows the box."""
    cost = np.int64(0)
    for a in range(len(low)):
        steps = high[a] - low[a]
        if not ordinal[a]:
            steps = holds[offset[a] : offset[a + 1]].sum() - 1
        cost += unit[a] * steps
    return cost


@kernel
def _price(near, level, ordinal, unit, offset, low, high, holds, out, extra):
    """extra = what the box costs more with each class; -1 where it would hold one ruled out."""
    for place in range(len(near)):
        one, cost = near[place], np.int64(0)
        for a in range(len(low)):
            at = level[one, a]
            if ordinal[a]:
                cost += unit[a] * (max(low[a] - at, 0) + max(at - high[a], 0))
            elif not holds[offset[a] + at]:
                cost += unit[a]
        for other in out:
            if _would_hold(other, one, level, ordinal, offset, low, high, holds):
                cost = np.int64(-1)
                break
        extra[place] = cost


@kernel
def _would_hold(other, one, level, ordinal, offset, low, high, holds):
    """Whether the box, with one class more, holds another."""
    for a in range(len(low)):
        at, new = level[other, a], level[one, a]
        if ordinal[a]:
            if at < min(low[a], new) or at > max(high[a], new):
                return False
        elif at != new and not holds[offset[a] + at]:
            return False
    return True


@kernel
def _reach(extra, share, near, whole):
    """The least cost up to which classes hold the whole together; -1 if all of them do not."""
    # Any box that holds enough takes in classes of this cost or more, and costs as much at least.
    most, held = np.int64(-1), np.int64(0)
    for place in range(len(near)):
        if extra[place] >= 0:
            most, held = max(most, extra[place]), held + share[near[place]]
    if held < whole:
        return np.int64(-1)
    least = np.int64(0)
    while least < most:
        middle, held = (least + most) // 2, np.int64(0)
        for place in range(len(near)):
            if 0 <= extra[place] <= middle:
                held += share[near[place]]
        if held >= whole:
            most = middle
        else:
            least = middle + 1
    return most


@kernel
def _find_nearest(near, extra):
    """The class outside of the box that costs least; -1 if there is none."""
    best = -1
    for place in range(len(near)):
        if extra[place] > 0 and (best < 0 or extra[place] < extra[best]):
            best = place
    return near[best] if best >= 0 else -1


@kernel
def _find_least(bound, used):
    """The open node of the least bound."""
    best = 0
    for node in range(1, used):
        if bound[node] < bound[best]:
            best = node
    return best
