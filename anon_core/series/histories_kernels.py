"""Number the strong components of the graph that leads from records to owners of rows that fit."""

import numpy as np

from anon_core.jit.kernel import kernel

_VOID, _END = -1, -2  # a node that no list holds; the end of a list


@kernel
def number_strong_components(start, row):
    # start (n + 1,), row (edges,): edges of node v lead to row[start[v] : start[v + 1]]
    # low (n,): least index that a node reaches, then its component; after, before (n,): the search
    # stack, and then by `after` the nodes whose component is not closed yet
    """Number the strong components of a directed graph, int64 (n,), as SciPy numbers them.

    Pearce's algorithm (2005). SciPy checks and converts the matrix first, which takes ten times as
    long as the search in a graph of twenty nodes.
    """
    n = len(start) - 1
    low = np.full(n, _VOID, dtype=np.int64)
    after = np.full(n, _VOID, dtype=np.int64)
    before = np.full(n, _VOID, dtype=np.int64)
    parked, index, label = _END, 0, n - 1
    for first in range(n):
        if low[first] != _VOID:
            continue
        head = first
        after[first] = before[first] = _END
        while head != _END:
            v = head
            if low[v] == _VOID:
                low[v] = index
                index += 1
                for edge in range(start[v], start[v + 1]):
                    head = push_node(row[edge], head, low, after, before)
                continue
            head = after[v]
            if head >= 0:
                before[head] = _END
            after[v] = before[v] = _VOID
            root = True
            for edge in range(start[v], start[v + 1]):
                if low[row[edge]] < low[v]:
                    low[v] = low[row[edge]]
                    root = False
            if not root:
                after[v] = parked
                parked = v
                continue
            index -= 1
            while parked != _END and low[v] <= low[parked]:
                node = parked
                parked = after[node]
                after[node] = _VOID
                low[node] = label
                index -= 1
            low[v] = label
            label -= 1
    return n - 1 - low


@kernel
def push_node(node, head, low, after, before):
    # low, after, before (n,): see `number_strong_components`
    """Put a node that was not met yet on top of the search stack; returns the top."""
    if low[node] != _VOID:
        return head
    if after[node] != _VOID:  # it is in the stack: take it out
        if before[node] != _END:
            after[before[node]] = after[node]
        if after[node] != _END:
            before[after[node]] = before[node]
    after[node] = head
    before[node] = _END
    before[head] = node
    return node
