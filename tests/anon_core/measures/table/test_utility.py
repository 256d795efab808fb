"""What cells lose by width: the paper's sum, by hand, and beside the makers' own count."""

import numpy as np
import pytest

from anon_core.anonymizers import Optimal
from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import ReleasedCells
from anon_core.measures.table.codebook.levels import column_levels, source_levels
from anon_core.measures.table.utility import widths_lost
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from anon_core.tables.cells import write_cells
from anon_core.tables.loss import WHOLE_CELL_LOSS, loss_table

AGES = np.array([1.0, 2.0, 4.0, 8.0, 9.0, np.nan, 6.0, 3.0])
CITIES = np.array([*"abcdabcd"], dtype=object)


def numbers(**settings):
    return ColumnSpec(name="x", kind="numeric", encoding="ordinal", **settings)


def lost(spec, values, cells):
    """What each of these cells loses."""
    levels, _ = column_levels(spec, values)
    return [
        widths_lost([levels], ReleasedCells.of([read_cells(levels, [cell])]))[0] for cell in cells
    ]


def test_the_optimum_of_liang_and_samavi_loses_what_they_print():
    """Table 2a, k = 3: 19.266129, read from the released cells."""
    from tests.support.fars import FARS, fars

    made = Optimal(method="exact").anonymize(fars())
    values = np.array(FARS, dtype=np.float64)
    names = ("AGE", "SEX", "INJ_SEV", "DRINKING")
    specs = [ColumnSpec(name=name, kind="numeric", encoding="ordinal", bins=None) for name in names]
    levels, _ = source_levels(specs, dict(zip(names, values.T, strict=True)))
    cells = write_cells(made.table, made.hidden)
    released = ReleasedCells.of([read_cells(each, cells[each.name].tolist()) for each in levels])
    assert widths_lost(levels, released).sum() == pytest.approx(19.266129, abs=1e-6)


@pytest.mark.parametrize(
    ("spec", "values", "cells", "losses"),
    [
        (numbers(), AGES, ["2", "2..8", "*", "(missing)", "?"], [0, 6 / 8, 1, 0, 1]),
        (numbers(range=(0.0, 20.0)), AGES, ["2..8", "1..9", "(missing)..2"], [0.3, 0.4, 1]),
        (numbers(bins=(3.0, 6.0)), AGES[:5], ["..3", "..6", "*"], [0, 0.5, 1]),
        (numbers(bins=(3.0, 6.0), range=(1.0, 11.0)), AGES[:5], ["..6", "*"], [0.25, 0.65]),
        (ColumnSpec(name="x", kind="categorical"), CITIES, ["a", "a|c", "*"], [0, 1 / 4, 3 / 4]),
        (
            ColumnSpec(name="x", kind="categorical", encoding="ordinal", order=(*"abcd",)),
            CITIES,
            ["a..b", "b..d"],
            [1 / 3, 2 / 3],
        ),
    ],
)
def test_cells_lose_their_width(spec, values, cells, losses):
    assert lost(spec, values, cells) == pytest.approx(losses)


@pytest.mark.parametrize("bounds", [None, (0.0, 20.0)])
@pytest.mark.parametrize("bins", [None, 3, (2.5, 5.0)])
@pytest.mark.parametrize("missing", [False, True])
def test_makers_and_judge_count_the_same_widths(bounds, bins, missing):
    spec = numbers(bins=bins, range=bounds)
    values = AGES if missing else AGES[~np.isnan(AGES)]
    book = encoding.fit([spec], {"x": values})
    table = loss_table(book, "range")
    levels, _ = column_levels(spec, values)
    for low in range(len(levels.labels)):
        for high in range(low + 1, len(levels.labels)):
            allowed = np.zeros((1, len(levels.labels)), dtype=np.bool_)
            allowed[0, low : high + 1] = True
            released = ReleasedCells(np.zeros((1, 1), dtype=np.int32), (allowed,))
            theirs = (
                min(table.whole[0], table.position[high] - table.position[low]) / WHOLE_CELL_LOSS
            )
            assert widths_lost([levels], released)[0] == pytest.approx(theirs, abs=1e-8)


def test_the_order_of_rows_decides_no_digit():
    levels, level = column_levels(numbers(range=(0.0, 7.0 * 13)), np.arange(1.0, 60))
    rng = np.random.default_rng(4)
    allowed = np.triu(np.ones((59, 59), dtype=np.bool_))
    once = widths_lost([levels], ReleasedCells(level[None], (allowed,)))
    shuffled = rng.permutation(59)
    place = np.argsort(shuffled).astype(np.int32)
    again = widths_lost([levels], ReleasedCells(place[level][None], (allowed[shuffled],)))
    assert once == again


def test_values_outside_the_range_are_refused_on_both_sides():
    from anon_core.errors import InputError

    spec = numbers(range=(2.0, 8.0))
    with pytest.raises(InputError, match=r"column 'x': 2 values lie outside range; widen it"):
        encoding.fit([spec], {"x": AGES})
    with pytest.raises(InputError, match="column 'x' has values outside range"):
        column_levels(spec, AGES)
