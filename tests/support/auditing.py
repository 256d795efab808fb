"""Releases as the auditor reads them."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_core.measures.table.attackers.attacks import tightest_rows
from anon_core.measures.table.attackers.law import judge_law
from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.tables.cells import write_cells


def released_of(table, hidden):
    cells = write_cells(table, hidden)
    return ReleasedCells.of(
        [read_cells(a, cells[a.name].tolist()) for a in table.codebook.attributes]
    )


def random_release(data, table):
    """Random sets of levels that hold the record's own, and who fits which row by definition."""
    n, cell, levels = table.records, [], []
    for attribute, own in zip(table.codebook.attributes, table.codes, strict=True):
        sets = data.draw(hnp.arrays(np.bool_, (n, attribute.levels)))
        sets[np.arange(n), own] = True
        if data.draw(st.booleans()):
            sets = sets == (np.arange(attribute.levels) == own[:, None])  # fewer distinct cells
            sets[np.arange(n), own] = True
        distinct, index = np.unique(sets, axis=0, return_inverse=True)
        cell.append(index.reshape(-1).astype(np.int32))
        levels.append(distinct)
    fit = np.array(
        [
            [
                all(
                    l[c[row], code[v]] for l, c, code in zip(levels, cell, table.codes, strict=True)
                )
                for row in range(n)
            ]
            for v in range(n)
        ]
    )
    return ReleasedCells(np.stack(cell), tuple(levels)), fit


def stated(codes, k, released, holders, seat, person=None):
    """The law as the auditor judges it."""
    classes = Classes.of(codes, released)
    merged = released, classes, tightest_rows(released, classes)
    return judge_law(codes, k, *merged, holders, seat, person)
