"""Typed cells: the makers' form of every cell is the one that the auditor reads as its text."""

import json
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from anon_core.specs.columns import ColumnSpec
from anon_core.tables.cells import cell_texts
from anon_core.tables.encoding import fit
from anon_core.tables.records import Codebook
from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.forms import FORMAT, find_stored_type, name_form
from crowdcover.kinds.table.judge.as_text import Reader
from crowdcover.kinds.table.judge.coded import Coded
from crowdcover.kinds.table.pipeline.native import build_published_codebook, native_cells
from tests.codebooks import keeps_schema
from tests.typed import typed_cell

NUMBERS = np.array([1.5, 2.0, 2.0, 2.0, 3.25, 7.0, 7.0, 9.5, 9.5, -0.0, np.nan])
WHOLE = np.array([1.0, 2.0, 2.0, 3.0, 4.0, 7.0, 7.0, 9.0, 9.0, np.nan])
TEXTS = np.array(
    ["a", "a", "(other)", "(other)", "\\(other)", "\\(other)", "|", "(missing)", "x..", None],
    dtype=object,
)
CASES = [
    ("float", NUMBERS, {"bins": (2.0, 5.0)}),
    ("float", NUMBERS, {"bins": (2.0, 5.0), "carry": "median"}),
    ("float", NUMBERS, {}),
    ("integer", WHOLE, {"bins": 3}),
    ("integer", WHOLE, {"bins": (2.5, 4.0)}),
    ("integer", WHOLE, {"rare": "pool"}),
    ("integer", WHOLE[:-1], {}),
    ("date", WHOLE, {"bins": 3}),
    ("date", WHOLE, {"rare": "pool"}),
    ("date", WHOLE, {"missing": "all-hidden"}),
]
DTYPES = {"integer": pl.Int64(), "float": pl.Float64(), "date": pl.Date(), "string": pl.String()}


def of_numbers(kind, values, how, encoding):
    counted = "date" if kind == "date" else "numeric"
    return kind, values, ColumnSpec(name="a", kind=counted, encoding=encoding, **how)


def of_texts(**how):
    return "string", TEXTS, ColumnSpec(name="a", kind="categorical", **how)


SPECS = [
    *(of_numbers(*case, encoding) for case in CASES for encoding in ("ordinal", "one-hot")),
    of_texts(),
    of_texts(rare="pool"),
    of_texts(missing="all-hidden"),
    ("string", TEXTS, ColumnSpec(name="a", kind="categorical", encoding="ordinal",
     order=("x..", "a", "|", "(other)", "\\(other)", "(missing)"))),
    ("string", TEXTS[[0, 3, 9]], ColumnSpec(name="a", kind="binary")),
]  # fmt: skip


def cells_of(attribute):
    """The levels of every cell that may be: intervals, or sets."""
    levels = range(attribute.levels)
    if attribute.ordinal:
        return [
            None if (low, high) == (0, attribute.levels) else tuple(range(low, high))
            for low in levels
            for high in range(low + 1, attribute.levels + 1)
        ]
    sets = [each for size in range(1, attribute.levels) for each in combinations(levels, size)]
    return [None, *sets]


@pytest.mark.parametrize(("kind", "values", "spec"), SPECS)
def test_every_cell_has_one_form(kind, values, spec):
    attribute = fit([spec], {"a": values}, 2).attributes[0]
    column, dtype = Column(name="a", role="quasi", spec=spec), DTYPES[kind]
    cells = cells_of(attribute)
    native = native_cells(attribute, column, cells, dtype)
    assert native.dtype == find_stored_type(name_form(spec), dtype)
    texts = cell_texts(attribute, cells)

    book = build_published_codebook(Codebook((attribute,)), (column,), {"a": dtype})
    assert keeps_schema(json.loads(json.dumps(book)))
    (entry,), stated = book["attributes"], book["columns"][1]
    assert [typed_cell(entry, stated, text) for text in texts] == native.to_list()

    reader = Reader.of(Coded.of(entry), native.dtype)
    assert reader.texts(native).to_list() == texts
    strict = Reader(reader.name, reader.column, reader.bounds, strict=True)
    assert strict.texts(pl.Series(texts)).to_list() == texts


def test_bounds_tell_whether_a_value_is_in_a_level():
    """Of whole numbers both ends are included; of real ones the lower end of a group is not."""
    for kind, values, spec in SPECS:
        if not spec.is_counted or spec.encoding != "ordinal":
            continue
        attribute = fit([spec], {"a": values}, 2).attributes[0]
        column = Column(name="a", role="quasi", spec=spec)
        shift = int(attribute.has_missing)
        cells = [(level,) for level in range(shift, attribute.levels)]
        native = native_cells(attribute, column, cells, DTYPES[kind]).struct
        low, high = (native.field(side).to_physical().to_list() for side in ("lo", "hi"))
        edges = np.array(attribute.edges)
        book = build_published_codebook(Codebook((attribute,)), (column,), {"a": DTYPES[kind]})
        open_below = book["attributes"][0]["lower"] == "excluded"
        assert open_below == (attribute.binned and kind == "float")
        for value in values[~np.isnan(values)]:
            fits = [
                (a is None or (a < value if open_below else a <= value))
                and (b is None or value <= b)
                for a, b in zip(low, high, strict=True)
            ]
            assert sum(fits) == 1
            if attribute.binned:
                assert fits.index(True) == np.searchsorted(edges, value, side="left")


WRONG = [
    ("list", [], "no member"),
    ("list", ["a", "a"], "a member twice"),
    ("list", ["|", "(missing)"], "another order"),
    ("list", ["Atlantis"], "a stranger"),
    ("list", ["a", None], "the missing value last"),
    ("list", [None, "(missing)", "(other)", "\\(other)", "a", "x..", "|"], "every level"),
    ("interval", (4, 2, False), "lo above hi"),
    ("interval", (3, 8, False), "no bounds of levels"),
    ("interval", (2, 3, True), "missing with bounds"),
    ("interval", (3, 4, None), "missing and not the lowest"),
    ("interval", (None, None, None), "bounds that no level has"),
    ("interval", (None, None, False), "the same, given"),
]


@pytest.mark.parametrize(("form", "cell", "why"), WRONG, ids=[each[2] for each in WRONG])
def test_other_forms_cannot_be_read(form, cell, why):
    kind, values, spec = of_texts() if form == "list" else of_numbers(*CASES[3], "ordinal")
    if form == "interval":
        values, spec = WHOLE, ColumnSpec(name="a", kind="numeric", encoding="ordinal", shared=False)
        cell = dict(zip(("lo", "hi", "missing"), cell, strict=True))
    attribute = fit([spec], {"a": values}, 2).attributes[0]
    column = Column(name="a", role="quasi", spec=spec)
    entry = build_published_codebook(Codebook((attribute,)), (column,), {"a": DTYPES[kind]})
    dtype = find_stored_type(form, DTYPES[kind])
    reader = Reader.of(Coded.of(entry["attributes"][0]), dtype)
    assert reader.texts(pl.Series([cell], dtype=dtype)).to_list() == [None]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda book: book.pop("columns"),
        lambda book: book.update(format=FORMAT + 1),
        lambda book: book.update(more=1),
        lambda book: book["attributes"][0].pop("bounds"),
        lambda book: book["attributes"][0].update(missing="perhaps"),
        lambda book: book["columns"][0].update(form="text"),
    ],
)
def test_the_schema_refuses_other_codebooks(spoil):
    kind, values, spec = SPECS[0]
    column = Column(name="a", role="quasi", spec=spec)
    book = build_published_codebook(fit([spec], {"a": values}, 2), (column,), {"a": DTYPES[kind]})
    book = json.loads(json.dumps(book))
    spoil(book)
    assert not keeps_schema(book)
