"""Attacks that need no library: rows that fit, nearest row, naive Bayes, trees of pairs.

Each takes a view of the release and the known levels of the targets (targets, known), and returns
for each hidden column of few levels how likely each level is, float (targets, levels).
"""

import numpy as np

from benchmarks.reconstruction.adult import KNOWN, NUMBERS

BLOCK = 500  # targets at a time
MISS = 1e-3  # how likely a known value is that a cell does not allow
NEIGHBOURS = 100
FEW = 50  # levels, beyond which a column is left out of message passing between hidden columns


def blocks(count):
    """Slices of at most BLOCK targets."""
    return [slice(start, start + BLOCK) for start in range(0, count, BLOCK)]


def likely_rows(view, known, miss=MISS):
    """Log chance of each row to be a target's, float32 (block, rows), for a block at a time.

    A row's chance is the product of the chances of the known values in its cells, each against
    their share in the release: rows of tight cells count more.
    """
    logs = []
    for name in KNOWN:
        part = view.parts[name]
        mixed = (1 - miss) * part.chances + miss * part.shares
        logs.append(np.log(mixed / np.maximum(part.shares, 1e-12)).T.astype(np.float32))
        logs[-1] = np.vstack([logs[-1], np.full(len(part.chances), np.log(miss), np.float32)])
    for block in blocks(len(known)):
        total = np.zeros((len(known[block]), view.table.height), dtype=np.float32)
        for place, name in enumerate(KNOWN):
            total += logs[place][known[block, place]][:, view.parts[name].which]
        yield block, total


def fitting(view, known):
    """What the rows say that may be a target's, each by its chance."""
    names = view.by_level
    members = np.hstack([view.parts[name].members for name in names])
    found = np.empty((len(known), members.shape[1]), dtype=np.float32)
    for block, logs in likely_rows(view, known):
        chances = np.exp(logs - logs.max(axis=1, keepdims=True))
        found[block] = (chances / chances.sum(axis=1, keepdims=True)) @ members
    cuts = np.cumsum([view.parts[name].members.shape[1] for name in names])[:-1]
    return dict(zip(names, np.split(found, cuts, axis=1), strict=True))


def near(view, known, count):
    """The rows of the plain table nearest to each target, nearest first, int (targets, count).

    Numbers differ by their standard deviations, categories by 1; squares are summed.
    """
    ours, theirs = [], []
    for place, name in enumerate(KNOWN):
        labels, codes = view.parts[name].labels, view.codes(name)
        if name in NUMBERS:
            values = view.table[name].to_numpy().astype(np.float32)
            scale = max(values.std(), 1e-9)
            ours.append((values / scale)[:, None])
            theirs.append((labels.astype(np.float32)[known[:, place]] / scale)[:, None])
        else:
            hot = np.vstack([np.eye(len(labels)), np.zeros(len(labels))]) / np.sqrt(2)
            ours.append(hot[codes].astype(np.float32))
            theirs.append(hot[known[:, place]].astype(np.float32))
    ours, theirs = np.hstack(ours), np.hstack(theirs)
    squares = (ours**2).sum(axis=1)
    found = np.empty((len(known), count), dtype=np.int64)
    for block in blocks(len(known)):
        far = squares - 2 * theirs[block] @ ours.T
        some = np.argpartition(far, count - 1, axis=1)[:, :count]
        order = np.argsort(np.take_along_axis(far, some, axis=1), axis=1, kind="stable")
        found[block] = np.take_along_axis(some, order, axis=1)
    return found


def nearest(view, neighbours):
    """The values of the nearest row of the plain table."""
    return {
        name: np.eye(len(view.parts[name].labels), dtype=np.float32)[
            np.maximum(0, view.codes(name)[neighbours[:, 0]])
        ]
        for name in view.by_level
    }


def naive_bayes(view, known, smooth=1.0):
    """Known columns independent of each other, given the hidden value."""
    found = {}
    for name in view.by_level:
        hidden = view.parts[name]
        logs = np.tile(np.log(hidden.shares + 1e-9), (len(known), 1))
        for place, other in enumerate(KNOWN):
            pairs = hidden.members.T @ view.parts[other].members + smooth / len(hidden.labels)
            table = np.log(pairs / pairs.sum(axis=1, keepdims=True))
            table = np.hstack([table, np.zeros((len(table), 1))])  # -1: says nothing
            logs += table.T[known[:, place]]
        found[name] = normal(logs)
    return found


def normal(logs):
    """Chances of logarithms, along the last axis."""
    chances = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return chances / chances.sum(axis=-1, keepdims=True)


# ---------------------------------------------------------------- trees of pairs


def information(pairs):
    """Mutual information of a table of pairs."""
    joint = pairs / pairs.sum()
    both = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / both[seen])).sum())


def spanning(members):
    """The edges of a tree of greatest mutual information, by Prim's algorithm, root first.

    Parameters
    ----------
    members : list of float (rows, levels)

    Returns
    -------
    list of (int, int)
        Parent and child.
    """
    count = len(members)
    weight = np.zeros((count, count))
    for a in range(count):
        for b in range(a):
            weight[a, b] = weight[b, a] = information(members[a].T @ members[b])
    inside, edges = [0], []
    while len(inside) < count:
        outside = [each for each in range(count) if each not in inside]
        part = weight[np.ix_(inside, outside)]
        a, b = np.unravel_index(part.argmax(), part.shape)
        edges.append((inside[a], outside[b]))
        inside.append(outside[b])
    return edges


def beliefs(unary, edges, lifts, damp=None):
    """The chances of each node of a tree given all of them: sum-product, exact.

    Parameters
    ----------
    unary : list of float (targets, levels)
        Chances of each node by itself.
    edges : list of (int, int)
        Parent and child, root first.
    lifts : list of float (parent's levels, child's levels) or (targets, ...)
        P(a, b) / P(a) P(b) of each edge.
    damp : list of float (targets, 1), optional
        Powers of the messages that each node sends.
    """
    sent = {}
    for (parent, child), lift in zip(reversed(edges), reversed(lifts), strict=True):
        own = unary[child] * _product(sent, child, unary)
        sent[child, parent] = _message(own, np.swapaxes(lift, -1, -2), damp and damp[child])
    for (parent, child), lift in zip(edges, lifts, strict=True):
        own = unary[parent] * _product(sent, parent, unary, but=child)
        sent[parent, child] = _message(own, lift, damp and damp[parent])
    found = [unary[node] * _product(sent, node, unary) for node in range(len(unary))]
    return [each / np.maximum(each.sum(axis=1, keepdims=True), 1e-300) for each in found]


def _product(sent, node, unary, but=None):
    total = np.ones_like(unary[node], dtype=np.float64)
    for (source, goal), message in sent.items():
        if goal == node and source != but:
            total = total * message
    return total


def _message(own, lift, power):
    own = own / np.maximum(own.sum(axis=1, keepdims=True), 1e-300)
    message = own @ lift if lift.ndim == 2 else np.einsum("ta,tab->tb", own, lift)
    return message if power is None else np.maximum(message, 1e-300) ** power


def lifted(pairs, smooth):
    """P(a, b) / P(a) P(b) of tables of pairs, along the last two axes."""
    joint = pairs + smooth / (pairs.shape[-1] * pairs.shape[-2])
    joint = joint / joint.sum(axis=(-1, -2), keepdims=True)
    return joint / (joint.sum(axis=-1, keepdims=True) * joint.sum(axis=-2, keepdims=True))


def tree(view, known):
    """A tree of pairs of all columns, with the known ones set: the model of MST, conditioned."""
    names = [*KNOWN, *view.by_level]
    parts = [view.parts[name] for name in names]
    edges = spanning([part.members for part in parts])
    lifts = [lifted(parts[a].members.T @ parts[b].members, 1.0) for a, b in edges]
    unary = []
    for place, part in enumerate(parts):
        chances = np.tile(part.shares, (len(known), 1))
        if place < len(KNOWN):
            given = known[:, place] >= 0
            chances[given] = np.eye(len(part.labels))[known[given, place]]
        unary.append(chances)
    found = beliefs(unary, edges, lifts)
    return dict(zip(view.by_level, found[len(KNOWN) :], strict=True))


def passed(view, first, neighbours):
    """Chances of hidden columns made to agree: messages along a tree of pairs.

    The pairs of each target are those of the rows nearest to it, and a column that is less sure
    says less. Columns of more than FEW levels stay as they are.
    """
    names = [name for name in view.by_level if len(view.parts[name].labels) <= FEW]
    edges = spanning([view.parts[name].members for name in names])
    codes = {name: np.maximum(0, view.codes(name))[neighbours] for name in names}
    found = {name: np.array(first[name], dtype=np.float64) for name in view.by_level}
    for block in blocks(len(neighbours)):
        unary = [np.asarray(first[name][block], dtype=np.float64) for name in names]
        lifts = [
            _local(
                codes[names[a]][block], codes[names[b]][block], unary[a].shape[1], unary[b].shape[1]
            )
            for a, b in edges
        ]
        damp = [1 - _entropy(each) for each in unary]
        for name, each in zip(names, beliefs(unary, edges, lifts, damp), strict=True):
            found[name][block] = each
    return found


def _local(a, b, wide, high):
    targets = np.repeat(np.arange(len(a)), a.shape[1])
    flat = (targets * wide + a.ravel()) * high + b.ravel()
    counts = np.bincount(flat, minlength=len(a) * wide * high)
    return lifted(counts.reshape(len(a), wide, high).astype(np.float64), 1.0)


def _entropy(chances):
    """As part of the greatest that there can be, float (targets, 1)."""
    positive = np.maximum(chances, 1e-12)
    entropy = -(positive * np.log(positive)).sum(axis=1, keepdims=True)
    return np.clip(entropy / np.log(max(2, chances.shape[1])), 0, 1)


# ---------------------------------------------------------------- guesses


def likeliest(view, found):
    """The likeliest level of each target, by column."""
    return {name: found[name].argmax(axis=1) for name in view.by_level}


def rarest(view, found):
    """The level that is likelier than its share by the greatest factor: what the score pays."""
    return {
        name: (found[name] / np.maximum(view.parts[name].shares, 1e-12)).argmax(axis=1)
        for name in view.by_level
    }


def matched(view, known):
    """The likeliest row of each target: it tells the values of columns of many levels."""
    rows = np.empty(len(known), dtype=np.int64)
    for block, logs in likely_rows(view, known):
        rows[block] = logs.argmax(axis=1)
    return rows
