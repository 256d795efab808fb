"""The literal program of Liang and Samavi beside `Optimal(method="exact")`."""

import numpy as np
import pytest

from benchmarks.baselines.classes_program import classes_program
from tests.support.fars import FARS, fars, made

VALUES = np.array(FARS, dtype=np.float64)
BOUNDS = VALUES.min(axis=0), VALUES.max(axis=0)


@pytest.mark.parametrize(
    "rows",
    [
        [0, 1, 2, 4, 5, 8],
        [3, 4, 18, 7, 10, 16, 19],
        pytest.param([0, 1, 2, 4, 5, 8, 11, 13], marks=pytest.mark.slow),
        pytest.param(list(range(9)), marks=pytest.mark.slow),
    ],
)
def test_exact_classes_lose_what_the_program_proves(rows):
    found, loss = classes_program(VALUES[rows], 3, bounds=BOUNDS)
    assert made(fars(rows=rows), method="exact")[1] == pytest.approx(loss, abs=1e-5)
    ranges = [
        np.ptp(VALUES[rows][members], axis=0) / np.subtract(*BOUNDS[::-1]) for members in found
    ]
    total = sum(len(members) * r.sum() for members, r in zip(found, ranges, strict=True))
    assert total == pytest.approx(loss, abs=1e-5)
    assert min(map(len, found)) >= 3


def test_weights_count():
    rows, weights = [0, 1, 2, 4, 5, 8], (0.8, 0.05, 0.1, 0.05)
    loss = classes_program(VALUES[rows], 3, bounds=BOUNDS, weights=weights)[1]
    # `exact` counts in units of the heaviest column
    exact = made(fars(weights, rows=rows), method="exact")[1]
    assert 0.8 * exact == pytest.approx(loss, abs=1e-5)


def test_without_a_proof_there_is_no_answer():
    assert classes_program(VALUES[:9], 3, nodes=1) is None
