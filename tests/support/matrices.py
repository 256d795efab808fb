"""Sparse matrices in groups, and all that was made of one, to the last bit."""

import itertools

import numpy as np

from anon_core.matrices.records import SparseMatrix


def sets(indptr, indices):
    """The items of each row."""
    return [set(indices[a:b].tolist()) for a, b in itertools.pairwise(indptr)]


def crowded(n, items, seed=3, k=4):
    """Crowds of about five records that share most of their items."""
    draws = np.random.default_rng(seed)
    profile = draws.random((n // 5 + 1, items)) < 0.2
    held = profile[draws.integers(0, n // 5 + 1, n)] ^ (draws.random((n, items)) < 0.05)
    row, item = np.nonzero(held)
    indptr = np.searchsorted(row, np.arange(n + 1)).astype(np.int64)
    return SparseMatrix(indptr, item.astype(np.int32), items, np.full(n, k, dtype=np.int32))


def shuffled(n):
    return np.random.default_rng(9).permutation(n)


def content(made):
    return repr([made.steps, *(array.tobytes() for array in made.arrays().values())])
