"""`KAnonymizer`: the release of a frame by scikit-learn's conventions."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
import polars as pl

from anon_core.errors import InputError
from crowdcover.frames import GiveBack, take_frame
from crowdcover.releasing.anonymizing import anonymize
from crowdcover.releasing.released import FrameRelease

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise ImportError("KAnonymizer needs scikit-learn: pip install 'crowdcover[sklearn]'") from None


class KAnonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """Anonymize a table in a scikit-learn pipeline.

    A release is of the people whom it was fitted to, and its rows come in the random order of their
    keys: nothing can be laid beside them row by row. So a target belongs into the table, as a
    sensitive column, and `transform` takes the table that was fitted.

    Parameters
    ----------
    k : int or mapping
        As of `anonymize`.
    quasi : list of str, optional
        Columns that others may know; by default all that no other parameter names.
    sensitive, keep : sequence of str
        As of `anonymize`.
    method : str, optional
    effort : int, optional
        As of `anonymize`.
    columns : mapping, optional
        As of `anonymize`.
    cells : {"drawn", "typed", "text"}
        "drawn": each masked cell is one value that it allows, as of `FrameRelease.complete`, so
        that models can be fitted. Else as of `anonymize`.
    seed : int
        Of the drawn values. Who sits where follows from the secret alone.
    secret : bytes, optional
        As of `anonymize`.

    Attributes
    ----------
    release_ : FrameRelease
        With risk, loss, audit and vault: a pickled estimator holds the table and whose each row is.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where the table has names.
    """

    def __init__(
        self,
        k: int | Mapping[str, Any] = 5,
        *,
        quasi: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        keep: Sequence[str] = (),
        method: str | None = None,
        effort: int | None = None,
        columns: Mapping[str, Mapping[str, Any]] | None = None,
        cells: Literal["drawn", "typed", "text"] = "drawn",
        seed: int = 0,
        secret: bytes | None = None,
    ) -> None:
        self.k = k
        self.quasi = quasi
        self.sensitive = sensitive
        self.keep = keep
        self.method = method
        self.effort = effort
        self.columns = columns
        self.cells = cells
        self.seed = seed
        self.secret = secret

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Release the table; `y` is not used, since no row could be laid beside it."""
        del y
        frame, _ = self._take(X, reset=True)
        others = {*self.sensitive, *self.keep}
        quasi = [name for name in frame.columns if name not in others]
        self.release_: FrameRelease = anonymize(
            frame,
            list(quasi if self.quasi is None else self.quasi),
            k=self.k,
            sensitive=list(self.sensitive),
            keep=list(self.keep),
            method=self.method,
            effort=self.effort,
            columns=self.columns,
            cells="text" if self.cells == "text" else "typed",
            secret=self.secret,
        )
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Return the released rows of the table that was fitted.

        Returns
        -------
        table
            Of the library of `X`, without the keys; float64 (n, columns) for an array.

        Raises
        ------
        InputError
            It is another table.
        """
        check_is_fitted(self)
        frame, give_back = self._take(X, reset=False)
        if not frame.equals(self.release_.vault.source):
            raise InputError(
                "transform takes the table that was fitted: a release is of its people; fit again"
            )
        if self.cells == "drawn":
            (rows,) = self.release_.complete(1, self.seed)
        else:
            rows = self.release_.frame
        return give_back(rows.drop("key"))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the released columns."""
        del input_features
        check_is_fitted(self)
        return np.array(self.release_.frame.columns[1:], dtype=object)

    def _take(self, table: Any, *, reset: bool) -> tuple[pl.DataFrame, GiveBack]:
        """The table as polars has it; numbers of an array are columns x0, x1, ..."""
        if hasattr(table, "columns") or hasattr(table, "column_names"):
            frame, give_back = take_frame(table)
            if reset:
                self.n_features_in_ = frame.width
                self.feature_names_in_ = np.array(frame.columns, dtype=object)
            return frame, give_back
        array = validate_data(self, table, reset=reset, ensure_min_samples=2)
        names = [f"x{number}" for number in range(array.shape[1])]
        return pl.DataFrame(array, schema=names), lambda rows: rows.to_numpy()
