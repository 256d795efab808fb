"""Trees over levels: nodes, features, cells and losses, by their definitions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive, Freeform, KMember, LocalSearch, Optimal
from anon_core.errors import InputError
from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.codebook.levels import column_levels
from anon_core.measures.table.codebook.native import texts_in_form, texts_of_lists
from anon_core.measures.table.utility import shares_by_level
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.hierarchies import Floor, Hierarchy
from anon_core.tables.cells import list_shown_cells, write_cells
from anon_core.tables.codebook import codebook_from_json, codebook_to_json
from anon_core.tables.encoding import decode_levels, encode, fit
from anon_core.tables.loss import WHOLE_CELL_LOSS, loss_table
from anon_core.tables.records import BinaryTable, Codebook, pack_levels
from anon_core.tables.trees import fit_tree
from tests import naive

MAKERS = [
    Adaptive(),
    Adaptive(seats="even"),
    LocalSearch(seats="even"),
    Freeform(),
    Freeform(method="hungarian"),
    KMember(),
    Optimal(),
]


@st.composite
def hierarchies(draw):
    """Leaves a .. h below nodes of up to three levels."""
    paths = {}
    for leaf in "abcdefgh":
        one = draw(st.integers(0, 2))
        two = draw(st.integers(0, 1))
        paths[leaf] = draw(
            st.sampled_from([(f"n{one}", f"n{one}.{two}", leaf), (f"n{one}", leaf), (leaf,)])
        )
    return Hierarchy(paths)


@st.composite
def columns(draw, most_records=8):
    """(hierarchy, values): some may be missing."""
    tree = draw(hierarchies())
    size = draw(st.integers(2, most_records))
    values = draw(st.lists(st.sampled_from([*"abcdefgh", None]), min_size=size, max_size=size))
    return tree, np.array(values, dtype=object)


def spec_of(tree, cells="node"):
    return ColumnSpec(name="c", kind="categorical", hierarchy=tree, cells=cells)


def encoded(tree, values, k, cells="node"):
    """The column beside one that is different for half of the records."""
    specs = [spec_of(tree, cells), ColumnSpec(name="half", kind="binary")]
    half = np.array([str(place % 2) for place in range(len(values))], dtype=object)
    data = {"c": values, "half": half}
    return encode(fit(specs, data), data, np.full(len(values), k))


@given(columns())
def test_nodes_are_those_of_the_paths_that_hold_several_levels(drawn):
    tree, values = drawn
    attribute = encoded(tree, values, 1).codebook.attributes[0]
    held = {}
    for level, label in enumerate(attribute.labels):
        if level >= attribute.has_missing:
            path = tree.path_of(label)
            for depth in range(1, len(path)):
                held.setdefault(path[:depth], set()).add(level)
    spans = {frozenset(levels) for levels in held.values() if 1 < len(levels) < attribute.levels}
    found = {frozenset(range(low, high + 1)) for _, low, high in attribute.nodes}
    assert found == spans
    assert len(attribute.nodes) == len(spans)
    # Of nodes that hold the same levels the innermost one gives the name.
    names = {frozenset(held[path]): path[-1] for path in sorted(held, key=len)}
    for name, low, high in attribute.nodes:
        assert names[frozenset(range(low, high + 1))] == name


@given(columns())
def test_the_whole_tree_has_each_node_with_its_level(drawn):
    tree, values = drawn
    attribute = encoded(tree, values, 1).codebook.attributes[0]
    held = {}  # filled level by level, so the outer node of a level comes first
    for level in range(attribute.has_missing, attribute.levels):
        path = tree.path_of(attribute.labels[level])
        for depth in range(1, len(path)):
            held.setdefault(path[:depth], []).append(level)
    expected = [(path[-1], str(len(path)), own[0], own[-1]) for path, own in held.items()]
    assert [*attribute.whole] == expected
    levels, _ = column_levels(spec_of(tree), values)
    assert levels.tree == attribute.whole


def test_levels_are_named_by_letters_by_the_file_or_by_depth():
    codes = Hierarchy(prefix=(4, 3, 1))
    assert [codes.name_level(depth) for depth in (1, 2, 3)] == ["1", "3", "4"]
    named = Hierarchy({"a": ("n", "m", "a")}, levels=("region", "place"))
    assert [named.name_level(depth) for depth in (1, 2)] == ["region", "place"]
    assert fit_tree([("n", "m", "a"), ("b",)], 1, named)[1] == (
        *(("n", "region", 1, 1), ("m", "place", 1, 1)),
    )


@given(columns(), st.data())
def test_shares_by_level_count_what_cells_show(drawn, data):
    levels, _ = column_levels(spec_of(drawn[0]), drawn[1])
    texts = {**dict.fromkeys(levels.labels, "values"), "*": "all", "strange": "all"}
    depth = {low_high: level for _, level, *low_high in levels.tree for low_high in [(*low_high,)]}
    texts |= {name: depth[low, high] for name, low, high in levels.nodes}
    if len(levels.labels) == 1:
        texts["*"] = "values"
    cells = data.draw(st.lists(st.sampled_from([*texts]), min_size=1))
    found = shares_by_level(levels, *read_cells(levels, cells))
    shown = [texts[cell] for cell in cells]
    assert found["values"] == shown.count("values") / len(cells)
    assert found["all"] == shown.count("all") / len(cells)
    for level, share in found["levels"].items():
        assert share == shown.count(level) / len(cells)
    assert set(found["levels"]) == {level for _, level, _, _ in levels.tree}


@given(columns())
def test_features_stand_before_those_above_them_and_levels_have_those_of_their_path(drawn):
    tree, values = drawn
    table = encoded(tree, values, 1)
    attribute = table.codebook.attributes[0]
    assert (attribute.parents > np.arange(attribute.bits)).all()
    codes = np.stack([np.arange(attribute.levels), np.zeros(attribute.levels)]).astype(np.int32)
    bits = pack_levels(table.codebook, codes)
    assert decode_levels(table.codebook, bits)[0].tolist() == list(range(attribute.levels))
    for level in range(attribute.levels):
        own = {level} | {
            attribute.levels + place
            for place, (_, low, high) in enumerate(attribute.nodes)
            if low <= level <= high
        }
        assert {bit for bit in range(attribute.bits) if int(bits[level, 0]) >> bit & 1} == own


def test_bits_that_are_no_path_are_no_level():
    tree = Hierarchy({"a": ("n", "a"), "b": ("n", "b"), "c": ("c",)})
    book = encoded(tree, np.array(["a", "b", "c"], dtype=object), 1).codebook
    assert book.attributes[0].labels == ("c", "a", "b")
    lonely_node, two_levels, level_alone = 0b1000, 0b1110, 0b0010
    bits = np.array([[lonely_node], [two_levels], [level_alone]], dtype=np.uint64)
    assert decode_levels(book, bits)[0].tolist() == [-1, -1, -1]


@pytest.mark.long
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: f"{maker.__class__.__name__}")
@given(drawn=columns(), k=st.integers(1, 3))
def test_every_method_shows_the_smallest_node_of_some_levels(maker, drawn, k):
    tree, values = drawn
    table = encoded(tree, values, min(k, len(values)))
    made = maker.anonymize(table)
    attribute = table.codebook.attributes[0]
    (shown, _) = list_shown_cells(table, made.hidden)
    everyone = tuple(range(attribute.levels))
    for row, code in enumerate(table.codes[0]):
        levels = shown.levels[shown.cell[row]]
        levels = everyone if levels is None else levels
        assert code in levels
        cell = naive.smallest_node(attribute.levels, attribute.nodes, levels)
        assert cell == set(levels)
        if made.holders is not None:
            held = {code, *table.codes[0][made.holders[row]].tolist()}
            assert naive.smallest_node(attribute.levels, attribute.nodes, held) <= cell


@pytest.mark.long
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: f"{maker.__class__.__name__}")
@given(drawn=columns(), k=st.integers(1, 3), cells=st.sampled_from(["set", "shorter"]))
def test_every_method_shows_no_more_than_the_values_of_holders_in_sets(maker, drawn, k, cells):
    tree, values = drawn
    table = encoded(tree, values, min(k, len(values)), cells)
    made, codes = maker.anonymize(table), table.codes[0]
    (shown, _) = list_shown_cells(table, made.hidden)
    everyone = tuple(range(table.codebook.attributes[0].levels))
    for row, code in enumerate(codes):
        levels = shown.levels[shown.cell[row]]
        levels = set(everyone if levels is None else levels)
        held = {code} if made.holders is None else {code, *codes[made.holders[row]].tolist()}
        assert held <= levels <= set(codes.tolist())
        # A class shows what its members have, a part of whom hold each of its rows.
        if made.holders is not None and "equivalence classes" not in maker.promise.findings:
            assert held == levels


@given(columns(), st.integers(1, 3))
def test_sets_are_those_of_the_column_without_a_tree(drawn, k):
    tree, values = drawn
    k = min(k, len(values))
    table, plain = encoded(tree, values, k, "set"), encoded(None, values, k)
    attribute = table.codebook.attributes[0]
    assert (attribute.nodes, attribute.bits) == (None, len(attribute.labels))
    made = [
        write_cells(each, Optimal().anonymize(each).hidden)["c"].tolist() for each in (table, plain)
    ]
    lost = [sum(text.count("|") for text in texts) for texts in made]
    assert made[0] == made[1] or lost[0] == lost[1]


@pytest.mark.long
@given(columns(), st.sampled_from(["node", "set", "shorter"]))
def test_the_auditor_finds_the_same_levels_and_reads_the_cells(drawn, cells):
    tree, values = drawn
    table = encoded(tree, values, min(2, len(values)), cells)
    attribute = table.codebook.attributes[0]
    levels, level = column_levels(spec_of(tree, cells), values)
    assert (levels.labels, levels.nodes) == (attribute.labels, attribute.nodes)
    assert levels.tree == attribute.whole
    assert levels.features == attribute.bits
    assert level.tolist() == table.codes[0].tolist()
    made = LocalSearch(seats="even").anonymize(table)
    (shown, _), texts = list_shown_cells(table, made.hidden), write_cells(table, made.hidden)["c"]
    cell, allowed = read_cells(levels, texts.tolist())
    for row, text in enumerate(texts):
        meant = shown.levels[shown.cell[row]]
        meant = tuple(range(attribute.levels)) if meant is None else meant
        assert tuple(np.flatnonzero(allowed[cell[row]]).tolist()) == meant, text
    assert texts_in_form(levels, texts.tolist()) == texts.tolist()


def test_a_set_of_levels_is_no_cell_of_a_tree():
    tree = Hierarchy(prefix=(1,))
    levels, _ = column_levels(spec_of(tree), np.array(["aa", "ab", "ba"], dtype=object))
    _, allowed = read_cells(levels, ["a*", "aa|ab", r"a\*", "b*", "*"])
    assert allowed.tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 1]]


def test_a_set_is_a_cell_where_the_column_has_sets():
    tree, values = Hierarchy(prefix=(1,)), np.array(["aa", "ab", "ac", "ba"], dtype=object)
    levels, _ = column_levels(spec_of(tree, "shorter"), values)
    # The ends of aa|ac are those of a*.
    texts = ["a*", "aa|ac", "aa|ba", "aa|ab|ac", "ab|aa", "*", "aa|ab|ac|ba"]
    _, allowed = read_cells(levels, texts[:3])
    assert allowed.tolist() == [[1, 1, 1, 0], [1, 0, 1, 0], [1, 0, 0, 1]]
    # Each set of values has one text.
    assert texts_in_form(levels, texts) == [*texts[:3], None, None, "*", None]
    whole = [["aa", "ab", "ac"], ["aa", "ac"], ["aa", "ba"], None, ["ab", "aa"]]
    assert texts_of_lists(levels, whole) == ["a*", "aa|ac", "aa|ba", "*", None]
    shown = shares_by_level(levels, *read_cells(levels, ["aa", "a*", "aa|ac", "*"]))
    assert shown == {"values": 0.25, "levels": {"1": 0.25}, "sets": 0.25, "all": 0.25}
    plain, _ = column_levels(spec_of(tree, "set"), values)
    assert texts_in_form(plain, ["aa|ab|ac", "a*"]) == ["aa|ab|ac", None]
    shown = shares_by_level(plain, *read_cells(plain, ["aa", "aa|ab|ac"]))
    assert shown == {"values": 0.5, "levels": {}, "sets": 0.5, "all": 0.0}


@pytest.mark.parametrize("how", [{}, {"kind": "numeric", "hierarchy": Hierarchy(ladder=(5.0,))}])
def test_sets_belong_to_a_hierarchy_of_categories(how):
    with pytest.raises(InputError, match="cells belongs to a hierarchy of categories"):
        ColumnSpec(**{"name": "c", "kind": "categorical", "cells": "set"} | how)


@given(columns(), st.sampled_from(["node", "set", "shorter"]))
def test_the_codebook_keeps_the_tree(drawn, cells):
    book = encoded(*drawn, 1, cells).codebook
    assert codebook_from_json(codebook_to_json(book)) == book


@pytest.mark.parametrize("loss", ["rank", "range", "binary"])
def test_a_node_loses_its_levels_but_one(loss):
    tree = Hierarchy(prefix=(2, 1))
    values = np.array(["aax", "aay", "ab", "b"], dtype=object)
    book = encoded(tree, values, 1).codebook
    prices = loss_table(book, loss)
    assert book.attributes[0].nodes == (("aa*", 0, 1), ("a*", 0, 2))
    # Levels, then "aa*" (2 of 4 levels), "a*" (3 of 4) and the root.
    expected = np.round(prices.whole[0] * np.array([0, 0, 0, 0, 1, 2, 3]) / 3)
    assert prices.node[:7].tolist() == expected.tolist()


@pytest.mark.parametrize("loss", ["rank", "range", "binary"])
def test_a_node_loses_what_the_weight_of_its_level_says(loss):
    tree = Hierarchy(prefix=(2, 1), weights=(0.0, 0.2, 0.3, 1.0))
    values = np.array(["aax", "aay", "ab", "b", None], dtype=object)
    book = encoded(tree, values, 1).codebook
    assert book.attributes[0].nodes == (("aa*", 1, 2), ("a*", 1, 3))
    prices = loss_table(book, loss)
    expected = np.round(prices.whole[0] * np.array([0, 0, 0, 0, 0, 0.2, 0.3, 1]))
    assert prices.node[:8].tolist() == expected.tolist()
    levels, _ = column_levels(spec_of(tree), values)
    assert levels.losses == {(1, 2): 0.2, (3, 3): 0.2, (1, 3): 0.3, (4, 4): 0.3}
    shown = shares_by_level(levels, *read_cells(levels, ["b", "aa*", "a*", "*"]))
    assert shown["lost"] == pytest.approx((0.2 + 0.3 + 1) / 4)
    assert codebook_from_json(codebook_to_json(book)) == book
    again = BinaryTable.unpack_arrays(*encoded(tree, values, 1).pack_arrays()).codebook
    assert again.attributes[0].tree.weights == book.attributes[0].tree.weights


def test_of_nodes_that_hold_the_same_values_the_inner_one_decides_the_weight():
    tree = Hierarchy(
        {"a": ("n", "m", "a"), "b": ("n", "m", "b"), "c": ("c",)}, weights=(0.0, 0.1, 0.9, 1.0)
    )
    values = np.array(["a", "b", "c"], dtype=object)
    attribute = encoded(tree, values, 1).codebook.attributes[0]
    levels, _ = column_levels(spec_of(tree), values)
    assert (attribute.nodes, attribute.tree.weights) == ((("m", 1, 2),), (0.1,))
    assert levels.losses == {(1, 2): 0.1}


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ((0.0, 1.0), "weights has 2 numbers, and this hierarchy needs 4"),
        ((0.0, 0.2, 0.3, 0.4, 1.0), "weights has 5 numbers"),
        ((0.0, 0.5, 0.4, 1.0), "weights must rise"),
        ((0.0, float("nan"), 0.4, 1.0), "weights must rise"),
        ((0.1, 0.2, 0.4, 1.0), "weights must rise"),
        ((0.0, 0.2, 0.4, 0.9), "weights must rise"),
        ((0.0, 1e-9, 2e-9, 1.0), "a smaller step would cost nothing"),
        ((0.0, 0.5, 1 - 1e-9, 1.0), "a smaller step would cost nothing"),
    ],
)
def test_weights_that_do_not_rise_level_by_level_are_refused(weights, words):
    with pytest.raises(InputError, match=words):
        Hierarchy(prefix=(2, 1), weights=weights)


def test_the_least_step_of_weights_costs_something_unless_the_column_weighs_too_little():
    tree = Hierarchy(prefix=(2, 1), weights=(0.0, 1e-6, 2e-6, 1.0))
    values = np.array(["aax", "aay", "ab", "b"], dtype=object)
    attribute = encoded(tree, values, 1).codebook.attributes[0]
    light, heavy = replace(attribute, weight=1e-6), replace(attribute, name="heavy")
    prices = loss_table(Codebook((heavy,)), "rank").node[4:7]
    assert 0 < prices[0] < prices[1] < prices[2] == WHOLE_CELL_LOSS
    with pytest.raises(InputError, match=f"column {attribute.name!r}: beside the heaviest"):
        loss_table(Codebook((heavy, light)), "rank")


def test_weights_and_a_floor_do_not_go_together():
    tree = Hierarchy(prefix=(1,), weights=(0.0, 0.5, 1.0))
    with pytest.raises(InputError, match="which would then lose nothing; leave one of them out"):
        ColumnSpec(name="c", kind="categorical", hierarchy=tree, floor=Floor(5))


def test_weights_and_sets_do_not_go_together():
    tree = Hierarchy({"a": ("a",)}, weights=(0.0, 1.0))
    with pytest.raises(InputError, match="weights say what nodes lose"):
        spec_of(tree, "shorter")


def test_a_tree_of_one_path_has_no_node_that_is_shown():
    assert fit_tree([("n", "m", "a")], 0)[0].nodes == ()
    two = [("n", "a"), ("n", "b")]
    assert fit_tree(two, 0)[0].nodes == ()  # the root holds the same
    assert fit_tree(two, 1)[0].nodes == (("n", 1, 2),)  # a missing value does not
