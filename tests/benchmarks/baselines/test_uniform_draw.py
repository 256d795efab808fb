"""One of k assignments, drawn uniformly: what one known seat tells."""

import numpy as np

from anon_core.tables.loss import loss_table
from benchmarks.baselines.rings import rings
from benchmarks.baselines.uniform_draw import uniform_draw
from benchmarks.risk.uniform_draw import guessed
from tests.drawn import drawn


def test_each_assignment_seats_all_in_rows_that_they_hold():
    holders = rings(table := drawn(30, 3), loss_table(table.codebook, "rank"), 3)
    for number in range(3):
        seat = uniform_draw(holders, number)
        assert all(record in holders[row] for record, row in enumerate(seat))


def test_one_known_seat_tells_the_uniform_draw_and_nothing_of_independent_seats():
    rng = np.random.default_rng(1)
    shifts = (rng.integers(0, 4, (2, 600, 1)) + np.arange(8)) % 8
    loose = rng.integers(0, 4, (2, 600, 8))
    asked, known = np.arange(7), np.arange(1, 8)
    assert guessed(shifts, asked, known) == 1
    assert 0.2 < guessed(shifts, asked, None) < 0.3
    assert 0.2 < guessed(loose, asked, known) < 0.3
