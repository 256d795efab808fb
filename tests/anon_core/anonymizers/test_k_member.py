"""k-member clustering against its definition, and the rows of its groups."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers import KMember
from anon_core.anonymizers.k_member import HISTORY
from anon_core.anonymizers.weights import feature_weights
from anon_core.errors import InfeasibleError, InputError
from anon_core.steps import State
from anon_core.tables import encoding
from anon_core.tables.cells import write_cells
from anon_core.tables.pasts import Pasts
from anon_core.tables.records import BinaryTable
from tests import naive
from tests.observers import Seen
from tests.strategies import bit_matrices, tables
from tests.support.large import big_table, traced
from tests.support.masked import blanks, features, unpack

WEIGHTS = st.sampled_from(["columns", "cells", "bits"])


def grouped(maker, table, **options):
    """The result and the number of each record's group."""
    seen = Seen()
    return maker.anonymize(table, observer=seen, **options), seen.states[-1].arrays["group"]


@given(tables(trees=False), WEIGHTS, st.randoms(use_true_random=False))
def test_groups_and_hidden_features_are_those_of_the_definition(table, weights, random):
    order = np.array(random.sample(range(table.records), table.records))
    masked, group = grouped(KMember(weights=weights), table, tie_order=order)
    x, bits = features(table), feature_weights(table.codebook, weights)[0]
    expected = naive.k_member(x[order], bits, int(table.k.max()))
    hidden = np.empty_like(x)
    for number, members in enumerate(expected):
        records = order[members]
        assert (group[records] == number).all()
        differ = (x[records] != x[records[0]]).any(axis=0)
        hidden[records] = differ | blanks(table)[records].any(axis=0)
    assert (unpack(masked.hidden, table.codebook.features) == hidden).all()
    figures = masked.steps[0].figures
    assert figures["classes"] == len(expected)
    assert figures["utility"] == pytest.approx(1 - hidden.mean())


@st.composite
def linked_tables(draw):
    """A table whose records carry one of few values; some had rows before."""
    table = draw(tables(trees=False))
    n = table.records
    value = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    before = st.none() | st.dictionaries(st.integers(0, 4), st.integers(0, 5), max_size=4)
    ways = [draw(before) for _ in range(n)]
    for own, past in zip(value, ways, strict=True):
        if past is not None:
            past.setdefault(own, 1)
    pairs = [sorted(past.items()) if past is not None else [] for past in ways]
    pasts = Pasts(
        np.array(value),
        np.cumsum([0, *map(len, pairs)]),
        np.array([j for own in pairs for j, _ in own], dtype=np.int64),
        np.array([number for own in pairs for _, number in own], dtype=np.int64),
    )
    return replace(table, pasts=pasts), value, ways


@given(linked_tables(), WEIGHTS)
def test_groups_leave_histories_as_the_definition_says(drawn, weights):
    table, value, ways = drawn
    k, bits = table.k.tolist(), feature_weights(table.codebook, weights)[0]
    capped = [
        None if past is None else {j: min(number, need) for j, number in past.items()}
        for past, need in zip(ways, k, strict=True)
    ]
    ends = table.codebook.bit_offsets.tolist()
    heaviest = max(int(bits[first:end].sum()) for first, end in itertools.pairwise(ends))
    price = round(HISTORY * heaviest)
    expected = naive.k_member(features(table), bits, max(k), (value, capped, k, price))
    _, group = grouped(KMember(weights=weights), table)
    found = [np.flatnonzero(group == number).tolist() for number in range(group.max() + 1)]
    assert found == [sorted(members) for members in expected]
    assert min(map(len, found)) >= max(k)


def test_a_group_takes_the_rows_that_a_history_needs():
    """Record 0 had a row beside one of value 1: it goes with record 3, further away than 1 and 2.

    Alone it would have one history with the rows of 1 and 2, which carry 2, and its own.
    """
    x = np.array(
        [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 1], [1, 1, 1, 0], [1, 1, 1, 1]]
    )
    table = encoding.from_bits(x, np.full(6, 2))
    value = np.array([0, 2, 2, 1, 2, 2])
    pasts = Pasts(value, np.array([0, 2, 2, 2, 2, 2, 2]), np.array([0, 1]), np.array([1, 1]))
    _, group = grouped(KMember(weights="bits"), replace(table, pasts=pasts))
    assert group[0] == group[3]
    _, group = grouped(KMember(weights="bits"), table)
    assert group[0] != group[3]


@given(tables(), WEIGHTS)
def test_records_that_never_had_a_row_ask_for_nothing(table, weights):
    fresh = replace(table, pasts=Pasts.of_values(np.arange(table.records)))
    _, group = grouped(KMember(weights=weights), table)
    assert (grouped(KMember(weights=weights), fresh)[1] == group).all()


@given(tables(), WEIGHTS)
def test_rows_of_a_group_are_equal_and_at_least_k(table, weights):
    masked, group = grouped(KMember(weights=weights), table)
    cells = write_cells(table, masked.hidden)
    rows = np.stack([column.astype(str) for column in cells.values()], axis=1)
    k = table.k.max()
    for number in range(group.max() + 1):
        (members,) = np.nonzero(group == number)
        assert k <= len(members) < max(2, 2 * k)
        assert (rows[members] == rows[members[0]]).all()


@given(bit_matrices(), WEIGHTS)
def test_weighted_utility_by_its_definition(data, weights):
    table = encoding.from_bits(*data)
    masked = KMember(weights=weights).anonymize(table)
    bits, cells = (each.astype(float) for each in feature_weights(table.codebook, weights))
    hidden = unpack(masked.hidden, table.codebook.features)
    lost = (hidden * (bits + cells)).sum() / (len(hidden) * (bits + cells).sum())  # a bit a column
    assert masked.steps[0].figures["weighted_utility"] == pytest.approx(1 - lost)


def test_a_group_grows_by_the_least_loss():
    x = np.array([[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 1, 0]])
    _, group = grouped(KMember(weights="bits"), encoding.from_bits(x, np.full(5, 2)))
    assert group.tolist() == [1, 0, 1, 0, 1]


def test_it_goes_on_from_its_step():
    table, order = big_table(300, 5, 7), np.random.default_rng(1).permutation(300)
    whole, group = grouped(KMember(), table, tie_order=order)
    state = State({"group": group}, whole.steps)
    again = KMember().anonymize(table, tie_order=order, resume=state)
    assert again.hidden.tobytes() == whole.hidden.tobytes()
    assert (again.steps, again.result_step) == (whole.steps, whole.result_step)


SPOILT = {
    "no array": lambda group: {},
    "another type": lambda group: {"group": group.astype(np.int32)},
    "too few records": lambda group: {"group": group[1:]},
    "a negative number": lambda group: {"group": group - 1},
    "a number that is missing": lambda group: {"group": group * 2},
    "a group too small": lambda group: {"group": np.arange(300)},
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT.keys())
def test_a_checkpoint_that_does_not_fit_is_refused(spoil):
    table = big_table(300, 5, 7)
    whole, group = grouped(KMember(), table)
    with pytest.raises(InputError, match="holds no groups of this table"):
        KMember().anonymize(table, resume=State(spoil(group), whole.steps))


def test_a_checkpoint_of_no_step_is_refused():
    table = big_table(300, 5, 7)
    _, group = grouped(KMember(), table)
    with pytest.raises(InputError, match="holds no groups of this table"):
        KMember().anonymize(table, resume=State({"group": group}, ()))


def test_more_rows_than_there_are_cannot_be_demanded():
    table = big_table(20, 5, 2)
    more = BinaryTable(table.codebook, table.codes, table.k + 19, table.blank)
    with pytest.raises(InfeasibleError, match="20 records demand more than 20 rows"):
        KMember().anonymize(more)


@pytest.mark.parametrize("wrong", [{"weights": "rows"}])
def test_settings_are_checked_at_birth(wrong):
    with pytest.raises(InputError):
        KMember(**wrong)


@pytest.mark.parametrize(("levels", "k"), [(3, 40), (60, 2)])
def test_stated_memory_is_an_upper_bound(levels, k):
    table, maker = big_table(4000, levels, k), KMember()
    maker.anonymize(big_table(200, 3, 2))  # compiles
    _, peak = traced(lambda: maker.anonymize(table))
    assert peak <= maker.memory(table) <= 4 * peak
