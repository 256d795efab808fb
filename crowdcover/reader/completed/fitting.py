"""Regressions by formula, in each completed table by statsmodels."""

import ast
import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl

from crowdcover.errors import ReleaseError
from crowdcover.reader.coded.cells import Floats
from crowdcover.reader.coded.columns import Column, list_numbers, take_series
from crowdcover.reader.completed.estimating import Figures, Study, estimate_figures

if TYPE_CHECKING:
    import pandas as pd

Family = Literal["gaussian", "binomial", "poisson"]
_QUOTED = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""  # a text of a formula
_MODELS: dict[Family, str] = {"gaussian": "OLS", "binomial": "Logit", "poisson": "Poisson"}


def fit_model(study: Study, model: "FormulaModel") -> pl.DataFrame:
    """Fit a regression in completed tables and combine what is found; see `Completions.fit`."""
    found = estimate_figures(study, model.fit, lambda: model.degrees)
    if lost := len(model.terms) - found.height:
        warnings.warn(
            f"{lost} term(s) have no row in some completed table and are left out; join rare "
            "levels with others, such as in a column of your own",
            UserWarning,
            # The frames above this one are `fit` and the caller's.
            stacklevel=3,
        )
    from scipy.stats import t

    size = np.abs(found["estimate"].to_numpy() / found["error"].to_numpy())
    chance = np.asarray(2 * t.sf(size, found["degrees"].to_numpy()))
    return found.with_columns(p=pl.Series(chance))


class FormulaModel:
    """A formula, fitted to one completed table after the other.

    Attributes
    ----------
    columns : dict of str to Column
        Those that the formula names.
    terms : dict of str to None
        Of all tables, as statsmodels calls them.
    degrees : float
        Of freedom of the residuals: the least of any table.
    """

    def __init__(
        self, formula: str, family: Family, columns: Mapping[str, Column], weight: str = ""
    ) -> None:
        if family not in get_args(Family):
            raise ReleaseError(f"family must be one of {', '.join(get_args(Family))}")
        if not isinstance(formula, str):
            raise ReleaseError('formula must be a text, such as "income ~ age + C(education)"')
        self.formula, self.family, self.weight = formula, family, weight
        self.columns = {name: columns[name] for name in _list_names(formula) if name in columns}
        outcome = _list_names(formula.partition("~")[0])
        self.outcome = outcome[0] if len(outcome) == 1 else ""
        self.terms: dict[str, None] = {}
        self.degrees = float("inf")
        self._categories: dict[str, list[str]] = {}

    def fit(self, table: pl.DataFrame) -> Figures:
        """The coefficients of the terms that have a row in this table, with their errors."""
        try:
            from statsmodels import api
            from statsmodels.formula import api as formulas
        except ImportError:
            raise ReleaseError("fit needs statsmodels: pip install 'crowdcover[models]'") from None
        data, people = self._build_frame(table)
        try:
            design = getattr(formulas, _MODELS[self.family].lower())(self.formula, data)
            exog, endog = np.asarray(design.exog), np.asarray(design.endog)
            used = (exog != 0).any(axis=0)
            if np.linalg.matrix_rank(exog[:, used]) < used.sum():
                raise ReleaseError(
                    "terms of the formula tell the same: leave one of them out; a level that all "
                    "rows have tells the same as the intercept"
                )
            with warnings.catch_warnings():
                # What concerns one completed table shows in the errors of all.
                warnings.simplefilter("ignore")
                if self.weight:
                    # Functions of the formula may leave out rows, such as logarithms of 0.
                    rows = np.asarray(design.data.row_labels, dtype=np.int64)
                    family = getattr(api.families, self.family.capitalize())()
                    fitted = api.GLM(endog, exog[:, used], family=family, var_weights=people[rows])
                    result = fitted.fit(cov_type="HC0")
                    errors = result.bse * np.sqrt(len(rows) / max(1, result.df_resid))  # HC1
                else:
                    fitted = getattr(api, _MODELS[self.family])(endog, exog[:, used])
                    result = fitted.fit(disp=0)
                    errors = result.bse
        except ReleaseError:
            raise
        except Exception as error:
            raise ReleaseError(
                f"the formula cannot be fitted ({type(error).__name__}): it may name what the "
                f"release lacks. Its columns are {', '.join(map(repr, table.columns))}; one that "
                "is no word is written Q('name')"
            ) from error
        if not (np.isfinite(result.params).all() and np.isfinite(errors).all()):
            raise ReleaseError(
                "the formula has no finite estimate: outcomes may be out of the family's range, or "
                "some term may tell them all apart"
            )
        names = np.array(design.exog_names)
        self.terms |= dict.fromkeys(names.tolist())
        self.degrees = min(self.degrees, float(result.df_resid))
        pairs = zip(result.params.tolist(), errors.tolist(), strict=True)
        return dict(zip(names[used].tolist(), pairs, strict=True))

    def _build_frame(self, table: pl.DataFrame) -> tuple["pd.DataFrame", Floats]:
        """The columns of the formula, as pandas has them, and for how many people each row counts.

        Rows without a value of one of them, and rows that count for nobody, are left out.
        """
        import pandas as pd

        held = {name: take_series(table, name) for name in self.columns}
        whole = np.ones(table.height, dtype=np.bool_)
        for series in held.values():
            whole &= series.is_not_null().to_numpy()
        people = np.ones(table.height)
        if self.weight:
            people = list_numbers(take_series(table, self.weight))
            whole &= people > 0
        if not whole.any():
            raise ReleaseError("no row has a value of each column of the formula, and counts")
        data: dict[str, Any] = {}
        for name, series in held.items():
            values = series.filter(whole)
            if values.dtype.is_numeric() or values.dtype == pl.Date:
                data[name] = list_numbers(values)
            else:
                data[name] = self._categorize(name, [str(each) for each in values.to_list()])
        return pd.DataFrame(data), people[whole]

    def _categorize(self, name: str, texts: list[str]) -> Any:
        """Texts of a column: an outcome of two values as 0 and 1, others as categories."""
        import pandas as pd

        if name not in self._categories:
            # The same levels in all tables, so that each has the same first one: that has rows.
            seen = set(texts)
            levels = {str(each) for each in self.columns[name].values.drop_nulls().to_list()}
            self._categories[name] = [*sorted(levels & seen), *sorted(levels - seen)]
        cells = pd.Categorical(texts, categories=self._categories[name])
        if name != self.outcome:
            return cells
        if len(cells.categories) != 2:
            raise ReleaseError(
                f"column {name!r} has {len(cells.categories)} values; an outcome is a number, or "
                "has two values"
            )
        return (np.array(texts) == max(self._categories[name])).astype(np.float64)


def _list_names(formula: str) -> list[str]:
    """The columns that a formula may name: words that are no function, and what Q quotes."""
    quoted = re.findall(rf"\bQ\(\s*({_QUOTED})\s*\)", formula)
    words = re.findall(r"[^\W\d]\w*(?!\w|\s*[(.])", re.sub(_QUOTED, "", formula))
    return list(dict.fromkeys([*map(ast.literal_eval, quoted), *words]))
