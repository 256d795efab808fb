"""The auditor's judgement of a law: every fault that could raise a chance is counted."""

from dataclasses import replace

import numpy as np
import pytest

from anon_core.anonymizers import Adaptive
from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import ReleasedCells
from anon_core.measures.table.law import law
from anon_core.seating.matching import drawn_by_holders
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from anon_core.tables.cells import write_cells
from tests.anon_core.seating.test_matching import words


@pytest.fixture(scope="module")
def stated():
    """What `law` takes of a release of 80 records, k = 2 or 4."""
    rng = np.random.default_rng(5)
    columns = {name: rng.choice(list("abc"), 80).astype(object) for name in ("x", "y", "z")}
    specs = [ColumnSpec(name=name, kind="categorical") for name in columns]
    table = encoding.encode(encoding.fit(specs, columns), columns, rng.choice([2, 4], 80))
    even = Adaptive(seats="even").anonymize(table)
    cells = write_cells(table, even.hidden)
    book = table.codebook.attributes
    released = ReleasedCells.of([read_cells(each, cells[each.name].tolist()) for each in book])
    seat = drawn_by_holders(table, even.holders, words(1))
    return table.codes, table.k, released, even.holders.astype(np.int64), seat


def test_a_right_law(stated):
    found = law(*stated)
    assert found.kept
    assert (found.likeliest <= 1 / stated[1] + 1e-12).all()
    assert (found.likeliest > 0).all()


def test_a_share_too_many(stated):
    codes, k, released, holders, seat = stated
    row = int(np.flatnonzero((holders != holders[:, :1]).any(axis=1))[0])
    holders = holders.copy()
    holders[row] = holders[row, 0]
    found = law(codes, k, released, holders, seat)
    assert not found.kept
    assert found.uneven > 0


def test_a_chance_above_1_over_k(stated):
    codes, k, released, holders, seat = stated
    found = law(codes, k * 2, released, holders, seat)
    assert not found.kept
    assert found.above > 0
    assert (found.unfit, found.uneven, found.unseated) == (0, 0, 0)


def test_a_row_that_does_not_fit(stated):
    codes, k, released, holders, seat = stated
    exact = tuple(np.eye(*levels.shape, dtype=bool) for levels in released.levels)
    shown = replace(released, levels=exact)
    found = law(codes, k, shown, holders, seat)
    assert not found.kept
    assert found.unfit > 0


def test_a_seat_without_a_chance(stated):
    codes, k, released, holders, seat = stated
    found = law(codes, k, released, holders, np.roll(seat, 1))
    assert not found.kept
    assert found.unseated > 0
