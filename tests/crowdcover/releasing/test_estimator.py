"""`KAnonymizer` keeps scikit-learn's conventions, as far as a release can."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import check_estimator

from anon_core.errors import InputError
from crowdcover.releasing.estimator import KAnonymizer
from tests.crowdcover.releasing.people import people

# A release is of the table that was fitted: no part of it and no other order is one.
NOT_OF_RELEASES = {
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_fit_idempotent",
}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_the_checks_of_estimators_that_apply():
    # With a secret: without one, no two releases are alike, and the checks compare two.
    found = check_estimator(
        KAnonymizer(k=2, effort=0, secret=bytes(32)), on_fail=None, on_skip=None
    )
    failed = {each["check_name"] for each in found if each["status"] == "failed"}
    assert failed <= NOT_OF_RELEASES
    assert sum(each["status"] == "passed" for each in found) >= 40


def test_a_model_is_fitted_to_drawn_values():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 20, 300)
    frame = pl.DataFrame({"x": x, "y": 3 * x + rng.integers(0, 5, 300)})
    rows = KAnonymizer(k=3, sensitive=["y"]).fit_transform(frame)
    assert rows.columns == ["x", "y"]
    slope = LinearRegression().fit(rows.select("x").to_numpy(), rows["y"]).coef_[0]
    assert 2 < slope < 3.5


def test_another_table_is_refused():
    fitted = KAnonymizer(k=3, quasi=["age"], cells="text").fit(people())
    assert fitted.transform(people()).columns == ["age"]
    assert list(fitted.get_feature_names_out()) == ["age"]
    with pytest.raises(InputError, match="fit again"):
        fitted.transform(people(seed=1))
