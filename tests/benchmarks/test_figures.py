"""The losses that benchmarks.figures prints are the paper's sums, for every method."""

import dataclasses

import numpy as np
import pytest

from anon_core.anonymizers import Optimal
from anon_core.tables.loss import loss_table
from benchmarks.figures import methods, sources

VALUES = np.random.default_rng(2).integers(0, 40, (3, 30)).astype(float)


@pytest.mark.long
@pytest.mark.parametrize("method", methods.METHODS)
def test_gcp_is_the_sum_of_ranges(method):
    """Liang and Samavi, equation 21: (z - y) / (U - L) of every cell."""
    table = sources.coded(VALUES, ["numeric"] * 3)
    table = dataclasses.replace(table, k=np.full(30, 3, dtype=np.int32))
    groups = methods.METHODS[method](table, loss_table(table.codebook, sources.LOSS))
    assert sorted(v for group in groups for v in group) == list(range(30))
    levels = [np.unique(column) for column in VALUES]
    values = np.array([level[codes] for level, codes in zip(levels, table.codes, strict=True)])
    width = values.max(axis=1) - values.min(axis=1)
    total = sum((len(g) * np.ptp(values[:, g], axis=1) / width).sum() for g in groups)
    assert methods.measured(table, 3, method)[0] == pytest.approx(total, abs=1e-5)


@pytest.mark.parametrize("kinds", [["numeric"] * 3, ["numeric", "categorical", "categorical"]])
def test_hidden_features_lose_what_classes_do(kinds):
    """Classes as rows of hidden features and as lists of records."""
    table = sources.coded(VALUES // 4, kinds)
    table = dataclasses.replace(table, k=np.full(30, 4, dtype=np.int32))
    loss = loss_table(table.codebook, sources.LOSS)
    made = Optimal(method="greedy").anonymize(table)
    lost = methods.measured(table, 4, "greedy")[0]
    assert methods.lost_by_hiding(made, loss) == pytest.approx(lost)
