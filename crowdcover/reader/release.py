"""A release of a table, and the questions that it answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from crowdcover.errors import ReleaseError
from crowdcover.reader import shown
from crowdcover.reader.answers.conditions import Where
from crowdcover.reader.answers.estimates import (
    Asked,
    Count,
    Mean,
    count_of,
    crosstab_of,
    frequencies_of,
    frequencies_of_groups,
    group_of,
    mean_of,
)
from crowdcover.reader.answers.evidence import has_masked_common_values
from crowdcover.reader.answers.weights import Estimator, Weights, weights_of
from crowdcover.reader.coded.columns import Column, find_column
from crowdcover.reader.coded.named import number_repeated_names
from crowdcover.reader.coded.nodes import build_tree_frame, group_levels
from crowdcover.reader.completed.drawing import IndependentDraws, RowDraws, draw_completed_table
from crowdcover.reader.completed.relations import RelatedDraws
from crowdcover.reader.reading import columns_of, files_of, refuse_address


def read(folder: str | Path, estimator: Estimator = "crowd") -> "Release":
    """Read a release of a table.

    Every file that is read is held against its hash in manifest.json.

    Parameters
    ----------
    folder : str or Path
        The release folder, such as releases/adult/v1.
    estimator : {"crowd", "uniform", "em"}
        How a cell's weight is spread over the values that it allows. "crowd", the default: as the
        crowd behind a row suggests, or evenly where the release shows that rare values were not
        masked more often. "uniform": evenly. "em": by the greatest likelihood, as if cells were
        coarsened at random.

    Returns
    -------
    Release

    Raises
    ------
    ReleaseError
        The folder is no release of a table, or a file differs from the one that was published.
    """
    refuse_address(folder)
    manifest, codebook, rows = files_of(Path(folder))
    return Release(manifest, rows, columns_of(manifest, codebook, rows), estimator)


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A release, read. Make it with `read`.

    Attributes
    ----------
    manifest : dict
        manifest.json.
    rows : polars.DataFrame
        The rows as they were published.
    columns : dict of str to Column
        Each column but the key, read.
    estimator : str
    """

    manifest: dict[str, Any]
    rows: pl.DataFrame
    columns: dict[str, Column]
    estimator: Estimator = "crowd"

    def __repr__(self) -> str:
        return shown.describe_release(self.manifest, self.rows.height, self.columns.values())

    def __len__(self) -> int:
        return self.rows.height

    def frame(self) -> pl.DataFrame:
        """The rows as they were published."""
        return self.rows

    def levels(self, col: str) -> pl.DataFrame:
        """The levels of a column: what its cells may allow.

        Returns
        -------
        polars.DataFrame
            `level`, its text; `value`, what stands for it, null for a missing value; of numbers
            and dates also `lo` and `hi`, null for an open side.
        """
        return shown.levels_of(self.column(col))

    def sets(self) -> pl.DataFrame:
        """The rows with each masked cell as the list of the levels that it allows.

        Returns
        -------
        polars.DataFrame
            As `frame`, masked columns of type List(String).
        """
        return self.rows.with_columns(
            shown.sets_of(column) for column in self._list_masked_columns()
        )

    def bounds(self) -> pl.DataFrame:
        """Least and greatest number or date of each cell, in two columns for each column.

        Returns
        -------
        polars.DataFrame
            The key; for each column of numbers or dates `<col>.lo` and `<col>.hi`, both included
            where the bound of a group does not exclude its lower one. Null is an open side. Both
            are null where the value is missing. A cell that allows a missing value has the bounds
            of its given values.
        """
        keys = [self.rows["key"]] if "key" in self.rows.columns else []
        return pl.DataFrame([*keys, *shown.bounds_frame(self.columns.values())])

    def count(self, where: Where) -> Count:
        """How many people meet all conditions.

        Parameters
        ----------
        where : mapping of str to condition
            For each column a value, a set or list of values of which one must hold, None for
            missing, or `between`, `at_least`, `at_most`, `above`, `below`. `under` is each value
            below a node of the column's hierarchy. A value is understood
            in the column's type: 1, 1.0, "1" and numpy's 1 are one number, a date may be its ISO
            text. A text that `levels` lists means that level.

        Returns
        -------
        Count
            `certain`: rows whose every reading meets them. `possible`: rows of which some reading
            does. The true count is between the two. `expected` is the estimate, `error` its
            standard error. All in rows.

        Raises
        ------
        ReleaseError
            A column or value that the release does not have.
        """
        groups = [
            group_of(self.column(col), self.weights(col), each) for col, each in where.items()
        ]
        return count_of(groups, self.rows.height)

    def tree(self, col: str) -> pl.DataFrame:
        """The hierarchy of a column: what `under` and `level` may name.

        Returns
        -------
        polars.DataFrame
            A row for each node, the outer one first: `level`, `node`, and `values`, a list of the
            values below it. No row where the column has no hierarchy. A level is called as the
            plan's file names it, by how many letters of a code its nodes keep, or 1, 2, ... from
            the top.
        """
        return build_tree_frame(self.column(col).levels)

    def frequencies(
        self,
        col: str,
        by: str | None = None,
        level: str | int | None = None,
        by_level: str | int | None = None,
    ) -> pl.DataFrame:
        """How often each level of a column occurs.

        Parameters
        ----------
        col : str
        by : str, optional
            A column; then frequencies within each of its levels.
        level, by_level : str or int, optional
            A level of the hierarchy of `col`, or of `by`, as `tree` names it: then each of its
            nodes is counted in place of the values below. A value without a node at this level
            stands for itself.

        Returns
        -------
        polars.DataFrame
            A row for each level: `<by>`, `<col>`, `certain`, `possible`, `expected` and `error` in
            rows, as of `count`, and `share`: expected, as part of all rows of this level of `by`.
            The labels of a column that is called like one of these numbers, such as `share`, are
            in a column `<col>.level`.
        """
        if col == by:
            raise ReleaseError("frequencies by a column needs two different columns")
        if by is None and by_level is not None:
            raise ReleaseError("by_level is the level of a column; name it in by, too")
        within = None if by is None else self._ask(by, by_level)
        if level is not None or by_level is not None:
            return frequencies_of_groups(self._ask(col, level), within, self.rows.height)
        return frequencies_of(self.column(col), self.weights(col), within)

    def mean(self, col: str) -> Mean:
        """The mean of a column of numbers, over the people who have a value.

        Returns
        -------
        Mean
            `expected`, its standard `error`, and `lo` and `hi`, between which the mean of these
            rows is; infinite where a group is open. `expected` is nan if no row has a value, or if
            all numbers are one group. In the unit of the column; a date in days since 1970-01-01.
        """
        column = self.column(col)
        if not column.levels.is_counted:
            raise ReleaseError(
                f"column {col!r} holds categories, which have no mean; use frequencies({col!r})"
            )
        return mean_of(column, self.weights(col))

    def crosstab(self, a: str, b: str) -> pl.DataFrame:
        """Expected counts of pairs of levels.

        Returns
        -------
        polars.DataFrame
            A row for each level of `a`, first column `<a>`; then a column for each level of `b`,
            named by its text. In rows; they sum to the number of rows. If a level of `b` is named
            like `a`, the first column is `<a>.level`.
        """
        if a == b:
            raise ReleaseError("crosstab needs two different columns")
        return crosstab_of(self.weights(a), self.weights(b))

    def members(self, *cols: str) -> pl.DataFrame:
        """Each cell as numbers for machine learning: 1/s for each of the s levels it allows.

        Parameters
        ----------
        *cols : str
            Columns; all masked ones if none is named.

        Returns
        -------
        polars.DataFrame
            float64, a column `<col>=<level>` for each level. The numbers of each column of the
            release sum to 1 in every row. `.to_numpy()` is (rows, levels).
        """
        names = dict.fromkeys(cols or [each.name for each in self._list_masked_columns()])
        parts = [part for col in names for part in shown.members_of(self.column(col))]
        unlike = number_repeated_names(part.name for part in parts)
        return pl.DataFrame([part.alias(name) for part, name in zip(parts, unlike, strict=True)])

    def complete(
        self, m: int = 5, seed: int = 0, rules: pl.Expr | None = None, relations: bool = False
    ) -> list[pl.DataFrame]:
        """Draw completed tables: plain tables with one value in each cell.

        By default each masked cell is drawn by itself. So correlations and regressions of masked
        columns come out weaker than they are, in wide tables by half, and no error tells it.

        Parameters
        ----------
        m : int
            How many, 1 or more.
        seed : int
            The same seed gives the same tables, whatever the machine's threads.
        rules : polars.Expr, optional
            Which rows of a completed table are impossible, such as
            ``(pl.col("age") < 15) & (pl.col("status") == "married")``. It tells of each row by
            that row alone; null is no answer, and the row stays. Impossible rows are drawn anew,
            all masked cells, 100 times at most: as if drawn given that they are possible. A row
            that is impossible even then keeps its last draw, and a `RulesWarning` says how many.
        relations : bool
            Whether each cell is drawn given the other cells of its row, by trees that are fitted
            to the release: more of each relation is kept. Needs scikit-learn and a few seconds a
            table.

        Returns
        -------
        list of polars.DataFrame
            As `frame`; masked columns hold numbers, dates or text, null for a missing value.
            Estimates of them are combined by `pooled`.

        Raises
        ------
        ReleaseError
            The rules are no expression that gives one truth value for each row, or scikit-learn is
            not installed and relations are asked.
        """
        return list(self.completions(m, seed, rules, relations))

    def completions(
        self, m: int = 5, seed: int = 0, rules: pl.Expr | None = None, relations: bool = False
    ) -> Iterator[pl.DataFrame]:
        """The same, one table after the other."""
        if m < 1 or seed < 0:
            raise ReleaseError("complete needs m of at least 1 and a seed of at least 0")
        weights = {each.name: self.weights(each.name) for each in self._list_masked_columns()}
        for number in range(m):
            draw: RowDraws
            if relations:
                draw = RelatedDraws(self.rows, self.columns, weights, seed, number)
            else:
                draw = IndependentDraws(self.rows, weights, seed, number)
            yield draw_completed_table(draw, self.rows.height, number, rules)

    def column(self, col: str) -> Column:
        """A column, read.

        Raises
        ------
        ReleaseError
            The release has no column of that name.
        """
        return find_column(self.columns, col)

    def _ask(self, col: str, level: str | int | None) -> Asked:
        column = self.column(col)
        return Asked(column, self.weights(col), group_levels(column.levels, level))

    def weights(self, col: str) -> Weights:
        """How likely each level is behind each cell of a column."""
        if col not in self._weights:
            estimator: Estimator = "uniform" if self._even else self.estimator
            self._weights[col] = weights_of(self.column(col), estimator, self._k)
        return self._weights[col]

    # cached_property writes to __dict__, which a frozen dataclass allows.
    @cached_property
    def _weights(self) -> dict[str, Weights]:
        return {}

    @cached_property
    def _even(self) -> bool:
        return self.estimator == "crowd" and has_masked_common_values(self._list_masked_columns())

    @property
    def _k(self) -> float:
        privacy = self.manifest.get("privacy", {})
        # Rows do not tell their own k, so the middle of the demands stands for all.
        return float(privacy.get("k_min", 1) + privacy.get("k_max", 1)) / 2

    def _list_masked_columns(self) -> list[Column]:
        return [each for each in self.columns.values() if each.role == "quasi"]
