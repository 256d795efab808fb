"""What the benchmark of relations fits, against another program, and which way it errs."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import crowdcover
from benchmarks.analyst.relations import DRAWS, Fit
from tests.crowdcover.reader.folders import attribute, folder

FIT = Fit("pay", ("age", "sex"), {"sex": "f"})


def test_a_fit_is_that_of_least_squares():
    draws = np.random.default_rng(3)
    age, sex = draws.integers(20, 60, 300), draws.choice(["f", "m"], 300)
    pay = 2.0 * age + 5 * (sex == "f") + draws.normal(0, 3, 300)
    table = pl.DataFrame({"pay": pay, "age": age, "sex": sex})
    table = table.with_columns(age=pl.when(pl.col("age") > 58).then(None).otherwise("age"))
    kept = table.drop_nulls()
    correlation, slope, error = FIT.of(table)
    assert correlation == pytest.approx(stats.spearmanr(kept["pay"], kept["age"]).statistic)
    alone = Fit("pay", ("age",), {}).of(table)
    line = stats.linregress(kept["age"], kept["pay"])
    assert alone[1:] == pytest.approx((line.slope, line.stderr))
    assert slope == pytest.approx(2, abs=4 * error)
    assert FIT.about("sex").of(table)[1] == pytest.approx(5, abs=1.5)


def test_a_relation_is_lost_where_both_cells_are_masked(tmp_path):
    """Age and pay are one number; every second row masks both."""
    numbers = [str(each) for each in range(20, 24)]
    cells = [numbers[row // 2 % 4] if row % 2 else "*" for row in range(400)]
    book = [attribute(name, "numeric", tuple(numbers)) for name in ("age", "pay")]
    release = crowdcover.read(folder(tmp_path / "v1", book, {"age": cells, "pay": cells}))
    fit = Fit("pay", ("age",), {})
    alone, related = (
        crowdcover.pooled([fit.of(each)[1] for each in release.complete(DRAWS, 1, None, relations)])
        for relations in (False, True)
    )
    assert 0.3 < alone.estimate < 0.8  # 1 in the source
    assert abs(related.estimate - 1) < abs(alone.estimate - 1) / 2
