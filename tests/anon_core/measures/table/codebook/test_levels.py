"""The auditor's levels: their definition by hand, and the same as the makers' encoder finds."""

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anon_core.errors import InfeasibleError, InputError
from anon_core.measures.table.cells import format_cell_levels, read_cells
from anon_core.measures.table.classes import index_distinct_columns
from anon_core.measures.table.codebook.codebook import is_exact_codebook
from anon_core.measures.table.codebook.levels import (
    MISSING_TEXT,
    column_levels,
    source_levels,
    without_missing,
)
from anon_core.measures.table.demands import compute_demands
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.demands import Demand
from anon_core.tables import encoding
from anon_core.tables.cells import label_texts, write_cells
from anon_core.tables.codebook import codebook_to_json
from anon_core.tables.demands import resolve_demands
from tests.support.encoding import numbers, refused, tables, texts


def auditors(specs, columns, least=1, persons=None):
    """(levels, codes) of the records that the rules for missing values keep."""
    stays = without_missing(specs, columns, len(columns["sure"]))
    kept = {name: of[stays] for name, of in columns.items()}
    return source_levels(specs, kept, least, None if persons is None else persons[stays])


def makers(specs, columns, least=1, persons=None):
    """The encoded table of the same records."""
    stays = encoding.find_complete_records(specs, columns)
    kept = {name: values[stays] for name, values in columns.items()}
    book = encoding.fit(specs, kept, least, None if persons is None else persons[stays])
    return encoding.encode(book, kept, np.ones(stays.sum(), dtype=np.int64))


# ---------------------------------------------------------------- beside the makers


@given(tables(most_records=16), st.integers(1, 9), st.data())
def test_codebook_and_levels_equal_the_makers(table, least, data):
    specs, columns = table
    assume(encoding.find_complete_records(specs, columns).any())
    n = len(columns["sure"])
    who = st.one_of(st.none(), st.lists(st.integers(0, 12), min_size=n, max_size=n).map(np.array))
    persons = data.draw(who)
    try:
        made = makers(specs, columns, least, persons)
    except InputError:
        with pytest.raises(InputError):
            auditors(specs, columns, least, persons)
        return
    levels, codes = auditors(specs, columns, least, persons)
    assert (codes == made.codes).all()
    assert codes.dtype == made.codes.dtype
    book = made.codebook
    assert is_exact_codebook(json.loads(json.dumps(codebook_to_json(book))), levels)
    assert sum(each.features for each in levels) == book.features
    assert [each.ordinal for each in levels] == book.ordinal.tolist()
    for each, attribute in zip(levels, book.attributes, strict=True):
        assert format_cell_levels(each) == label_texts(attribute)


@given(st.integers(2, 120), st.lists(st.integers(0, 60), min_size=2, max_size=300))
def test_quantiles_equal_the_makers(groups, drawn):
    """Shares such as 7 / 100 are no float64, and their multiples may miss a whole number."""
    spec = ColumnSpec(name="a", kind="numeric", bins=groups, carry="median")
    values = np.array(drawn, dtype=float)
    levels, codes = column_levels(spec, values)
    sure = ColumnSpec(name="sure", kind="categorical")  # there must be a feature
    columns = {"a": values, "sure": texts(*map(str, range(len(drawn))))}
    attribute = encoding.fit([spec, sure], columns).attributes[0]
    assert (levels.edges, levels.numbers) == (attribute.edges, attribute.values)
    assert levels.labels == attribute.labels
    assert [levels.numbers[code] for code in codes] == [
        np.median(values[codes == code]) for code in codes
    ]


@st.composite
def demands(draw):
    """(Demand, stays, values) of every form, some of them not feasible."""
    n = draw(st.integers(1, 12))
    rule = draw(st.sampled_from(["refuse", "drop"]))
    stays = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    form = draw(st.sampled_from(["constant", "uniform", "column", "by"]))
    low = draw(st.integers(1, 8))
    if form == "constant":
        return Demand(constant=low, infeasible=rule), stays, None
    if form == "uniform":
        span = (low, low + draw(st.integers(0, 6)))
        seed = draw(st.integers(0, 2**64))
        return Demand(uniform=span, seed=seed, infeasible=rule), stays, None
    if form == "column":
        k = st.sampled_from([0.0, 1.0, 2.0, 3.0, 9.0, 2.5, np.nan, np.inf, 2.0**31, 2.0**40])
        good = st.integers(1, 10).map(float)
        wishes = draw(st.lists(good if draw(st.booleans()) else k, min_size=n, max_size=n))
        return Demand(column="wish", infeasible=rule), stays, np.array(wishes)
    groups = draw(st.lists(st.sampled_from(["a", "b", None]), min_size=n, max_size=n))
    default = draw(st.sampled_from([None, 1, 3]))
    stated = Demand(by="group", levels={"a": low}, default=default, infeasible=rule)
    return stated, stays, texts(*groups)


@given(demands())
def test_demands_equal_the_makers(drawn):
    try:
        k, kept = resolve_demands(*drawn)
    except (InputError, InfeasibleError) as refusal:
        with pytest.raises(type(refusal)):
            compute_demands(*drawn)
        return
    own, released = compute_demands(*drawn)
    assert released.tolist() == kept.tolist()
    assert own.tolist() == k.tolist()
    assert own.dtype == k.dtype


@given(tables())
def test_cells_are_read_as_the_makers_wrote_them(table):
    """An exact cell allows its own level alone, a fully masked one every level."""
    specs, columns = table
    assume(encoding.find_complete_records(specs, columns).any())
    made = makers(specs, columns)
    levels, codes = auditors(specs, columns)
    everything = np.full_like(made.bits, ~np.uint64(0))
    shown = write_cells(made, np.zeros_like(made.bits))
    hidden = write_cells(made, everything)
    for each, code in zip(levels, codes, strict=True):
        cell, allowed = read_cells(each, shown[each.name].tolist())
        assert (allowed[cell] == np.eye(len(each.labels), dtype=bool)[code]).all()
        cell, allowed = read_cells(each, hidden[each.name].tolist())
        if each.features:
            assert allowed[cell].all()


# ---------------------------------------------------------------- definitions


def test_deciles_by_hand():
    spec = ColumnSpec(name="a", kind="numeric", bins=4, encoding="ordinal", carry="median")
    levels, codes = column_levels(spec, numbers(1, 2, 3, 4, 5, 6, 7, 80))
    assert (levels.edges, levels.numbers) == ((2, 4, 6), (1.5, 3.5, 5.5, 43.5))
    assert levels.labels == ("1.5", "3.5", "5.5", "43.5")
    assert (levels.features, levels.grouped, levels.ordinal) == (3, True, True)
    assert codes.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_an_empty_group_joins_the_next():
    spec = ColumnSpec(name="a", kind="numeric", bins=(10.0, 20.0, 30.0, 40.0), carry="median")
    levels, codes = column_levels(spec, numbers(11, 20, 35, 36))
    assert (levels.edges, levels.numbers) == ((20,), (15.5, 35.5))
    assert codes.tolist() == [0, 0, 1, 1]


def test_texts_of_numbers_and_dates():
    plain, _ = column_levels(
        ColumnSpec(name="a", kind="numeric"), numbers(0.1, -3, 2.0**53, 1e300, -0.0)
    )
    assert plain.labels == ("-3", "0", "0.1", "9007199254740992.0", "1e+300")
    days = ColumnSpec(name="a", kind="date", bins=2, carry="median")
    halves, _ = column_levels(days, numbers(-1, 0, 18321, 18322))
    assert halves.labels == ("1969-12-31", "2020-02-29")


@pytest.mark.parametrize("rule", ["category", "all-hidden"])
def test_a_missing_value_is_level_0(rule):
    spec = ColumnSpec(name="a", kind="categorical", order=("z", "b", "a"), missing=rule)
    levels, codes = column_levels(spec, texts("a", None, "b", MISSING_TEXT)[:3])
    assert levels.labels == (MISSING_TEXT, "b", "a")
    assert codes.tolist() == [2, 0, 1]
    assert (levels.has_missing, levels.hide_missing) == (True, rule == "all-hidden")
    nothing, _ = column_levels(spec, texts(None, None))
    assert (nothing.labels, nothing.hide_missing) == ((MISSING_TEXT,), False)


def test_what_breaks_the_plan_is_refused_with_counts():
    def one(values, **spec):
        return lambda: column_levels(ColumnSpec(name="a", **spec), values)

    refused("has 1 missing", one(texts("zq7", None), kind="categorical", missing="refuse"))
    refused("3 distinct values", one(texts("zq7", "b", "c"), kind="binary"))
    refused("1 values that 'order'", one(texts("zq7", "b"), kind="categorical", order=("b",)))
    refused("infinite", one(numbers(1, np.inf), kind="numeric"))
    constant = {"a": texts("zq7", "zq7")}
    refused(
        "no quasi-identifier has more than one value",
        lambda: source_levels([ColumnSpec(name="a", kind="binary")], constant),
    )


def test_what_a_codebook_may_say():
    """Each entry changed, left out or added is told."""
    specs = [
        ColumnSpec(name="a", kind="numeric", bins=2, encoding="ordinal", missing="all-hidden"),
        ColumnSpec(name="b", kind="categorical"),
    ]
    columns = {"a": numbers(1, 2, 3, 4, np.nan), "b": texts(*"xyxyx")}
    levels, _ = source_levels(specs, columns)
    published = json.dumps(codebook_to_json(encoding.fit(specs, columns)))
    assert is_exact_codebook(json.loads(published), levels)
    for place, name in [(p, n) for p in (0, 1) for n in json.loads(published)["attributes"][p]]:
        for spoil in (
            lambda entry, name: entry.pop(name),
            lambda entry, name: entry.update({name: [entry[name]]}),
            lambda entry, name: entry.update({name: None}),
        ):
            document = json.loads(published)
            spoil(document["attributes"][place], name)
            assert not is_exact_codebook(document, levels), (place, name)
    for change in ({"cells": "text"}, {"least": 1}, {"attributes": None}):
        assert not is_exact_codebook({**json.loads(published), **change}, levels)
    one = json.loads(published)
    one["attributes"][0]["has_missing"] = 1
    assert not is_exact_codebook(one, levels)
    assert not is_exact_codebook(None, levels)
    assert not is_exact_codebook([], levels)


@given(
    st.integers(0, 9).flatmap(
        lambda n: st.lists(
            st.lists(st.sampled_from([-1, 0, 1, 2**30, 2**40]), min_size=n, max_size=n),
            min_size=1,
            max_size=9,
        )
    )
)
def test_distinct_columns(rows):
    matrix = np.array(rows, dtype=np.int64)
    kind, first = index_distinct_columns(matrix)
    columns = list(zip(*rows, strict=True))
    ordered = sorted(set(columns))
    assert kind.tolist() == [ordered.index(column) for column in columns]
    assert first.tolist() == [columns.index(column) for column in ordered]
