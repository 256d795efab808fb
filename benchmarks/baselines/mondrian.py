"""Mondrian multidimensional k-anonymity (LeFevre, DeWitt and Ramakrishnan, ICDE 2006)."""

import numpy as np


def mondrian(codes, k, *, relaxed=False):
    """Cut the widest column at its median, again and again, k records a side at least.

    codes int (attributes, n). Strict: equals of the median stay on one side; where the widest
    column cannot be cut, the next one is. Relaxed: they are split between both sides. Returns the
    classes, a list of arrays of records.
    """
    widths = np.maximum(1, codes.max(axis=1) - codes.min(axis=1))
    waiting, classes = [np.arange(codes.shape[1])], []
    while waiting:
        members = waiting.pop()
        part = codes[:, members]
        spread = (part.max(axis=1) - part.min(axis=1)) / widths
        sides = _relaxed(part, spread, k) if relaxed else _strict(part, spread, k)
        if sides is None:
            classes.append(members)
        else:
            waiting += [members[side] for side in sides]
    return classes


def _strict(part, spread, k):
    for column in np.argsort(-spread, kind="stable"):
        middle = np.sort(part[column])[(part.shape[1] - 1) // 2]
        left = part[column] <= middle
        if min(left.sum(), (~left).sum()) >= k:
            return left, ~left
    return None


def _relaxed(part, spread, k):
    if part.shape[1] < 2 * k or spread.max() == 0:
        return None
    order = np.argsort(part[spread.argmax()], kind="stable")
    return order[: len(order) // 2], order[len(order) // 2 :]


def by_appearance(codebook, codes):
    """Order categories by first appearance, as the public code does.

    Cuts then part common values from rare ones.
    """
    ranked = codes.copy()
    for row, attribute in enumerate(codebook.attributes):
        if not attribute.ordinal:
            _, first, level = np.unique(codes[row], return_index=True, return_inverse=True)
            ranked[row] = np.argsort(np.argsort(first))[level]
    return ranked


def by_hierarchies(paths, sizes, k):
    """Mondrian by hierarchies, as k-AnonML has it: split the widest column's node into its parts.

    A column's width is the share of its values that its node holds. A node is split if each part
    that has records has k of them; else the next column is tried. paths: of each column int
    (steps, n), the nodes of each record from the root on. sizes: of each column, values below each
    node, 0 of a value itself. Returns the nodes of the generalized records, int64 (columns, n).
    """
    records = paths[0].shape[1]
    made = np.empty((len(paths), records), dtype=np.int64)
    waiting = [(np.arange(records), (0,) * len(paths))]
    while waiting:
        members, steps = waiting.pop()
        nodes = [path[step, members[0]] for path, step in zip(paths, steps, strict=True)]
        shares = [size[node] / size.max() for size, node in zip(sizes, nodes, strict=True)]
        parts = None
        for column in np.argsort(-np.array(shares), kind="stable"):
            deeper = steps[column] + 1
            if deeper == len(paths[column]):
                continue
            _, part = np.unique(paths[column][deeper, members], return_inverse=True)
            counts = np.bincount(part)
            if counts.min() >= k:
                below = (*steps[:column], deeper, *steps[column + 1 :])
                parts = [(members[part == each], below) for each in range(len(counts))]
                break
        if parts is None:
            made[:, members] = np.array(nodes)[:, None]
        else:
            waiting += parts
    return made
