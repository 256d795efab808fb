"""What crowds tell, against the definitions and against tables that others published."""

import json
import math
from collections import Counter
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import crowds, records_per_row
from anon_core.measures.table.diversity import measure_diversity
from anon_core.specs.demands import MOST_L
from anon_core.tables import encoding
from anon_core.tables.records import Attribute, Codebook
from tests import naive
from tests.strategies import tables
from tests.support.auditing import random_release

GOLDEN = Path(__file__).parents[3] / "golden"


def book_of(columns):
    """One attribute a column, its levels the column's distinct texts."""
    labels = [tuple(sorted(set(column))) for column in columns]
    return Codebook(
        tuple(
            Attribute(name=f"c{a}", kind="categorical", encoding="one-hot", labels=l)
            for a, l in enumerate(labels)
        )
    )


def codes_of(book, columns):
    return np.array(
        [
            [a.labels.index(text) for text in column]
            for a, column in zip(book.attributes, columns, strict=True)
        ],
        dtype=np.int32,
    )


@given(tables(most_records=10), st.booleans(), st.data())
def test_diversity_is_that_of_the_definitions(table, ordered, data):
    released, fit = random_release(data, table)
    texts = data.draw(hnp.arrays(np.int64, table.records, elements=st.integers(0, 4)))
    names, values = np.unique(texts, return_inverse=True)
    classes = Classes.of(table.codes, released)
    found = measure_diversity(classes, values, ordered=ordered)
    seen = [[count for _, count in crowd] for crowd in naive.crowd_values(fit, values)]
    assert found.distinct.tolist() == [len(counts) for counts in seen]
    assert found.effective == pytest.approx([naive.entropy_l(counts) for counts in seen])
    for l in range(2, MOST_L + 1):
        assert found.odds[l - 2] == max(naive.recursive_odds(counts, l) for counts in seen)
    share = np.bincount(values) / table.records
    for record, crowd in enumerate(naive.crowd_values(fit, values)):
        held = np.array([dict(crowd).get(v, 0) for v in range(len(names))]) / fit[record].sum()
        assert found.distance[record] == pytest.approx(
            naive.earth_movers_distance(held, share, ordered), abs=1e-7
        )
    assert records_per_row(classes).tolist() == fit.sum(axis=0).tolist()
    assert classes.rows_in[classes.row_class].tolist() == [
        sum(
            (released.cell[:, row] == released.cell[:, other]).all()
            for other in range(table.records)
        )
        for row in range(table.records)
    ]


def test_neither_threads_nor_the_order_of_rows_change_a_digit():
    draws = np.random.default_rng(4)
    columns = draws.integers(0, 4, (5, 600)).astype(str).tolist()
    book = book_of(columns)
    codes = codes_of(book, columns)
    hidden = draws.random((5, 600)) < 0.3
    values = draws.integers(0, 60, 600)
    values = np.unique(values, return_inverse=True)[1]
    found = []
    for threads in (1, 2):
        before = numba.get_num_threads()
        numba.set_num_threads(min(threads, before))
        try:
            rows = draws.permutation(600)
            cells = [
                np.where(h, "*", c)[rows].tolist() for h, c in zip(hidden, columns, strict=True)
            ]
            released = ReleasedCells.of(
                [read_cells(a, c) for a, c in zip(book.attributes, cells, strict=True)]
            )
            for ordered in (False, True):
                one = measure_diversity(Classes.of(codes, released), values[rows], ordered=ordered)
                found.append(
                    [
                        each.tolist()
                        for each in (one.distinct, one.effective, one.distance, one.odds)
                    ]
                )
        finally:
            numba.set_num_threads(before)
    assert found[0] == found[2]
    assert found[1] == found[3]


def test_a_record_that_fits_no_row_has_no_crowd():
    book = book_of([["a", "b"]])
    released = ReleasedCells.of([read_cells(book.attributes[0], ["a", "a"])])
    classes = Classes.of(np.array([[0, 1]], dtype=np.int32), released)
    found = measure_diversity(classes, np.array([0, 1]), ordered=False)
    assert found.distinct.tolist() == [2, 0]
    assert found.effective.tolist() == [2.0, 0.0]
    assert found.distance.tolist() == [0.0, 1.0]
    assert np.isinf(found.odds).all()
    assert measure_diversity(classes, np.array([0, 1]), ordered=True).distance.tolist() == [
        0.0,
        1.0,
    ]


def test_equal_shares_are_worth_their_number():
    """Entropy l-diversity of l equally frequent values is l, up to the rounding of a limit."""
    for l in range(1, 200):
        book = book_of([["a"] * l])
        released = ReleasedCells.of([read_cells(book.attributes[0], ["a"] * (3 * l))])
        classes = Classes.of(np.zeros((1, 1), dtype=np.int32), released)
        assert measure_diversity(classes, np.arange(3 * l) % l, ordered=False).effective[
            0
        ] == pytest.approx(l, rel=1e-12)


# ---------------------------------------------------------------- tables that others published


@pytest.mark.parametrize(
    "table", json.loads((GOLDEN / "wildcards.json").read_text()), ids=["sex", "region", "tumour"]
)
def test_wildcards_are_counted_as_arx_counts_them(table):
    """ARX masks records, too: here a masked record has a further level that every cell allows."""
    rows = table["rows"]
    plain = [
        sum(all(a == b or "*" in (a, b) for a, b in zip(r, o, strict=True)) for o in rows)
        for r in rows
    ]
    assert plain == table["meets"]
    columns = list(zip(*rows, strict=True))
    book = book_of(columns)
    read = []
    for attribute, column in zip(book.attributes, columns, strict=True):
        allowed = np.array(
            [
                [cell in (label, "*") or label == "*" for label in attribute.labels]
                for cell in column
            ]
        )
        read.append((np.arange(len(rows), dtype=np.int32), allowed))
    released = ReleasedCells.of(read)
    found = crowds(codes_of(book, columns), np.ones(len(rows), dtype=np.int32), released, None)
    assert found.compatible.tolist() == table["meets"]
    assert records_per_row(Classes.of(codes_of(book, columns), released)).tolist() == table["meets"]


def hospital():
    table = json.loads((GOLDEN / "hospital.json").read_text())
    columns = list(zip(*table["quasi"], strict=True))
    book = book_of(columns)
    codes = codes_of(book, columns)
    released = ReleasedCells.of(
        [
            (code, np.eye(a.levels, dtype=np.bool_))
            for code, a in zip(codes, book.attributes, strict=True)
        ]
    )
    return table, book, codes, released


def test_equivalence_classes_give_the_numbers_of_pycanon():
    """If crowds are equivalence classes, k, l and t are those of checkers that compare text."""
    table, _, codes, released = hospital()
    disease = table["disease"]
    groups = {}
    for key, value in zip(map(tuple, table["quasi"]), disease, strict=True):
        groups.setdefault(key, []).append(value)
    whole = Counter(disease)
    classes = Classes.of(codes, released)
    values = np.unique(disease, return_inverse=True)[1]
    found = measure_diversity(classes, values, ordered=False)
    assert classes.rows_in.min() == min(map(len, groups.values())) == 2
    assert found.distinct.min() == min(len(set(group)) for group in groups.values()) == 1
    entropies = [naive.entropy_l(Counter(group).values()) for group in groups.values()]
    assert found.effective.min() == pytest.approx(min(entropies))
    assert int(found.effective.min() + 1e-9) == 1
    t = max(
        sum(abs(Counter(group)[value] / len(group) - whole[value] / 13) for value in whole) / 2
        for group in groups.values()
    )
    assert found.distance.max() == pytest.approx(t)
    assert found.distance.max() == pytest.approx(
        1 - 5 / 13
    )  # the class of three cancers; five of thirteen have one
    assert found.odds[0] == math.inf
    matched = crowds(codes, np.full(13, 2, dtype=np.int32), released, np.arange(13))
    assert (
        matched.compatible.tolist()
        == matched.matchable.tolist()
        == classes.rows_in[classes.row_class].tolist()
    )
    assert matched.below_k == 0
    assert matched.surplus.tolist() == [0, 0, 0, 0] + [1] * 9


def test_ordered_distance_of_the_paper_on_closeness():
    """Li et al., t-Closeness, salaries 3k .. 11k: {3k, 4k, 5k} 0.375, {6k, 8k, 11k} 0.167."""
    classes_of_three = [[0, 1, 2], [3, 5, 8], [4, 6, 7]]
    columns = [[str(group) for group in range(3) for _ in range(3)]]
    book = book_of(columns)
    codes = codes_of(book, columns)
    released = ReleasedCells.of([(codes[0], np.eye(3, dtype=np.bool_))])
    values = np.array([rank for group in classes_of_three for rank in group])
    found = measure_diversity(Classes.of(codes, released), values, ordered=True).distance
    assert found[0] == pytest.approx(0.375)
    assert found[3] == pytest.approx(1 / 6)


def test_figure_one_row_by_row():
    """Khan et al., Fig. 1: which records fit which printed row, counted by hand."""
    x = np.array(
        [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1], [1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1]]
    )
    printed = ["**00", "*000", "**11", "*011", "1*00", "0*11"]
    table = encoding.from_bits(x, np.array([3, 2, 3, 2, 2, 2]))
    cells = [[row[l] for row in printed] for l in range(4)]
    released = ReleasedCells.of(
        [read_cells(a, c) for a, c in zip(table.codebook.attributes, cells, strict=True)]
    )
    classes = Classes.of(table.codes, released)
    by_hand = [
        sum(all(m in ("*", str(bit)) for m, bit in zip(row, record, strict=True)) for record in x)
        for row in printed
    ]
    assert records_per_row(classes).tolist() == by_hand == [3, 2, 3, 2, 2, 2]
    assert (
        classes.rows_in.tolist() == [1] * 6
    )  # no two rows are written alike: k = 1 in the strict sense
