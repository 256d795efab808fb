"""Figures 2-4 of Epasto et al. and Theorem 4.4: python -m benchmarks.smooth.figures WHAT [...].

WHAT: curve (Figure 2), levels (3a, 3b), epsilon (3c), income (4), blocks (Theorem 4.4).
"""

import math
import sys

import numpy as np

from anon_core.anonymizers.smooth.smooth import Smooth
from anon_core.errors import LimitError
from anon_core.matrices.records import SparseMatrix
from benchmarks.baselines.sparse import (
    edge_chance,
    expected_jaccard,
    jaccard_of_response,
    mondrian,
    node_chance,
    randomized_response,
    suppressed_only,
)
from benchmarks.smooth.matrices import SETS, of_columns, read_adult, thirteen
from benchmarks.smooth.theorems import (
    epsilon_of_any_mechanism,
    least_epsilon,
    most_suppressed_edges,
)

LEVELS = (2, 4, 8, 16, 32, 64, 100, 200)
DENSITIES = (0.1, 0.01, 0.001, 0.0001, 0.00001)


def curve():
    """The epsilon that a similarity needs, by density; at 0.5 it is log(1 / density)."""
    for density in DENSITIES:
        needed = [f"{least_epsilon(j / 10, density):.2f}" for j in range(1, 10)]
        print(f"curve.{density}: J 0.1..0.9 epsilon {' '.join(needed)}")
        assert abs(least_epsilon(0.5, density) - math.log(1 / density)) < 1e-9


def levels(*sets):
    for name in sets or ("adult-dec13", "play-cat7"):
        for k in LEVELS:
            matrix = SETS[name](k)
            made = Smooth().anonymize(matrix)
            values = {
                "smooth": made.steps[-1].figures["jaccard"],
                "non-smooth": suppressed_only(matrix, made.group),
                "mondrian": suppressed_only(matrix, mondrian(matrix, k)),
            }
            print(f"{name}.{k}: " + ", ".join(f"{m} {100 * v:.1f}" for m, v in values.items()))


def least_that_reaches(goal, chance, density):
    """The least epsilon, in 0.01, at which randomized response should reach a similarity."""
    low, high = 0, 1 << 30
    while low < high:
        middle = (low + high) // 2
        if expected_jaccard(density, chance(middle / 100)) >= goal:
            high = middle
        else:
            low = middle + 1
    return low / 100


def epsilon(*sets):
    """The epsilon that edge and node privacy need to match smooth anonymity at k = 16."""
    generator = np.random.default_rng(1)
    for name in sets or ("adult-dec13", "play-cat7", "caltech36", "ca-grqc"):
        matrix = SETS[name](16)
        goal = Smooth().anonymize(matrix).steps[-1].figures["jaccard"]
        density = matrix.entries / matrix.records / matrix.items
        edge = least_that_reaches(goal, edge_chance, density)
        node = least_that_reaches(goal, lambda e: node_chance(e, matrix.items), density)  # noqa: B023
        any_edge = epsilon_of_any_mechanism(goal, matrix.records, matrix.items)
        drawn = randomized_response(matrix, edge_chance(edge), generator)
        print(
            f"{name}: J {100 * goal:.1f} at k = 16; edge epsilon {edge:.2f} (drawn J "
            f"{100 * jaccard_of_response(matrix, drawn):.1f}), node epsilon {node:.0f}, any edge "
            f"mechanism at least {any_edge:.2f} (Theorem 4.3)",
            flush=True,
        )


# ---------------------------------------------------------------- a classifier of income


def rows_of(matrix, made):
    """The released rows, dense."""
    out = np.zeros((matrix.records, matrix.items), dtype=np.float64)
    for v, g in enumerate(made.group):
        out[v, made.indices[made.indptr[g] : made.indptr[g + 1]]] = 1
    return out


def unanimous_rows(matrix, group):
    """Rows of a grouping, dense: items that all of the group hold."""
    held = dense(matrix)
    out = np.zeros_like(held)
    for g in range(int(group.max()) + 1):
        members = np.flatnonzero(group == g)
        out[members] = held[members].min(axis=0)
    return out


def dense(matrix):
    """Who holds which item, float64 (records, items): 0 or 1."""
    out = np.zeros((matrix.records, matrix.items), dtype=np.float64)
    out[np.repeat(np.arange(matrix.records), np.diff(matrix.indptr)), matrix.indices] = 1
    return out


def accuracy(train, income, test, truth):
    """Share of correct answers of a ridge regression on 0 and 1, cut at a half."""
    rows = np.concatenate([train, np.ones((len(train), 1))], axis=1)
    weights = np.linalg.solve(rows.T @ rows + np.eye(rows.shape[1]), rows.T @ income)
    answers = np.concatenate([test, np.ones((len(test), 1))], axis=1) @ weights >= 0.5
    return float((answers == truth).mean())


def income():
    """Train on released rows of two thirds of Adult, test on the true rows of the others."""
    rows = read_adult()
    whole = of_columns(thirteen(rows), 1)
    label = np.array([row[14] == ">50K" for row in rows])
    order = np.random.default_rng(2).permutation(len(rows))
    train, test = np.sort(order[: 2 * len(rows) // 3]), order[2 * len(rows) // 3 :]
    true, paid = dense(whole), label[train].astype(np.float64)
    kept = true[train].astype(bool)
    record, item = np.nonzero(kept)
    indptr = np.searchsorted(record, np.arange(len(train) + 1)).astype(np.int64)
    print(f"majority label: {100 * max(label[test].mean(), 1 - label[test].mean()):.1f}")
    plain = accuracy(true[train], paid, true[test], label[test])
    print(f"unanonymized: {100 * plain:.1f}", flush=True)
    flips = node_chance(10, whole.items) / 2
    noisy = kept ^ (np.random.default_rng(3).random(kept.shape) < flips)
    noisy = accuracy(noisy.astype(np.float64), paid, true[test], label[test])
    print(f"node privacy, epsilon 10: {100 * noisy:.1f}", flush=True)
    for k in LEVELS:
        demand = np.full(len(train), k, dtype=np.int32)
        matrix = SparseMatrix(indptr, item.astype(np.int32), whole.items, demand)
        smooth = accuracy(
            rows_of(matrix, Smooth().anonymize(matrix)), paid, true[test], label[test]
        )
        other = unanimous_rows(matrix, mondrian(matrix, k))
        other = accuracy(other, paid, true[test], label[test])
        print(f"{k}: smooth {100 * smooth:.1f}, mondrian {100 * other:.1f}", flush=True)


# ---------------------------------------------------------------- the stochastic block model


def block_model(r, s, alpha, beta, k, seed=7):
    """Bipartite SBM: r blocks of s users and items, alpha internal, beta external edges a node."""
    n, generator = r * s, np.random.default_rng(seed)
    q, p = alpha / s, beta / (n - s)
    parts = []
    for block in range(r):
        inside = generator.random((s, s)) < q
        row, item = np.nonzero(inside)
        outside = generator.integers(0, n - s, (s, generator.binomial(n - s, p)))
        other = outside + s * (outside >= block * s)
        rows = [np.union1d(item[row == v] + block * s, other[v]).astype(np.int32) for v in range(s)]
        parts += rows
    indptr = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    return SparseMatrix(indptr, np.concatenate(parts), n, np.full(n, k, dtype=np.int32))


def blocks(n="10000", s="400", q="0.7", beta="10"):
    """Theorem 4.4 where it says something: at these figures, below the alpha edges of a node."""
    n, s, q, beta = int(n), int(s), float(q), float(beta)
    bound, level = most_suppressed_edges(n, q)
    k = math.ceil(level)
    matrix = block_model(n // s, s, q * s, beta, k)
    made = Smooth(sweeps=2).anonymize(matrix)
    figures = made.steps[-1].figures
    print(f"blocks: k = {k}, alpha = {q * s:.0f}, beta = {beta:.0f}, {matrix.entries} entries")
    print(f"blocks.any_k_anonymous_subgraph_at_most: {bound:.1f} edges a node")
    kept = (1 - figures["suppressed"]) * matrix.entries / n
    print(f"blocks.smooth_keeps: {kept:.1f} edges a node, J {100 * figures['jaccard']:.1f}")
    print(f"blocks.non_smooth: {suppressed_only(matrix, made.group) * matrix.entries / n:.1f}")


WHAT = {f.__name__: f for f in (curve, levels, epsilon, income, blocks)}

if __name__ == "__main__":
    try:
        WHAT[sys.argv[1]](*sys.argv[2:])
    except LimitError as error:
        sys.exit(str(error))
