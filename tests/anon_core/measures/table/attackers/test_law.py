"""The auditor's judgement of a law: every fault that could raise a chance is counted."""

from dataclasses import replace

import numpy as np
import pytest

from anon_core.anonymizers import Adaptive
from anon_core.measures.table.attackers import law
from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import ReleasedCells
from anon_core.seating.matching import draw_by_holders
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from anon_core.tables.cells import write_cells
from tests.support.auditing import stated
from tests.support.seats import words


@pytest.fixture(scope="module")
def even():
    """What `stated` takes of a release of 80 records, k = 2 or 4."""
    rng = np.random.default_rng(5)
    columns = {name: rng.choice(list("abc"), 80).astype(object) for name in ("x", "y", "z")}
    specs = [ColumnSpec(name=name, kind="categorical") for name in columns]
    table = encoding.encode(encoding.fit(specs, columns), columns, rng.choice([2, 4], 80))
    made = Adaptive(seats="even").anonymize(table)
    cells = write_cells(table, made.hidden)
    book = table.codebook.attributes
    released = ReleasedCells.of([read_cells(each, cells[each.name].tolist()) for each in book])
    seat = draw_by_holders(table, made.holders, words(1))
    return table.codes, table.k, released, made.holders.astype(np.int64), seat


@pytest.fixture(autouse=True, params=[2**17, 7])
def rows_at_once(request, monkeypatch):
    """However many rows are judged at a time, the findings are the same."""
    monkeypatch.setattr(law, "_AT_ONCE", request.param)


def test_a_right_law(even):
    found = stated(*even)
    assert found.holds
    assert (found.likeliest[found.kind] <= 1 / even[1] + 1e-12).all()
    assert (found.likeliest > 0).all()
    assert (found.tightest <= found.likeliest + 1e-12).all()


def test_others_whose_rows_are_known_are_ruled_out(even):
    codes, k, _, holders, _ = even
    found, shares = stated(*even), holders.shape[1]
    alike = (codes[:, :, None] == codes[:, None, :]).all(axis=0) & (k[:, None] == k[None])
    for record in range(len(k)):
        mine = alike[record]
        chances = np.sort(mine[holders].sum(axis=1) / (mine.sum() * shares))[::-1]
        assert found.likeliest[found.kind[record]] == pytest.approx(chances[0])
        for others in (1, 2):
            left = max(chances[0], 1 - chances[1 : 1 + others].sum())
            assert found.ruled_out[found.kind[record], others - 1] == pytest.approx(
                chances[0] / left
            )


def test_the_rows_of_one_person_count_together(even):
    codes, k, released, holders, seat = even
    person = np.arange(80) // 2 % 30
    person[k == 4] += 30  # one k for all records of a person
    found = stated(codes, k, released, holders, seat, person)
    alike = (codes[:, :, None] == codes[:, None, :]).all(axis=0) & (k[:, None] == k[None])
    alike &= person[:, None] == person[None]
    for record in range(80):
        held = (person[holders] == person[record]).sum(axis=1) / holders.shape[1]
        assert found.of_person[found.kind[record]] == pytest.approx(held.max())
    mine = alike / alike.sum(axis=1, keepdims=True)
    chances = np.array([mine[holders[row]].sum(axis=0) for row in range(80)]) / holders.shape[1]
    broken = (found.of_person[found.kind] * k > 1 + 1e-9) | (chances.max(axis=0) * k > 1 + 1e-9)
    assert found.above == broken.sum() > 0


def test_a_share_too_many(even):
    codes, k, released, holders, seat = even
    row = int(np.flatnonzero((holders != holders[:, :1]).any(axis=1))[0])
    holders = holders.copy()
    holders[row] = holders[row, 0]
    found = stated(codes, k, released, holders, seat)
    assert not found.holds
    assert found.uneven > 0


def test_a_chance_above_1_over_k(even):
    codes, k, released, holders, seat = even
    found = stated(codes, k * 2, released, holders, seat)
    assert not found.holds
    assert found.above > 0
    assert (found.unfit, found.uneven, found.unseated) == (0, 0, 0)


def test_a_row_that_does_not_fit(even):
    codes, k, released, holders, seat = even
    exact = tuple(np.eye(*levels.shape, dtype=bool) for levels in released.levels)
    shown = replace(released, levels=exact)
    found = stated(codes, k, shown, holders, seat)
    assert not found.holds
    assert found.unfit > 0


def test_a_seat_without_a_chance(even):
    codes, k, released, holders, seat = even
    found = stated(codes, k, released, holders, np.roll(seat, 1))
    assert not found.holds
    assert found.unseated > 0


def test_the_tightest_row_by_definition(even):
    """The mean chance of the rows that fit and allow the fewest combinations."""
    codes, _, released, holders, seat = even
    n = len(seat)
    chance = np.zeros((n, n))
    alike = (codes[:, :, None] == codes[:, None, :]).all(axis=0) & (even[1][:, None] == even[1])
    for row, records in enumerate(holders):
        for record in records:
            chance[alike[record], row] += 1 / alike[record].sum() / holders.shape[1]
    allowed = [levels[cell][:, code].T for cell, levels, code in zip(
        released.cell, released.levels, codes, strict=True
    )]  # fmt: skip
    combinations = released.sizes().prod(axis=0)
    expected = []
    for person, fit in enumerate(np.all(allowed, axis=0)):
        tight = fit & (combinations == combinations[fit].min())
        expected.append(chance[person, tight].mean())
    found = stated(*even)
    assert found.tightest[found.kind].tolist() == pytest.approx(expected)
