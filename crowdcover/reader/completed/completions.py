"""What a release answers through completed tables: the tables, and estimates from them."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Self

import polars as pl

from crowdcover.errors import ReleaseError
from crowdcover.reader.answers.evidence import compute_told_share
from crowdcover.reader.completed.drawing import IndependentDraws, RowDraws, draw_completed_table
from crowdcover.reader.completed.estimating import (
    Figures,
    Study,
    correlate_columns,
    draw_study,
    estimate_figures,
)
from crowdcover.reader.completed.fitting import Family, FormulaModel, fit_model
from crowdcover.reader.completed.relations import RelatedDraws
from crowdcover.reader.parts import ReleaseParts
from crowdcover.reader.reading import columns_of

LEAST_TOLD = 0.2  # of what exact cells of a column would tell, for intervals to hold


class Completions(ReleaseParts):
    """The questions that completed tables answer."""

    def complete(
        self, m: int = 5, seed: int = 0, rules: pl.Expr | None = None, relations: bool = False
    ) -> list[pl.DataFrame]:
        """Draw completed tables: plain tables with one value in each cell.

        By default each masked cell is drawn by itself. So correlations and regressions of masked
        columns come out weaker than they are, in wide tables by half, and no error tells it:
        `fit`, `correlation` and `estimate` see to that.

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
        weights = {each.name: self.weights(each.name) for each in self.list_masked_columns()}
        for number in range(m):
            draw: RowDraws
            if relations:
                draw = RelatedDraws(self.rows, self.columns, weights, seed, number)
            else:
                draw = IndependentDraws(self.rows, weights, seed, number)
            yield draw_completed_table(draw, self.rows.height, number, rules)

    def estimate(
        self,
        of: Callable[[pl.DataFrame], Figures],
        m: int = 5,
        seed: int = 0,
        rules: pl.Expr | None = None,
        rehearsals: int = 2,
    ) -> pl.DataFrame:
        """Estimate any figures from completed tables that keep relations, with honest errors.

        The figures of m completed tables are combined by Rubin's rules. Then the first completed
        tables are released again, completed and asked again: by as much as the figures move there,
        the estimate is put right, and its error grows. All tables are kept for the next question
        with the same m, seed, rules and rehearsals.

        Parameters
        ----------
        of : callable
            Takes a completed table, and returns a mapping from names to numbers, or to pairs of a
            number and its standard error in a plain table.
        m, seed, rules
            As of `complete`; m is 2 or more.
        rehearsals : int
            How many completed tables are released again, m at most. 0: none; then the error does
            not know what masking hides from all completed tables.

        Returns
        -------
        polars.DataFrame
            A row for each figure that all tables have: `figure`, `estimate`, its standard `error`,
            `low` and `high`, the ends of an interval of 95 %, `degrees` of freedom, `masking`, the
            share of the squared error that comes from masking, and `moved`: by how much the
            estimate was put right.

        Raises
        ------
        ReleaseError
            scikit-learn is not installed, or the release cannot be rehearsed.
        """
        return estimate_figures(self._study(m, seed, rules, rehearsals), of)

    def fit(
        self,
        formula: str,
        family: Family = "gaussian",
        m: int = 5,
        seed: int = 0,
        rules: pl.Expr | None = None,
        rehearsals: int = 2,
    ) -> pl.DataFrame:
        """Fit a regression, with errors that know what masking hides; see `estimate`.

        Parameters
        ----------
        formula : str
            As statsmodels takes it, such as ``"income ~ age + C(education)"``. A column that is no
            word is written ``Q("hours-per-week")``. A text column of two values on the left counts
            0 and 1, in their order.
        family : {"gaussian", "binomial", "poisson"}
            Least squares, logistic regression, Poisson regression.
        m, seed, rules, rehearsals
            As of `estimate`.

        Returns
        -------
        polars.DataFrame
            As of `estimate`, the terms of the formula as `figure`. Rows without a value of these
            columns are left out. A term that has no row in some completed table is left out with a
            warning.

        Raises
        ------
        ReleaseError
            statsmodels or scikit-learn are not installed, or the formula cannot be fitted.

        Warns
        -----
        UserWarning
            Cells of a column tell hardly anything, so intervals may not hold; or terms are left
            out.
        """
        model = FormulaModel(formula, family, self.columns, self.weight)
        self._warn_of_untold(model.columns)
        return fit_model(self._study(m, seed, rules, rehearsals), model)

    def correlation(
        self, a: str, b: str, *, ranks: bool = False, m: int = 5, seed: int = 0, rehearsals: int = 2
    ) -> pl.DataFrame:
        """The correlation of two columns of numbers; see `estimate`.

        Parameters
        ----------
        a, b : str
        ranks : bool
            Spearman's, of ranks, in place of Pearson's.

        Returns
        -------
        polars.DataFrame
            One row, as of `estimate`.
        """
        for col in (a, b):
            if not self.column(col).levels.is_counted:
                raise ReleaseError(f"column {col!r} holds categories, which have no correlation")
        if a == b:
            raise ReleaseError("correlation needs two different columns")
        self._warn_of_untold((a, b))
        asked = partial(correlate_columns, a=a, b=b, ranks=ranks, weight=self.weight)
        found = estimate_figures(self._study(m, seed, None, rehearsals), asked)
        # An interval of a correlation ends where correlations do.
        return found.with_columns(pl.col("low", "high").clip(-1, 1))

    def _warn_of_untold(self, cols: Iterable[str]) -> None:
        masked = [col for col in cols if self.columns[col].role == "quasi"]
        shares = {col: compute_told_share(self.weights(col)) for col in masked}
        if low := {col: share for col, share in shares.items() if share < LEAST_TOLD}:
            told = ", ".join(f"{col!r} {100 * share:.0f} %" for col, share in low.items())
            warnings.warn(
                f"cells tell little of what exact ones would: {told}. Relations may be stronger "
                "than estimates say, and intervals may not hold; ask for a release with a smaller "
                "k or fewer quasi-identifiers",
                UserWarning,
                # The frames above this one are `fit` or `correlation`, and the caller's.
                stacklevel=3,
            )

    def rehearse(self, table: pl.DataFrame, seed: int = 0) -> Self:
        """Release a completed table again, by the method, levels and k of this release.

        Its rows stand for a source that is known: what a figure of the new release is off from the
        table's shows what figures of this release are off. Needs numba and scipy.

        Parameters
        ----------
        table : polars.DataFrame
            One of `complete`. Each row counts as a person; where demands differ from person to
            person, each demands the middle of the demands.
        seed : int

        Raises
        ------
        ReleaseError
            It is a version of a series, or its method is not installed.
        """
        if not isinstance(table, pl.DataFrame) or set(table.columns) != set(self.rows.columns):
            raise ReleaseError("rehearse takes one completed table of this release, whole")
        from crowdcover.reader.completed.rehearsing import release_table_again

        rows = release_table_again(
            self.manifest, self.codebook, self.columns, table, self.demand, seed
        )
        columns = columns_of(self.manifest, self.codebook, rows)
        again = replace(self, rows=rows, columns=columns, assumed={})
        for col, (lo, hi) in self.assumed.items():
            again = again.assume(col, lo, hi)
        return again

    def _study(self, m: int, seed: int, rules: pl.Expr | None, rehearsals: int) -> Study:
        """The tables of an estimate; the last ones are kept, for the next question."""
        asked = m, seed, rehearsals
        for kept, its_rules, study in self._last:
            if kept == asked and its_rules is rules:
                return study
        study = draw_study(self, m, seed, rules, rehearsals)
        self._last[:] = [(asked, rules, study)]
        return study

    # cached_property writes to __dict__, which a frozen dataclass allows.
    @cached_property
    def _last(self) -> list[tuple[tuple[int, int, int], pl.Expr | None, Study]]:
        return []
