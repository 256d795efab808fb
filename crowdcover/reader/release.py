"""A release of a table, and the questions that it answers."""

from dataclasses import dataclass
from pathlib import Path
from typing import overload

import polars as pl

from crowdcover.errors import ReleaseError
from crowdcover.reader.answers.conditions import Where
from crowdcover.reader.answers.estimates import (
    Asked,
    Count,
    count_of,
    crosstab_of,
    frequencies_of,
    frequencies_of_groups,
    group_of,
)
from crowdcover.reader.answers.means import Mean, Quantile, mean_of, means_by, quantile_of
from crowdcover.reader.answers.weights import Estimator
from crowdcover.reader.coded.columns import Column
from crowdcover.reader.coded.nodes import group_levels
from crowdcover.reader.completed.completions import Completions
from crowdcover.reader.reading import columns_of, files_of, refuse_address
from crowdcover.reader.views import Views


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
    return Release(manifest, codebook, rows, columns_of(manifest, codebook, rows), estimator)


@dataclass(frozen=True, eq=False, repr=False)
class Release(Views, Completions):
    """A release, read. Make it with `read`.

    Attributes
    ----------
    manifest, codebook : dict
        manifest.json and codebook.json.
    rows : polars.DataFrame
        The rows as they were published.
    columns : dict of str to Column
        Each column but the key, read.
    estimator : str
    assumed : dict of str to (number, number)
        The ends of open groups that `assume` was told, by column.
    weight : str
        The column that `weigh` was told; empty if each row counts once.
    """

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
        return count_of(groups, self.people)

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
            return frequencies_of_groups(self._ask(col, level), within, self.people)
        return frequencies_of(self.column(col), self.weights(col), within, self.people)

    @overload
    def mean(self, col: str, by: None = None) -> Mean: ...
    @overload
    def mean(self, col: str, by: str) -> pl.DataFrame: ...
    def mean(self, col: str, by: str | None = None) -> Mean | pl.DataFrame:
        """The mean of a column of numbers, over the people who have a value.

        Parameters
        ----------
        col : str
        by : str, optional
            A column; then the mean within each of its levels.

        Returns
        -------
        Mean, or polars.DataFrame
            `expected`, its standard `error`, and `lo` and `hi`, between which the mean of these
            rows is; infinite where a group is open. `expected` is nan if no row has a value, or if
            all numbers are one group. In the unit of the column; a date in days since 1970-01-01.
            With `by` a row for each level: `<by>`, then these four.
        """
        column = self._find_numbers(col, "mean")
        if by is None:
            return mean_of(column, self.weights(col), self.people)
        if col == by:
            raise ReleaseError("a mean by a column needs two different columns")
        return means_by(column, self.weights(col), self._ask(by, None), self.people)

    def quantile(self, col: str, q: float = 0.5) -> Quantile:
        """A quantile of a column of numbers, over the people who have a value.

        Parameters
        ----------
        col : str
        q : float
            Between 0 and 1; 0.5 is the median.

        Returns
        -------
        Quantile
            `expected`, its standard `error`, and `lo` and `hi`, between which the quantile of these
            rows is: the least value that a share `q` of them reach or stay below. In the unit of
            the column; a date in days since 1970-01-01.
        """
        column = self._find_numbers(col, "quantile")
        return quantile_of(column, self.weights(col), q, self.people)

    def median(self, col: str) -> Quantile:
        """The median of a column of numbers; see `quantile`."""
        return self.quantile(col)

    def _find_numbers(self, col: str, asked: str) -> Column:
        column = self.column(col)
        if not column.levels.is_counted:
            raise ReleaseError(
                f"column {col!r} holds categories, which have no {asked}; use frequencies({col!r})"
            )
        return column

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
        return crosstab_of(self.weights(a), self.weights(b), self.people)

    def _ask(self, col: str, level: str | int | None) -> Asked:
        column = self.column(col)
        return Asked(column, self.weights(col), group_levels(column.levels, level))
