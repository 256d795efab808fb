"""Narrowed rows: holders exchange shares, seats stay even, and rows lose less and less."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers.weights import feature_weights
from anon_core.seating import even
from anon_core.seating.even import build_even_rows, narrow_even_rows, near_classes
from anon_core.seating.exchanges import narrowing
from anon_core.seating.exchanges.narrowing import EFFORTS, narrow_rows
from anon_core.seating.record_classes import RecordClasses
from anon_core.tables.loss import loss_table
from tests import naive
from tests.support.large import big_table
from tests.support.masked import unpack
from tests.support.seats import check_even, check_people, few_levels, owned

LOSSES = ("rank", "range", "binary")


def lose(table, rows, loss, *, widths):
    """What rows lose by the levels of their holders, cell by cell; a blank cell allows all."""
    total = 0
    for a, attribute in enumerate(table.codebook.attributes):
        first = table.codebook.level_offsets[a]
        place = loss.position[first : first + attribute.levels]
        for r, holders in enumerate(rows.holders):
            levels = set(table.codes[a][[r, *holders]].tolist())
            if table.blank[a, r]:
                levels = set(range(attribute.levels))
            if len(levels) == 1:
                continue
            if table.codebook.ordinal[a]:
                steps = np.abs(np.diff(place[min(levels) : max(levels) + 1]))
                total += int(np.clip(steps, 1, loss.whole[a]).sum())
            elif attribute.nodes is not None:
                held = naive.smallest_node(attribute.levels, attribute.nodes, levels)
                if widths and attribute.kind == "numeric":
                    width = int(place[max(held)] - place[min(held)])
                    total += min(width, int(loss.whole[a])) + int(loss.first[a])
                    continue
                total += round(int(loss.whole[a]) * (len(held) - 1) / (attribute.levels - 1))
            else:
                total += (len(levels) - 1) * max(1, int(loss.step[a]))
            total += int(loss.first[a])
    return total


def narrowed(table, loss, exact):
    """Rows before, and after each effort, with what they lose."""
    weights = feature_weights(table.codebook, "columns")
    prices = loss_table(table.codebook, loss, exact)
    rows = build_even_rows(table, np.zeros_like(table.bits), weights)
    widths = loss != "rank"
    yield rows, lose(table, rows, prices, widths=widths)
    classes = RecordClasses.of_table(table)
    near = classes.nearest(table, weights, near_classes(table))
    for effort in range(EFFORTS):
        made = narrow_even_rows(table, [rows.holders], weights, prices, effort)
        holders = classes.of[rows.holders].astype(np.int32)
        lost = narrow_rows(table, classes, near, holders, prices, effort)
        assert lost == lose(table, made, prices, widths=widths)
        yield made, lost


@pytest.mark.long
@given(few_levels(), st.sampled_from(LOSSES), st.sampled_from([0.0, 0.1, 3.0]))
def test_seats_stay_even_and_more_effort_never_loses_more(table, loss, exact):
    made = list(narrowed(table, loss, exact))
    for rows, _ in made:
        check_even(table, rows)
    lost = [each for _, each in made]
    assert lost == sorted(lost, reverse=True)


@pytest.mark.long
@given(owned(), st.sampled_from(LOSSES))
def test_no_person_holds_more_of_a_row_than_before(table, loss):
    made = list(narrowed(table, loss, 0.1))
    for rows, _ in made:
        check_people(table, rows.hidden, rows.holders)
    lost = [each for _, each in made]
    assert lost == sorted(lost, reverse=True)


@pytest.mark.long
@pytest.mark.parametrize("part", [64, 10**6])
def test_a_larger_table_loses_less(part, monkeypatch):
    """Also where rows exchange shares within parts only."""
    monkeypatch.setattr(narrowing, "PART", part)
    table = big_table(300, 6, 12)
    made = list(narrowed(table, "rank", 0.0))
    for rows, _ in made:
        check_even(table, rows)
    lost = [each for _, each in made]
    assert lost[0] > lost[1] >= lost[2] > lost[3] >= lost[4]


@given(few_levels())
def test_features_off_the_own_path_are_hidden_before_shares_are_exchanged(table):
    """So nobody pays for them."""
    given_up = []

    def record(of, classes, near, holders, blank, weights):
        given_up.append(blank)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(even, "swap_shares", record)
        build_even_rows(
            table, np.zeros_like(table.bits), feature_weights(table.codebook, "columns")
        )
    (blank,) = given_up
    book = table.codebook
    hidden, own = unpack(blank, book.features), unpack(table.bits, book.features)
    for place, attribute in enumerate(book.attributes):
        first, end = book.bit_offsets[place : place + 2]
        off = ~own[:, first:end] if attribute.nodes is not None else np.False_
        must = table.blank[place][:, None] | off
        assert (hidden[:, first:end] == must).all()
