"""The losses that benchmarks.figures prints are the paper's sums, for every method."""

import dataclasses

import numpy as np
import pytest

from anon_core.tables.loss import loss_table
from benchmarks import figures

VALUES = np.random.default_rng(2).integers(0, 40, (3, 30)).astype(float)


@pytest.mark.parametrize("method", figures.METHODS)
def test_gcp_is_the_sum_of_ranges(method):
    """Liang and Samavi, equation 21: (z - y) / (U - L) of every cell."""
    table = figures.coded(VALUES, ["numeric"] * 3)
    table = dataclasses.replace(table, k=np.full(30, 3, dtype=np.int32))
    groups = figures.METHODS[method](table, loss_table(table.codebook, figures.LOSS))
    assert sorted(v for group in groups for v in group) == list(range(30))
    levels = [np.unique(column) for column in VALUES]
    values = np.array([level[codes] for level, codes in zip(levels, table.codes, strict=True)])
    width = values.max(axis=1) - values.min(axis=1)
    total = sum((len(g) * np.ptp(values[:, g], axis=1) / width).sum() for g in groups)
    assert figures.measured(table, 3, method)[0] == pytest.approx(total, abs=1e-5)
