"""Completed tables that keep relations: chained trees, each cell drawn from what it allows.

Each masked column in turn is drawn given all others. A regression tree groups the rows by the other
columns. Within a leaf a few steps of expectation maximization say how frequent each level is there,
from the cells of the rows, never from what was drawn before in the column: so more sweeps do not
strengthen what earlier sweeps drew by chance. docs/reader.md states what this restores.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.errors import ReleaseError
from crowdcover.reader.answers.weights import Weights
from crowdcover.reader.coded.cells import Floats, Places
from crowdcover.reader.coded.columns import Column
from crowdcover.reader.completed.drawing import draw_level_values
from crowdcover.reader.completed.encoding import encode_levels, score_levels
from crowdcover.reader.completed.leaves import (
    DrawnColumn,
    compute_likelihood,
    estimate_chances,
    hold_frequencies,
    list_blocks,
    pick_levels,
    start_drawn_column,
)

COLUMN_SWEEPS = 3  # over all columns; relations stay as they are from the second on
LEAF_ROWS = 60, 20, 180  # rows of a leaf at least: tried in the second sweep, the first one before


class ColumnModel(NamedTuple):
    """How a column follows from the others.

    Attributes
    ----------
    tree : sklearn.tree.DecisionTreeRegressor
    tables : tuple of float32 (levels, numbers)
        For each other column the numbers that stand for its levels.
    leaf : int64 (nodes,)
        The leaf that each node of the tree is, counted from 0.
    chances : float64 (leaves, levels)
        How frequent each level of the column is in each leaf, above 0.
    held : float64 (levels,)
        What the chance of each level is multiplied by, so that frequencies stay.
    """

    tree: Any
    tables: tuple[NDArray[np.float32], ...]
    leaf: Places
    chances: Floats
    held: Floats


class RelatedDraws:
    """The draws of one completed table.

    Parameters
    ----------
    rows : polars.DataFrame
        The released rows.
    columns : mapping of str to Column
        All columns but the key: exact ones tell about masked ones.
    weights : mapping of str to Weights
        Of the masked columns.
    seed, number : int
        Every draw follows from these two.

    Raises
    ------
    ReleaseError
        scikit-learn is not installed.
    """

    def __init__(
        self,
        rows: pl.DataFrame,
        columns: Mapping[str, Column],
        weights: Mapping[str, Weights],
        seed: int,
        number: int,
    ) -> None:
        self.rows = rows
        self.seeds = seed, number
        self.variables = [
            start_drawn_column(each, weights.get(name), self._generator(0, place))
            for place, (name, each) in enumerate(columns.items())
        ]
        self.models: dict[int, ColumnModel] = {}
        leaves: dict[int, tuple[int, ...]] = {}
        for sweep in range(1, COLUMN_SWEEPS + 1):
            for place, each in enumerate(self.variables):
                if not each.chance.size or not rows.height:
                    continue
                # The first sweep sees others that were drawn by themselves: it chooses nothing.
                tried = LEAF_ROWS[:1] if sweep == 1 else leaves.get(place, LEAF_ROWS)
                generator = self._generator(sweep, place)
                self.models[place], least = _fit_model(self.variables, place, tried, generator)
                if sweep > 1:
                    leaves[place] = (least,)
                self._draw_column(place, np.flatnonzero(each.is_open), generator)

    def __call__(self, rows: Places, again: int = 0) -> pl.DataFrame:
        """Return some rows of the table.

        Parameters
        ----------
        rows : int64 (n,)
        again : int
            0 for the rows as they were drawn; above, all their masked cells are drawn once more,
            each column given what the others are by then.
        """
        drawn = []
        for place, each in enumerate(self.variables):
            generator = self._generator(COLUMN_SWEEPS + 1 + again, place)
            if again and place in self.models:
                self._draw_column(place, rows[each.is_open[rows]], generator)
            if each.column.role == "quasi":
                drawn.append(draw_level_values(each.column, each.level[rows], generator))
        return self.rows[rows].with_columns(drawn)

    def _generator(self, *place: int) -> np.random.Generator:
        return np.random.default_rng([*self.seeds, *place])

    def _draw_column(self, place: int, rows: Places, generator: np.random.Generator) -> None:
        """Draw the cells of these rows in one column."""
        model, variable = self.models[place], self.variables[place]
        leaf = _find_leaves(self.variables, place, model, rows)
        at = generator.random(len(rows))
        for part in list_blocks(len(rows), variable.levels):
            chance = variable.weigh(rows[part], model.chances[leaf[part]] * model.held)
            variable.level[rows[part]] = pick_levels(chance, at[part])


def _fit_model(
    variables: Sequence[DrawnColumn],
    place: int,
    leaves: Sequence[int],
    generator: np.random.Generator,
) -> tuple[ColumnModel, int]:
    """The model of a column, by a random sample of rows, and the rows of its leaves at least.

    Of several sizes of leaves the one is taken that makes the cells of the rows outside the sample
    most likely.
    """
    regressor = _load_regressor()
    variable = variables[place]
    rows = len(variable.level)
    sample = generator.integers(0, rows, rows)
    times = np.bincount(sample, minlength=rows)
    scores = score_levels(variable.level, variable.levels, variable.is_ordered, generator)
    others = _list_others(variables, place)
    tables = tuple(
        encode_levels(each.level[sample], each.levels, each.is_ordered, scores[sample])
        for each in others
    )
    numbers = _look_up_numbers(tables, others, np.arange(rows))
    state = int(generator.integers(1 << 31))
    best, likelihood = None, -np.inf
    for least in leaves:
        tree = regressor(min_samples_leaf=least, random_state=state)
        tree.fit(numbers[sample], scores[sample])
        node = tree.apply(numbers)
        number = np.cumsum(tree.tree_.children_left < 0) - 1
        chances = estimate_chances(variable, number[node], times)
        found = compute_likelihood(variable, number[node], chances, times)
        if best is None or found > likelihood:
            held = hold_frequencies(variable, number[node], chances)
            best, likelihood = (ColumnModel(tree, tables, number, chances, held), least), found
    assert best is not None
    return best


def _load_regressor() -> Any:
    """The trees, which only this module needs."""
    try:
        from sklearn.tree import DecisionTreeRegressor
    except ImportError:
        raise ReleaseError(
            "completed tables that keep relations need scikit-learn: "
            "pip install 'crowdcover[models]'"
        ) from None
    return DecisionTreeRegressor


def _list_others(variables: Sequence[DrawnColumn], place: int) -> list[DrawnColumn]:
    return [each for other, each in enumerate(variables) if other != place]


def _look_up_numbers(
    tables: Sequence[NDArray[np.float32]], others: Sequence[DrawnColumn], rows: Places
) -> NDArray[np.float32]:
    """The numbers of the other columns in these rows, float32 (n, numbers)."""
    parts = [table[each.level[rows]] for table, each in zip(tables, others, strict=True)]
    # A tree needs one number, also in a release of one column.
    return np.concatenate([np.zeros((len(rows), 1), dtype=np.float32), *parts], axis=1)


def _find_leaves(
    variables: Sequence[DrawnColumn], place: int, model: ColumnModel, rows: Places
) -> Places:
    """The leaf of each of these rows."""
    if not len(rows):
        return rows
    numbers = _look_up_numbers(model.tables, _list_others(variables, place), rows)
    return np.asarray(model.leaf[model.tree.apply(numbers)])
