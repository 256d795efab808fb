"""Codes of places and illnesses: masked cells stay within a region or a chapter where they can."""

import numpy as np
import pytest

from anon_core.anonymizers import LocalSearch
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.hierarchies import Hierarchy
from anon_core.tables.cells import write_cells
from anon_core.tables.encoding import encode, fit

RECORDS, K = 4000, 5
TREES = {"zip": Hierarchy(prefix=(4, 3, 1)), "icd": Hierarchy(prefix=(2, 1))}


def draw_people():
    """4,000 people: 90 ZIP codes of three regions, 64 illnesses of eight chapters, age and sex."""
    rng = np.random.default_rng(38)
    zips = [f"{region}0{place}{end}0" for region in "169" for place in "012345" for end in "01234"]
    ills = [f"{chapter}{group}{end}" for chapter in "ACEFIJKM" for group in "1234" for end in "05"]
    region, decade = rng.integers(0, 3, RECORDS), rng.integers(0, 9, RECORDS)
    place = 30 * region + (30 * rng.random(RECORDS) ** 2).astype(int)  # some places are large
    ill = (7 * decade + 24 * rng.random(RECORDS) ** 1.5).astype(int) % 64  # each age has its own
    ages = [f"{10 * each}s" for each in range(9)]
    columns = {
        name: np.array(of, dtype=object)[at]
        for name, of, at in (("zip", zips, place), ("icd", ills, ill), ("age", ages, decade))
    }
    columns["sex"] = rng.choice(np.array(["f", "m"], dtype=object), RECORDS)
    assert [len(set(values)) for values in columns.values()] == [90, 64, 9, 2]
    return columns


def release(columns, trees):
    """Who holds which row, and the cells."""
    specs = [
        ColumnSpec(name=name, kind="categorical", hierarchy=trees.get(name)) for name in columns
    ]
    table = encode(fit(specs, columns), columns, np.full(RECORDS, K))
    made = LocalSearch(seats="even").anonymize(table)
    return made.holders, write_cells(table, made.hidden)


@pytest.mark.slow
def test_no_cell_joins_regions_where_a_prefix_of_the_region_fits():
    columns = draw_people()
    holders, cells = release(columns, TREES)
    for name in TREES:
        begins = np.array([code[0] for code in columns[name]])
        of_one = (begins[holders] == begins[:, None]).all(axis=1)
        assert not (of_one & (cells[name] == "*")).any()
        assert (cells[name] != columns[name]).any()
    # No cell joins regions at all; of the sets of ZIP codes without a tree 97 % do.
    assert "*" not in cells["zip"]
    _, sets = release(columns, {})
    masked = [cell for cell in sets["zip"] if "|" in cell or cell == "*"]
    apart = [cell for cell in masked if len({part[0] for part in cell.split("|")}) > 1]
    assert len(apart) > 0.9 * len(masked)
