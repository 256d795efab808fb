"""Ladders and calendars: intervals, open ends, names and nodes, by their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive, Freeform, KMember, LocalSearch, Optimal
from anon_core.errors import InputError
from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.codebook.levels import column_levels
from anon_core.measures.table.codebook.shared import count_shared_levels
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.hierarchies import Hierarchy
from anon_core.tables import ladders
from anon_core.tables.cells import list_shown_cells, write_cells
from anon_core.tables.codebook import codebook_from_json, codebook_to_json
from anon_core.tables.encoding import encode, fit_codebook
from anon_core.tables.loss import loss_table
from tests import naive

LADDERS = [(1.0, 5.0, 10.0), (5.0, 20.0), (0.1, 0.5), (2.5,)]
CALENDARS = [
    ("day", "month", "quarter", "year", "decade"),
    ("month", "year"),
    ("day", "week"),
    ("week",),
    ("decade",),
]
FIRST_DAY, LAST_DAY = -719162, 2932896  # of the years 1 to 9999
MAKERS = [Adaptive(), LocalSearch(seats="even"), Freeform(), KMember(), Optimal()]


def spec_of(hierarchy, **how):
    return ColumnSpec(name="c", kind=hierarchy.kind, hierarchy=hierarchy, **how)


@st.composite
def columns(draw, most_records=9):
    """(spec, values, people): whole numbers, fractions, dates; some are missing."""
    size = draw(st.integers(2, most_records))
    ladder = draw(st.sampled_from([*LADDERS, None]))
    if ladder is None:
        hierarchy = Hierarchy(calendar=draw(st.sampled_from(CALENDARS)))
        first = draw(st.sampled_from([FIRST_DAY, -800, 19700, LAST_DAY - 700]))
        numbers = st.integers(first, first + 700).map(float)
    else:
        hierarchy = Hierarchy(ladder=ladder)
        numbers = draw(
            st.sampled_from(
                [
                    st.integers(-30, 30).map(float),
                    st.integers(-30, 30).map(lambda number: number / 10),
                    st.just(4.0),
                ]
            )
        )
    values = draw(st.lists(numbers | st.just(np.nan), min_size=size, max_size=size))
    people = draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))
    return spec_of(hierarchy), np.array(values), np.array(people)


def fitted(spec, values, least=1, people=None):
    """The codebook of the column beside one that is different for half of the records."""
    half = np.array([str(place % 2) for place in range(len(values))], dtype=object)
    data = {"c": values, "half": half}
    book = fit_codebook([spec, ColumnSpec(name="half", kind="binary")], data, least, people)
    return book.codebook, data


def encoded(spec, values, k):
    book, data = fitted(spec, values, k)
    return encode(book, data, np.full(len(values), k))


def name_interval(spec, present, step, number, *, low=False, high=False):
    """The text of the interval of a step that holds a number, with open ends."""
    if spec.hierarchy.calendar:
        name = naive.name_of_day(int(number), step)
        return ".." if low and high else ".." * low + name + ".." * high
    whole = spec.hierarchy.ladder[0] % 1 == 0 and all(each % 1 == 0 for each in present)
    ends = naive.interval_of_step(number, step, whole=whole)
    texts = [str(int(end)) if end % 1 == 0 else repr(end) for end in ends]
    if ends[0] == ends[1] and not low and not high:
        return texts[0]
    return "..".join(
        "" if opened else text for opened, text in zip((low, high), texts, strict=True)
    )


def define_levels(spec, present, people, least):
    """Labels, and the name of each node by its levels, of the numbers that are given."""
    coarser = (spec.hierarchy.calendar or spec.hierarchy.ladder)[::-1]

    def leaf(number):
        own = name_interval(spec, present, coarser[-1], number)
        return min(n for n in present if name_interval(spec, present, coarser[-1], n) == own)

    groups = naive.join_outer_leaves([leaf(number) for number in present], people, least)
    tells = [
        group[-1] if place < len(groups) - 1 else group[0] for place, group in enumerate(groups)
    ]
    opens = len(groups[0]) > 1, len(groups[-1]) > 1
    nodes = {}
    for step in coarser:
        closed = [name_interval(spec, present, step, tell) for tell in tells]
        labels = [
            name_interval(
                *(spec, present, step, tell),
                low=opens[0] and name == closed[0],
                high=opens[1] and name == closed[-1],
            )
            for tell, name in zip(tells, closed, strict=True)
        ]
        if step != coarser[-1]:
            for label in set(labels):
                nodes[tuple(at for at, each in enumerate(labels) if each == label)] = label
    return labels, nodes


@pytest.mark.long
@given(drawn=columns(), least=st.integers(1, 4), several=st.booleans())
def test_levels_and_nodes_are_those_of_the_definition(drawn, least, several):
    spec, values, people = drawn
    given_ones = ~np.isnan(values)
    who = people if several else np.arange(len(values))
    attribute = fitted(spec, values, least, people if several else None)[0].attributes[0]
    shift = int(attribute.has_missing)
    if not given_ones.any():
        assert attribute.nodes == ()
        return
    labels, nodes = define_levels(
        spec, values[given_ones].tolist(), who[given_ones].tolist(), least
    )
    assert list(attribute.labels[shift:]) == labels
    expected = {
        (levels[0] + shift, levels[-1] + shift): name
        for levels, name in nodes.items()
        if 1 < len(levels) < attribute.levels
    }
    assert {(low, high): name for name, low, high in attribute.nodes} == expected


@given(drawn=columns(), least=st.integers(1, 4), several=st.booleans())
def test_the_auditor_finds_the_same_and_enough_people_share_the_outer_levels(drawn, least, several):
    spec, values, people = drawn
    persons = people if several else None
    book, data = fitted(spec, values, least, persons)
    attribute = book.attributes[0]
    levels, level = column_levels(spec, values, least, persons)
    assert (levels.labels, levels.nodes) == (attribute.labels, attribute.nodes)
    assert (levels.numbers, levels.tree) == (attribute.values, attribute.whole)
    assert level.tolist() == encode(book, data, np.ones(len(values), int)).codes[0].tolist()
    entry = codebook_to_json(book)["attributes"][0]
    counts = count_shared_levels(spec, entry, values, least, persons)
    all_people = len(set(people.tolist())) if several else len(values)
    given_ones = int((~np.isnan(values)).sum())
    if given_ones == len(values) and all_people >= least:
        assert counts.few == 0
    assert codebook_from_json(codebook_to_json(book)) == book


@pytest.mark.long
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__class__.__name__)
@given(drawn=columns(), k=st.integers(1, 3))
def test_every_method_shows_the_smallest_node_of_some_levels(maker, drawn, k):
    spec, values, _ = drawn
    table = encoded(spec, values, min(k, len(values)))
    attribute = table.codebook.attributes[0]
    made = maker.anonymize(table)
    (shown, _), texts = list_shown_cells(table, made.hidden), write_cells(table, made.hidden)["c"]
    levels, _ = column_levels(spec, values, min(k, len(values)))
    cell, allowed = read_cells(levels, texts.tolist())
    everyone = tuple(range(attribute.levels))
    for row, code in enumerate(table.codes[0]):
        meant = shown.levels[shown.cell[row]]
        meant = everyone if meant is None else meant
        assert code in meant
        assert naive.smallest_node(attribute.levels, attribute.nodes, meant) == set(meant)
        assert tuple(np.flatnonzero(allowed[cell[row]]).tolist()) == meant, texts[row]


def test_names_are_those_that_people_know():
    ages = np.array([17, 18, 22, 31, 38, 39, 44, 90, 91], dtype=float)
    attribute = fitted(spec_of(Hierarchy(ladder=(5.0, 10.0, 20.0))), ages, 2)[0].attributes[0]
    assert attribute.labels == ("15..19", "20..24", "30..34", "35..39", "40..44", "90..94")
    assert attribute.nodes == (("30..39", 2, 3), ("20..39", 1, 3))
    assert attribute.values[0] == (15.0, 19.0)
    alone = fitted(spec_of(Hierarchy(ladder=(1.0, 10.0))), ages, 2)[0].attributes[0]
    assert alone.labels == ("..18", "22", "31", "38", "39", "44", "90..")
    cents = fitted(spec_of(Hierarchy(ladder=(0.1, 0.5))), np.array([0.3, 0.31, 0.6]))[0]
    assert cents.attributes[0].labels == ("0.3..0.4", "0.6..0.7")
    days = np.array(["2024-02-29", "2024-03-01", "2024-05-05", "2031-12-31"], dtype="M8[D]")
    dates = spec_of(Hierarchy(calendar=("month", "quarter", "year", "decade")))
    attribute = fitted(dates, days.astype(float))[0].attributes[0]
    assert attribute.labels == ("2024-02", "2024-03", "2024-05", "2031-12")
    assert attribute.nodes == (("2024-Q1", 0, 1), ("2024", 0, 2))
    assert attribute.whole[:3] == (
        ("2020s", "decade", 0, 2), ("2024", "year", 0, 2), ("2024-Q1", "quarter", 0, 1)
    )  # fmt: skip
    weeks = fitted(spec_of(Hierarchy(calendar=("day", "week"))), days.astype(float))[0]
    assert weeks.attributes[0].nodes == (("2024-W09", 0, 1),)


def test_a_number_on_a_bound_belongs_to_the_interval_above():
    spec = spec_of(Hierarchy(ladder=(5.0, 10.0)))
    book, data = fitted(spec, np.array([2.5, 5.0, 7.5, 10.0]))
    assert book.attributes[0].labels == ("0..5", "5..10", "10..15")
    assert encode(book, data, np.ones(4, int)).codes[0].tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize("loss", ["rank", "range", "binary"])
def test_a_node_loses_its_width_or_its_levels(loss):
    values = np.array([0.0, 1.0, 9.0, 25.0])
    book, _ = fitted(spec_of(Hierarchy(ladder=(1.0, 5.0, 10.0)), range=(0.0, 50.0)), values)
    assert book.attributes[0].nodes == (("0..4", 0, 1), ("0..9", 0, 2))
    prices = loss_table(book, loss)
    shares = np.array([1, 2, 3]) / 3 if loss == "rank" else np.array([1, 9, 25]) / 50
    assert prices.node[:7].tolist() == [0, 0, 0, 0, *np.round(prices.whole[0] * shares)]


def test_numbers_too_far_for_a_step_are_counted_and_refused():
    values = np.array([1e18, 2.0, 3.0])
    with pytest.raises(InputError, match="1 distinct values are too far from 0") as caught:
        fitted(spec_of(Hierarchy(ladder=(1.0,))), values)
    assert "1e" not in str(caught.value)
    with pytest.raises(InputError, match="too far from 0"):
        column_levels(spec_of(Hierarchy(ladder=(1.0,))), values)


def test_outer_intervals_of_few_people_are_found(monkeypatch):
    """A maker that shows the greatest number of one person."""
    monkeypatch.setattr(ladders, "find_outer_ends", lambda place, count, *_: [*range(1, count + 1)])
    spec = spec_of(Hierarchy(ladder=(1.0, 10.0)))
    ages = np.array([20.0] * 5 + [31.0] * 5 + [99.0])
    book, _ = fitted(spec, ages, 5)
    entry = codebook_to_json(book)["attributes"][0]
    assert count_shared_levels(spec, entry, ages, 5).few == 1
    assert column_levels(spec, ages, 5)[0].labels == ("20", "31..")


def test_a_number_on_a_bound_counts_for_the_level_above_it_only():
    """A lowest level of one person, beside one that begins at its bound."""
    spec = spec_of(Hierarchy(ladder=(5.0, 10.0)))
    values = np.array([2.5, 5.0, 5.0, 5.0, 7.5, 7.5])
    entry = {"labels": ["0..5", "5..10"], "has_missing": False, "values": [[0, 5], [5, 10]]}
    counts = count_shared_levels(spec, entry, values, 3)
    assert (counts.levels, counts.few) == (2, 1)
