"""Assignments of shares: even as before, and never hiding more."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from anon_core.anonymizers import Adaptive
from anon_core.anonymizers.weights import feature_weights
from anon_core.errors import InputError
from anon_core.seating.even import build_even_rows
from anon_core.seating.exchanges import reassigning
from anon_core.tables.demands import of_people
from tests.drawn import drawn
from tests.support.seats import check_even, few_levels


def cost(table, rows, weights):
    """What all rows hide, by definition: features, and the first of each cell in addition."""
    flags = np.unpackbits(rows.hidden.view(np.uint8), axis=1, bitorder="little")
    flags, total = flags[:, : table.codebook.features], 0
    for a, (first, end) in enumerate(
        zip(table.codebook.bit_offsets[:-1], table.codebook.bit_offsets[1:], strict=True)
    ):
        part = flags[:, first:end]
        total += int((part * weights[0][first:end].astype(np.int64)).sum())
        total += int(part.any(axis=1).sum()) * int(weights[1][a])
    return total


@given(few_levels())
def test_seats_stay_even_and_rows_hide_no_more(table):
    weights = feature_weights(table.codebook, "cells")
    hidden = np.zeros_like(table.bits)
    before, after = (build_even_rows(table, hidden, weights, passes) for passes in (0, 2))
    check_even(table, after)
    assert cost(table, after, weights) <= cost(table, before, weights)


def test_segments_of_any_length_stay_even_and_more_passes_hide_less(monkeypatch):
    table = drawn(60, 4, seed=2, levels=30)
    weights = feature_weights(table.codebook, "columns")
    hidden, costs = np.zeros_like(table.bits), []
    for segment, passes in ((500, 0), (7, 2), (500, 2)):
        monkeypatch.setattr(reassigning, "SEGMENT", segment)
        rows = build_even_rows(table, hidden, weights, passes)
        check_even(table, rows)
        costs.append(cost(table, rows, weights))
    assert costs[2] < costs[0]
    assert costs[1] <= costs[0]


def test_passes_are_refused_where_they_mean_nothing():
    with pytest.raises(InputError, match="even"):
        Adaptive(seats="matchable", passes=1)
    table = replace(drawn(20, 2))
    owned = of_people(table, np.arange(20) // 2)
    with pytest.raises(InputError, match="leave passes at 0"):
        Adaptive(seats="even", passes=1).admit(owned)
