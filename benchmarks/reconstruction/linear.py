"""Linear reconstruction: a hidden column of two values from counts that the release tells."""

from itertools import combinations

import numpy as np
import polars as pl
from scipy import sparse

WIDTHS = (1, 2, 3)  # known columns in a query
STEPS = 300


def linear(table, targets, known, name, value):
    """Chances that the targets' value of a column is `value`, float (targets,).

    A query asks how many people have given values in one, two or three known columns, and `value`.
    The release answers it, for as many people as there are targets. Sought are chances x of the
    targets that give the same answers, with the least sum of squared differences, 0 <= x <= 1;
    each query is weighed by its number of targets. Targets of equal known values get equal chances.
    The attack takes the targets for the people of the release, as that of Annamalai, Gadotti and
    Rocher (USENIX Security 2024) does, who solve for least absolute differences.
    """
    people = targets.group_by(known, maintain_order=True).len("times")
    times = people["times"].to_numpy().astype(np.float64)
    scale = targets.height / table.height
    rows, answers = [], []
    for width in WIDTHS:
        for columns in combinations(known, width):
            asked = people.select(columns).unique(maintain_order=True).with_row_index("query")
            query = people.join(asked, on=columns, how="left", maintain_order="left")["query"]
            where = query.to_numpy().astype(np.int64), np.arange(people.height)
            rows.append(sparse.csr_matrix((times, where), shape=(asked.height, people.height)))
            told = table.filter(pl.col(name) == value).group_by(columns).len("told")
            counts = asked.join(told, on=columns, how="left", maintain_order="left")["told"]
            answers.append(counts.fill_null(0).to_numpy() * scale)
    matrix, answer = sparse.vstack(rows).tocsr(), np.concatenate(answers)
    weight = 1 / np.sqrt(np.asarray(matrix.sum(axis=1)).ravel())
    chances = _least_squares(sparse.diags(weight) @ matrix, weight * answer)
    place = targets.join(
        people.with_row_index("place"), on=known, how="left", maintain_order="left"
    )["place"]
    return chances[place.to_numpy()]


def _least_squares(matrix, answer):
    """Least |matrix x - answer|, 0 <= x <= 1, by accelerated projected gradients."""
    # No column's sum with its rows' sums is exceeded by the greatest eigenvalue.
    bound = (matrix.T @ (matrix @ np.ones(matrix.shape[1]))).max()
    x = before = np.full(matrix.shape[1], 0.5)
    for step in range(STEPS):
        ahead = x + (x - before) * step / (step + 3)
        slope = matrix.T @ (matrix @ ahead - answer)
        x, before = np.clip(ahead - slope / bound, 0, 1), x
    return x
