"""Regressions by formula, in each completed table by statsmodels."""

import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl

from crowdcover.errors import ReleaseError
from crowdcover.reader.coded.columns import Column
from crowdcover.reader.completed.estimating import Figures, Study, estimate_figures

if TYPE_CHECKING:
    import pandas as pd

Family = Literal["gaussian", "binomial", "poisson"]
_MODELS: dict[Family, str] = {"gaussian": "OLS", "binomial": "Logit", "poisson": "Poisson"}


def fit_formula(
    study: Study, formula: str, family: Family, columns: Mapping[str, Column], weight: str
) -> pl.DataFrame:
    """Fit a regression in completed tables and combine what is found; see `Completions.fit`."""
    model = FormulaModel(formula, family, columns, weight)
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
        self.formula, self.family = formula, family
        self.columns = {name: each for name, each in columns.items() if name in formula}
        outcome, _, _ = formula.partition("~")
        quoted = re.fullmatch(r"""Q\((["'])(.*)\1\)""", outcome.strip())
        self.outcome = quoted[2] if quoted else outcome.strip()
        self.weight = weight
        self.terms: dict[str, None] = {}
        self.degrees = float("inf")

    def fit(self, table: pl.DataFrame) -> Figures:
        """The coefficients of the terms that have a row in this table, with their errors."""
        try:
            from statsmodels import api
            from statsmodels.formula import api as formulas
        except ImportError:
            raise ReleaseError("fit needs statsmodels: pip install 'crowdcover[models]'") from None
        data = self._build_frame(table)
        try:
            design = getattr(formulas, _MODELS[self.family].lower())(self.formula, data)
            used = (design.exog != 0).any(axis=0)
            with warnings.catch_warnings():
                # What concerns one completed table shows in the errors of all.
                warnings.simplefilter("ignore")
                if self.weight:
                    # Rows without a value are left out, so the weights of the others are found.
                    people = self._find_people(table, design)
                    family = getattr(api.families, self.family.capitalize())()
                    fitted = api.GLM(
                        design.endog, design.exog[:, used], family=family, var_weights=people
                    )
                    result = fitted.fit(cov_type="HC1")
                else:
                    fitted = getattr(api, _MODELS[self.family])(design.endog, design.exog[:, used])
                    result = fitted.fit(disp=0)
        except Exception as error:
            raise ReleaseError(
                f"the formula cannot be fitted ({type(error).__name__}); it may name what the "
                f"release lacks, or columns that tell the same; columns are "
                f"{', '.join(map(repr, table.columns))}, and one that is no word is written "
                "Q('name')"
            ) from error
        names = np.array(design.exog_names)
        self.terms |= dict.fromkeys(names.tolist())
        self.degrees = min(self.degrees, float(result.df_resid))
        pairs = zip(result.params.tolist(), result.bse.tolist(), strict=True)
        return dict(zip(names[used].tolist(), pairs, strict=True))

    def _find_people(self, table: pl.DataFrame, design: Any) -> Any:
        """For how many people each row of a design counts."""
        series = table.to_series(table.columns.index(self.weight)).cast(pl.Float64)
        return series.to_numpy()[np.asarray(design.data.row_labels, dtype=np.int64)]

    def _build_frame(self, table: pl.DataFrame) -> "pd.DataFrame":
        """The columns of the formula, as pandas has them."""
        import pandas as pd

        data: dict[str, Any] = {}
        for name, column in self.columns.items():
            # By place: polars takes a name such as ^a$ for a pattern.
            series = table.to_series(table.columns.index(name))
            if series.dtype == pl.Date:
                series = series.cast(pl.Int32)
            if series.dtype.is_numeric():
                data[name] = series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
            elif series.dtype == pl.Date:
                data[name] = (
                    series.cast(pl.Int32).cast(pl.Float64).fill_null(float("nan")).to_numpy()
                )
            else:
                # The same levels in all tables, so that each has the same first one.
                texts = sorted({str(each) for each in column.values.drop_nulls().to_list()})
                values = [None if each is None else str(each) for each in series.to_list()]
                cells = pd.Categorical(values, categories=texts)
                data[name] = self._count_outcome(cells) if name == self.outcome else cells
        return pd.DataFrame(data)

    def _count_outcome(self, cells: "pd.Categorical") -> Any:
        """A text outcome of two values as 0 and 1."""
        if len(cells.categories) != 2:
            raise ReleaseError(
                f"column {self.outcome!r} has {len(cells.categories)} values; an outcome is a "
                "number, or has two values"
            )
        return np.where(cells.codes < 0, np.nan, cells.codes)
