"""Covers that only comparisons use: covers of least weight, and the closure with all its edges.

`registered()` adds them to those of `anon_core.covers.named`, so that `Adaptive(cover=...)` takes
them. A plan does not.
"""

from contextlib import contextmanager

from anon_core.covers.b_edge_cover import nearest_closure, sort_edges
from anon_core.covers.named import COVERS, Cover, closure_memory
from anon_core.covers.names import SPREADABLE

MOST_VERTICES = 4096  # of covers that hold matrices of all pairs


def _nearest(_graph, _counts, _b, near):
    """Return the b-nearest closure with its redundant edges: at most twice the optimum, too."""
    return sort_edges(nearest_closure(near))


def _exact(graph, counts, b, near):
    from benchmarks.covers.optimal import exact_cover  # scipy takes long to import

    return exact_cover(graph, counts, b, near)


def _b_matching(graph, counts, b, near):
    from benchmarks.covers.optimal import perfect_b_matching

    return perfect_b_matching(graph, counts, b, near)


def _matrices_memory(b):
    # Costs as int32 and float64, reduced costs, sums, a priced copy, flags, places of the smallest,
    # the upper triangle with places, and what the solver takes.
    return 80 * len(b) ** 2 + 2**28 + closure_memory(b)


FURTHER = {
    # S-LSE chooses by static weights: the lightest edge first, while an end is in need. On the
    # complete graph that is the b-nearest closure; without its redundant edges, heaviest first, it
    # is the cover of MCE (Khan, Pothen and Ferdous, Parallel algorithms through approximation).
    "s-lse": COVERS["mce"],
    "nearest": Cover(find=_nearest, memory=closure_memory),
    "exact": Cover(find=_exact, memory=_matrices_memory, most_vertices=MOST_VERTICES),
    "b-matching": Cover(find=_b_matching, memory=_matrices_memory, most_vertices=MOST_VERTICES),
}


@contextmanager
def registered():
    """Let `Adaptive` take these covers for a while."""
    COVERS.update(FURTHER)
    SPREADABLE.update(dict.fromkeys(FURTHER, False))
    try:
        yield
    finally:
        for name in FURTHER:
            del COVERS[name], SPREADABLE[name]
