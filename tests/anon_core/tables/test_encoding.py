"""Columns to bits, and masked bits to cells: nothing is lost, and every cell is true."""

import csv
import io
import itertools
import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_core.errors import InputError
from anon_core.measures.table.cells import read_cells
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding, orders
from anon_core.tables.cells import write_cells
from anon_core.tables.codebook import codebook_from_json, codebook_to_json
from anon_core.tables.encoding import (
    MISSING_CATEGORY,
    decode_levels,
    encode,
    find_complete_records,
    fit,
)
from anon_core.tables.records import Attribute, BinaryTable, Codebook
from tests.support.encoding import (
    HOSTILE,
    MARK,
    numbers,
    ones,
    packed,
    refused,
    tables,
    texts,
)


def encode_one(spec, values):
    columns = {spec.name: values}
    return encode(fit([spec], columns), columns, ones(len(values)))


@st.composite
def attributes(draw, most=6):
    """One attribute with hostile labels in any order."""
    labels = draw(st.lists(HOSTILE, min_size=1, max_size=most, unique=True))
    has_missing = draw(st.booleans())
    ordinal = draw(st.booleans())
    return Attribute(
        name=draw(HOSTILE),
        kind="categorical",
        encoding="ordinal" if ordinal else "one-hot",
        labels=tuple([MISSING_CATEGORY] * has_missing + labels),
        has_missing=has_missing,
        hide_missing=has_missing and draw(st.booleans()),
        weight=draw(st.sampled_from([1.0, 0.5, 3.0])),
    )


@st.composite
def masked(draw):
    """(BinaryTable, hidden): any bits hidden, sensible or not."""
    specs, columns = draw(tables())
    n = len(columns["sure"])
    book = fitted_book(specs, columns, draw(st.integers(1, n)))
    table = encode(book, columns, ones(n))
    return table, draw(hidden_bits(table.codebook.features, n))


def fitted_book(specs, columns, least):
    """A codebook whose levels `least` people share, if it has a feature."""
    try:
        return fit(specs, columns, least)
    except InputError:
        return fit(specs, columns)


@st.composite
def hidden_bits(draw, features, n):
    flags = draw(hnp.arrays(np.bool_, (n, features)))
    return packed(flags)


def unpacked(words, f):
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :f].astype(bool)


def bits_of(attribute, level):
    """The features of a level, by definition."""
    if attribute.ordinal:
        return np.array([level >= t for t in range(1, attribute.levels)], dtype=bool)
    return np.arange(attribute.levels) == level


# ---------------------------------------------------------------- bits


@given(tables())
def test_bits_are_the_levels_and_levels_the_bits(table):
    specs, columns = table
    n = len(columns["sure"])
    book = fit(specs, columns)
    found = encode(book, columns, ones(n))
    assert (decode_levels(book, found.bits) == found.codes).all()
    assert (decode_levels(book, found.bits, [1, 0]) == found.codes[[1, 0]]).all()
    x = unpacked(found.bits, book.features)
    for index, attribute in enumerate(book.attributes):
        start, stop = book.bit_offsets[index : index + 2]
        for record in range(n):
            assert (x[record, start:stop] == bits_of(attribute, found.codes[index, record])).all()
    assert not unpacked(found.bits, 64 * book.words)[:, book.features :].any()


@given(attributes(), st.data())
def test_bits_that_are_no_level_decode_to_none(attribute, data):
    assume(attribute.bits > 0)
    book = Codebook((attribute,))
    flags = data.draw(hnp.arrays(np.bool_, (4, attribute.bits)))
    levels = decode_levels(book, packed(flags))
    for row, level in zip(flags, levels[0], strict=True):
        meant = [
            each for each in range(attribute.levels) if (bits_of(attribute, each) == row).all()
        ]
        assert [level] == (meant or [-1])


@given(tables(), st.data())
def test_every_value_is_of_its_level(table, data):
    """A level's label is the value, or its group holds both the value and the median."""
    specs, columns = table
    book = fitted_book(specs, columns, data.draw(st.integers(1, len(columns["sure"]))))
    codes = encode(book, columns, ones(len(columns["sure"]))).codes
    for spec, attribute, code in zip(specs, book.attributes, codes, strict=True):
        values = columns[spec.name]
        shift = int(attribute.has_missing)
        assert attribute.labels[:shift] == (MISSING_CATEGORY,) * shift
        assert len(set(attribute.labels[shift:])) == len(attribute.labels) - shift
        for value, level in zip(values.tolist(), code.tolist(), strict=True):
            if value is None or value != value:
                assert (attribute.has_missing, level) == (True, 0)
            elif spec.kind in ("categorical", "binary"):
                other = attribute.has_other and level == attribute.levels - 1
                assert other or attribute.labels[level] == value
                assert not other or value not in attribute.labels[shift:-1]
            elif not attribute.binned:
                assert level >= shift
                meant = attribute.values[level - shift]
                low, high = meant if isinstance(meant, tuple) else (meant, meant)
                assert low <= value <= high
            else:
                assert in_group(attribute, level - shift, value)
                if spec.carry == "median":
                    assert in_group(attribute, level - shift, attribute.values[level - shift])
        if attribute.binned and spec.carry == "median" and len(attribute.values):
            grouped = {
                level: values[code == level] for level in set(code.tolist()) if level >= shift
            }
            assert sorted(grouped) == list(range(shift, attribute.levels))  # no level is empty
            for level, group in grouped.items():
                assert attribute.values[level - shift] == np.median(group)


def in_group(attribute, group, value):
    lower = -np.inf if group == 0 else attribute.edges[group - 1]
    upper = np.inf if group == len(attribute.edges) else attribute.edges[group]
    return lower < value <= upper


@given(tables(), st.randoms(use_true_random=False))
def test_codebook_and_levels_do_not_depend_on_the_order_of_rows(table, random):
    specs, columns = table
    n = len(columns["sure"])
    order = np.array(random.sample(range(n), n))
    shuffled = {name: values[order] for name, values in columns.items()}
    book = fitted_book(specs, columns, min(n, 3))
    assert fitted_book(specs, shuffled, min(n, 3)) == book
    assert (
        encode(book, shuffled, ones(n)).codes == encode(book, columns, ones(n)).codes[:, order]
    ).all()


def test_deciles_by_hand():
    found = encode_one(
        ColumnSpec(name="a", kind="numeric", bins=4, carry="median"),
        numbers(1, 2, 3, 4, 5, 6, 7, 80),
    )
    attribute = found.codebook.attributes[0]
    assert attribute.edges == (2, 4, 6)
    assert attribute.values == (1.5, 3.5, 5.5, 43.5)
    assert attribute.labels == ("1.5", "3.5", "5.5", "43.5")
    assert found.codes.tolist() == [[0, 0, 1, 1, 2, 2, 3, 3]]


def test_ties_make_fewer_groups():
    spec = ColumnSpec(name="a", kind="numeric", bins=10, carry="median")
    attribute = encode_one(spec, numbers(*[7] * 50, 9)).codebook.attributes[0]
    assert attribute.labels == ("7", "9")
    constant = encode_one(spec, numbers(7, 7, 7)).codebook.attributes[0]
    assert constant.labels == ("7",)


def test_groups_without_values_join_the_next():
    spec = ColumnSpec(name="a", kind="numeric", bins=(10.0, 20.0, 30.0, 40.0), carry="median")
    attribute = encode_one(spec, numbers(11, 20, 35, 36)).codebook.attributes[0]
    assert attribute.edges == (20,)
    assert attribute.values == (15.5, 35.5)


def test_labels_of_numbers_and_dates():
    plain = ColumnSpec(name="a", kind="numeric")
    values = numbers(0.1, -3, 2.0**53, 1e300, 5)
    assert encode_one(plain, values).codebook.attributes[0].labels == (
        "-3",
        "0.1",
        "5",
        "9007199254740992.0",
        "1e+300",
    )
    days = ColumnSpec(name="a", kind="date", bins=2, carry="median")
    labels = encode_one(days, numbers(-1, 0, 18321, 18322)).codebook.attributes[0].labels
    assert labels == ("1969-12-31", "2020-02-29")  # a half day is rounded down, into the group


def test_from_bits_is_the_papers_matrix():
    x = np.array([[1, 0, 1], [0, 0, 1]])
    table = encoding.from_bits(x, ones(2))
    assert (unpacked(table.bits, 3) == x).all()
    assert [attribute.name for attribute in table.codebook.attributes] == ["f1", "f2", "f3"]


# ---------------------------------------------------------------- missing values


@pytest.mark.parametrize(
    ("kind", "values"),
    [("categorical", texts("a", None, "b", None)), ("numeric", numbers(1, np.nan, 2, np.nan))],
)
def test_rules_for_missing_values(kind, values):
    def rule(missing):
        return ColumnSpec(name="a", kind=kind, missing=missing)

    table = encode_one(rule("category"), values)
    assert table.codes.tolist() == [[1, 0, 2, 0]]
    assert not table.blank.any()
    hidden = encode_one(rule("all-hidden"), values)
    assert hidden.codes.tolist() == [[1, 0, 2, 0]]
    assert hidden.blank.tolist() == [[False, True, False, True]]
    refused(
        "column 'a' has 2 missing values and the plan refuses them",
        lambda: encode_one(rule("refuse"), values),
    )
    assert find_complete_records([rule("drop")], {"a": values}).tolist() == [
        True,
        False,
        True,
        False,
    ]
    for other in ("category", "all-hidden", "refuse"):
        assert find_complete_records([rule(other)], {"a": values}).all()


@pytest.mark.parametrize("missing", ["category", "refuse", "all-hidden"])
def test_without_missing_values_every_rule_is_the_same(missing):
    spec = ColumnSpec(name="a", kind="categorical", missing=missing)
    attribute = encode_one(spec, texts("a", "b")).codebook.attributes[0]
    assert (attribute.labels, attribute.has_missing, attribute.hide_missing) == (
        ("a", "b"),
        False,
        False,
    )


@pytest.mark.parametrize("kind", ["categorical", "numeric", "binary", "date"])
@pytest.mark.parametrize("missing", ["category", "all-hidden"])
@pytest.mark.parametrize("bins", [None, 10])
def test_a_column_of_nothing_has_one_level(kind, missing, bins):
    nothing = texts(None, None) if kind in ("categorical", "binary") else numbers(np.nan, np.nan)
    specs = [
        ColumnSpec(name="a", kind=kind, missing=missing, bins=bins),
        ColumnSpec(name="b", kind="categorical"),
    ]
    columns = {"a": nothing, "b": texts("x", "y")}
    table = encode(fit(specs, columns), columns, ones(2))
    assert table.codebook.attributes[0].labels == (MISSING_CATEGORY,)
    assert table.codes[0].tolist() == [0, 0]
    assert write_cells(table, np.zeros_like(table.bits))["a"].tolist() == [
        MISSING_CATEGORY,
        MISSING_CATEGORY,
    ]


def test_a_value_that_reads_like_missing_is_another_level():
    spec = ColumnSpec(name="a", kind="categorical")
    table = encode_one(spec, texts(MISSING_CATEGORY, None))
    cells = write_cells(table, np.zeros_like(table.bits))["a"].tolist()
    assert cells == ["\\" + MISSING_CATEGORY, MISSING_CATEGORY]
    _, levels = read_cells(table.codebook.attributes[0], cells)
    assert levels.tolist() == [[False, True], [True, False]]


# ---------------------------------------------------------------- cells


def meaning(attribute, code, hidden):
    """Levels that agree with every bit that shows, by definition."""
    own = bits_of(attribute, code)
    return [
        level
        for level in range(attribute.levels)
        if (hidden | (bits_of(attribute, level) == own)).all()
    ]


@given(masked())
def test_cells_say_exactly_what_the_bits_show(pair):
    table, hidden = pair
    cells = write_cells(table, hidden)
    flags = unpacked(hidden, table.codebook.features)
    for index, attribute in enumerate(table.codebook.attributes):
        start, stop = table.codebook.bit_offsets[index : index + 2]
        cell, levels = read_cells(attribute, cells[attribute.name].tolist())
        for record in range(table.records):
            code = int(table.codes[index, record])
            allowed = np.flatnonzero(levels[cell[record]]).tolist()
            assert code in allowed
            assert allowed == meaning(attribute, code, flags[record, start:stop])


@given(masked())
def test_cells_survive_a_csv_file(pair):
    table, hidden = pair
    cells = write_cells(table, hidden)
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(zip(*cells.values(), strict=True))
    again = zip(*csv.reader(io.StringIO(text.getvalue(), newline="")), strict=True)
    for attribute, written, read in zip(
        table.codebook.attributes, cells.values(), again, strict=True
    ):
        before, after = (read_cells(attribute, list(part)) for part in (written, read))
        assert (before[1][before[0]] == after[1][after[0]]).all()
    assert all(
        "" not in column.tolist() for column in cells.values()
    )  # empty would read as nothing


@given(attributes(most=4))
def test_different_sets_have_different_cells(attribute):
    """Every set that bits can show is written in a way of its own, and read back as itself."""
    book = Codebook((attribute,))
    assume(book.features > 0)
    patterns = list(itertools.product([False, True], repeat=attribute.bits))
    seen = {}
    for code in range(attribute.levels):
        codes = np.full((1, len(patterns)), code, dtype=np.int32)
        table = BinaryTable(
            book,
            codes,
            codes[0],
            np.zeros((1, len(patterns)), dtype=np.bool_),
        )
        cells = write_cells(table, packed(np.array(patterns)))[attribute.name]
        for text, pattern in zip(cells, patterns, strict=True):
            allowed = tuple(meaning(attribute, code, np.array(pattern)))
            assert seen.setdefault(text, allowed) == allowed
    texts_, sets = zip(*seen.items(), strict=True)
    cell, levels = read_cells(attribute, list(texts_))
    for row, allowed in zip(cell, sets, strict=True):
        assert np.flatnonzero(levels[row]).tolist() == list(allowed)


def test_cells_by_hand():
    specs = [
        ColumnSpec(name="set", kind="categorical"),
        ColumnSpec(name="range", kind="numeric", encoding="ordinal"),
    ]
    columns = {"set": texts("a.b", "..", "x|y", "*"), "range": numbers(1, 2.5, -3, 40)}
    table = encode(fit(specs, columns), columns, ones(4))
    assert table.codebook.attributes[0].labels == ("*", "..", "a.b", "x|y")
    flags = np.array(
        [
            [0, 1, 1, 1, 0, 1, 0],
            [1, 1, 1, 1, 1, 1, 1],
            [0, 0, 0, 0, 1, 0, 0],
            [1, 0, 0, 1, 0, 0, 0],
        ],
        dtype=bool,
    )
    cells = write_cells(table, packed(flags))
    assert cells["set"].tolist() == ["\\.\\.|a.b|x\\|y", "*", "x\\|y", "\\*|x\\|y"]
    assert cells["range"].tolist() == ["1..2.5", "*", "-3..1", "40"]


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "zebra",
        "a|zebra",
        "a|",
        "|a",
        "a||b",
        "a..b",
        "\\",
        "a\\",
        "a|b\n",
        "\n",
        "A",
        "a b",
        "*|a",
        "**",
        "a*",
        "\\*",
    ],
)
def test_cells_that_no_one_wrote_allow_nothing(text):
    attribute = Attribute(name="c", kind="categorical", encoding="one-hot", labels=("a", "b", "c"))
    _, levels = read_cells(attribute, [text])
    assert levels.tolist() == [[False, False, False]]


@pytest.mark.parametrize(
    "text",
    ["b..a", "a...b", "a..", "..a", "a..z", "z..b", "a..b..c", "a|b", "a..*", "a\\..b", "a..b\n"],
)
def test_intervals_that_no_one_wrote_allow_nothing(text):
    attribute = Attribute(name="c", kind="categorical", encoding="ordinal", labels=("a", "b", "c"))
    _, levels = read_cells(attribute, [text])
    assert levels.tolist() == [[False, False, False]]


@given(attributes(), st.lists(st.one_of(HOSTILE, st.none()), max_size=5))
def test_any_text_is_read_without_an_error(attribute, cells):
    cell, levels = read_cells(attribute, cells)
    assert cell.shape == (len(cells),)
    assert levels.shape == (len(set(cells)), attribute.levels)


def test_repeated_cells_are_read_once():
    attribute = Attribute(name="c", kind="categorical", encoding="one-hot", labels=("a", "b"))
    cell, levels = read_cells(attribute, ["b", "*", "b"])
    assert cell.tolist() == [0, 1, 0]
    assert levels.tolist() == [[False, True], [True, True]]


# ---------------------------------------------------------------- the published codebook


@given(tables(), st.booleans())
def test_codebooks_survive_a_json_file(table, plain):
    specs, columns = table
    book = fitted_book(specs, columns, min(3, len(columns["sure"])))
    content = json.dumps(codebook_to_json(book), ensure_ascii=plain).encode()
    again = codebook_from_json(json.loads(content))
    assert again == book
    n = len(columns["sure"])
    assert (encode(again, columns, ones(n)).codes == encode(book, columns, ones(n)).codes).all()


def test_outer_edges_are_single_persons_values_and_stay_inside():
    values = numbers(*[20] * 10, *[30] * 10, 7731, -7731)
    spec = ColumnSpec(name="a", kind="numeric", bins=2)
    book = encode_one(spec, values).codebook
    assert "7731" not in json.dumps(codebook_to_json(book))


def test_a_published_codebook_explains_itself():
    book = encode_one(
        ColumnSpec(name="a", kind="numeric", bins=2, weight=2.0, carry="median"),
        numbers(1, 2, 3, 4, np.nan),
    ).codebook
    (entry,) = codebook_to_json(book)["attributes"]
    assert entry == {
        "name": "a",
        "kind": "numeric",
        "encoding": "one-hot",
        "features": 3,
        "labels": [MISSING_CATEGORY, "1.5", "3.5"],
        "has_missing": True,
        "hide_missing": False,
        "inner_edges": [2.0],
        "medians": [1.5, 3.5],
        "weight": 2.0,
    }


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        None,
        5,
        "zq7",
        {"attributes": 5},
        {"attributes": [5]},
        {"attributes": ["zq7"]},
        {"attributes": [{"name": "zq7"}]},
    ],
)
def test_documents_that_are_no_codebook_are_refused(document):
    refused("is not a codebook of crowdcover", lambda: codebook_from_json(document))


# ---------------------------------------------------------------- refusals


def spec_of(**settings_):
    return ColumnSpec(name="a", **{"kind": "categorical", **settings_})


@pytest.mark.parametrize(
    ("spec", "values", "words"),
    [
        (
            spec_of(kind="binary"),
            texts(MARK, "b", "c"),
            "column 'a' is binary but has 3 distinct values; use kind",
        ),
        (
            spec_of(order=("x", "y")),
            texts("x", MARK, MARK + "2"),
            "column 'a' has 2 distinct values that its 'order'",
        ),
        (spec_of(kind="numeric"), numbers(77319, np.inf), "column 'a' has 1 infinite values"),
        (
            spec_of(kind="numeric", encoding="ordinal"),
            numbers(77319, 77319),
            "no quasi-identifier has more than one value",
        ),
        (
            spec_of(missing="refuse"),
            texts(MARK, None),
            "column 'a' has 1 missing values and the plan refuses them",
        ),
    ],
)
def test_columns_that_do_not_fit_their_plan(spec, values, words):
    refused(words, lambda: encode_one(spec, values), "77319")


@pytest.mark.parametrize(
    ("spec", "first", "then", "words"),
    [
        (
            spec_of(),
            texts("x", "y"),
            texts("x", MARK),
            "column 'a': 1 values that the codebook does not know",
        ),
        (
            spec_of(),
            texts("x", "y"),
            texts(None, "x"),
            "column 'a': 1 missing values, none in the codebook",
        ),
        (
            spec_of(kind="numeric"),
            numbers(1, 2),
            numbers(np.inf, 2),
            "column 'a': 1 values that the codebook does not know",
        ),
        (
            spec_of(kind="numeric"),
            numbers(1, 2),
            numbers(77319, 2),
            "column 'a': 1 values that the codebook does not know",
        ),
        (
            spec_of(kind="numeric", bins=2),
            numbers(1, 2),
            numbers(np.nan, 2),
            "column 'a': 1 missing values, none in the",
        ),
        (
            spec_of(kind="numeric", bins=2),
            numbers(np.nan, np.nan),
            numbers(77319, 2),
            "column 'a': 2 values that the codebook",
        ),
        (
            spec_of(kind="numeric"),
            numbers(np.nan, np.nan),
            numbers(77319, 2),
            "column 'a': 2 values that the codebook",
        ),
    ],
)
def test_values_that_the_codebook_does_not_know(spec, first, then, words):
    sure = {"b": texts("x", "y")}
    book = fit([spec, ColumnSpec(name="b", kind="categorical")], {"a": first, **sure})
    refused(words, lambda: encode(book, {"a": then, **sure}, ones(2)), "77319")


@pytest.mark.parametrize("k", [[1], [0, 1], [1, 3], [1, -1], [1, 2, 2]])
def test_k_of_another_shape_or_range(k):
    columns = {"a": texts("x", "y")}
    refused(
        r"k must be 2 integers within 1\.\.2",
        lambda: encode(fit([spec_of()], columns), columns, np.array(k)),
    )


def test_what_holds_values_shows_none():
    spec = ColumnSpec(
        name="a", kind="categorical", encoding="ordinal", order=(MARK, "b"), bins=(77319.0,)
    )
    values = numbers(77319, 77319, 5, 6)
    book = encode_one(ColumnSpec(name="a", kind="numeric", bins=(10.0, 77319.5)), values).codebook
    assert "77319" not in repr(spec) + repr(book)
    assert MARK not in repr(spec) + repr(encode_one(spec_of(), texts(MARK, "x")).codebook)


def keys_of_any_type(names):
    ends = [[np.iinfo(name).min, 0, 1, 7, np.iinfo(name).max] for name in names]
    return st.tuples(
        *(
            hnp.arrays(name, 9, elements=st.sampled_from(of))
            for name, of in zip(names, ends, strict=True)
        )
    )


INTEGERS = st.sampled_from(["int8", "int32", "int64", "uint64"])


@given(st.lists(INTEGERS, min_size=1, max_size=5).flatmap(keys_of_any_type))
def test_joined_keys_sort_as_they_did(keys):
    joined = orders.join_keys(keys)
    assert len(joined) <= len(keys)
    assert np.lexsort(joined).tolist() == np.lexsort(keys).tolist()


def test_keys_of_few_levels_are_one():
    assert len(orders.join_keys(np.arange(70).reshape(7, 10).astype(np.int32))) == 1
