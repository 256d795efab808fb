"""Special uniques and k of few columns, by their definition."""

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InputError
from anon_core.measures.table.risks import subsets
from anon_core.measures.table.risks.subsets import group_by_subsets


@st.composite
def tables(draw):
    """(codes, most, people)."""
    columns, rows = draw(st.integers(2, 5)), draw(st.integers(1, 9))
    levels = draw(st.integers(1, 4))
    cell = st.integers(0, levels - 1)
    codes = draw(st.lists(st.lists(cell, min_size=rows, max_size=rows), min_size=columns,
                          max_size=columns))  # fmt: skip
    people = draw(st.none() | st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    return np.array(codes), draw(st.integers(1, columns - 1)), people


def people_alike(codes, people, row, columns):
    rows = range(codes.shape[1])
    alike = [r for r in rows if all(codes[c, r] == codes[c, row] for c in columns)]
    return len(alike) if people is None else len({people[r] for r in alike})


@given(tables(), st.sampled_from([0, 8]))
def test_every_set_of_columns_by_its_definition(drawn, sparse):
    codes, most, people = drawn
    columns, rows = codes.shape
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsets, "_SPARSE", sparse)  # counted or sorted
        found = group_by_subsets(codes, most, None if people is None else np.array(people))

    def singles(row, chosen):
        return people_alike(codes, people, row, chosen) == 1

    for size in range(1, most + 1):
        sets = list(combinations(range(columns), size))
        least = {of: min(people_alike(codes, people, r, of) for r in range(rows)) for of in sets}
        assert found.least[size - 1] == min(least.values())
        assert least[found.weakest[size - 1]] == found.least[size - 1]
        fewer = [of for n in range(1, size + 1) for of in combinations(range(columns), n)]
        alone = [any(singles(row, of) for of in fewer) for row in range(rows)]
        assert found.alone[size - 1] == sum(alone)
    for row in range(rows):
        minimal = [
            of
            for size in range(1, most + 1)
            for of in combinations(range(columns), size)
            if singles(row, of)
            and not any(singles(row, part) for n in range(1, size) for part in combinations(of, n))
        ]
        score = sum(prod(columns - i for i in range(len(of), most + 1)) for of in minimal)
        assert found.scores[row] == score
        assert found.minimal[:, row].tolist() == [
            sum(len(of) == size for of in minimal) for size in range(1, most + 1)
        ]


def test_a_row_of_the_literature():
    """One of four columns singles out: (4 - 1)(4 - 2) = 6; a pair adds 2."""
    codes = np.array([[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]])
    assert group_by_subsets(codes, 2).scores.tolist() == [6, 2, 2, 6]


@pytest.mark.parametrize("most", [0, -1, 3])
def test_subsets_of_all_columns_or_none_are_refused(most):
    with pytest.raises(InputError, match="below the number of quasi-identifiers, 3"):
        group_by_subsets(np.zeros((3, 4), dtype=np.int64), most)
