"""Places of enough people: what a floor makes of a hierarchy, by its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InputError
from anon_core.measures.table.codebook.levels import column_levels
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.hierarchies import Floor, Hierarchy
from anon_core.tables.codebook import codebook_from_json, codebook_to_json
from anon_core.tables.encoding import encode, fit_codebook
from tests import naive

NODES = [(), ("n0",), ("n1",), ("n0", "n0.0"), ("n0", "n0.1"), ("n1", "n1.0"), ("n2", "n2.0")]
CODES = Hierarchy(prefix=(3, 2, 1))


def spec_of(tree, people, population=None):
    floor = Floor(people, population)
    return ColumnSpec(name="c", kind="categorical", hierarchy=tree, floor=floor)


def texts(*counted):
    """Each text as many times as stated."""
    return np.array([text for text, times in counted for _ in range(times)], dtype=object)


def encoded(spec, values, persons=None, least=1):
    """The column beside one that is different for half of the records."""
    specs = [spec, ColumnSpec(name="half", kind="binary")]
    half = np.array([str(place % 2) for place in range(len(values))], dtype=object)
    data = {"c": values, "half": half}
    fitted = fit_codebook(specs, data, least, persons)
    return encode(fitted.codebook, data, np.ones(len(values), dtype=np.int32), fitted.places)


def shown(spec, values, persons=None):
    """The label of each value that is not missing."""
    table = encoded(spec, values, persons)
    labels = table.codebook.attributes[0].labels
    return {value: labels[code] for value, code in zip(values, table.codes[0], strict=True)}


@st.composite
def columns(draw):
    """(hierarchy, values, floor, persons): some values are missing, persons may own several."""
    above = draw(st.lists(st.sampled_from(NODES), min_size=8, max_size=8))
    of_file = {leaf: (*nodes, leaf) for leaf, nodes in zip("abcdefgh", above, strict=True)}
    tree = draw(st.sampled_from([Hierarchy(of_file), Hierarchy(prefix=(2, 1))]))
    leaves = "abcdefgh" if tree.paths else ["aax", "aay", "abx", "ab", "ba", "bbx", "c", ""]
    size = draw(st.integers(2, 16))
    values = draw(st.lists(st.sampled_from([*leaves, None]), min_size=size, max_size=size))
    persons = draw(
        st.none() | st.lists(st.integers(0, 5), min_size=size, max_size=size).map(np.array)
    )
    population = draw(st.none() | st.dictionaries(st.sampled_from([*leaves]), st.integers(0, 9)))
    floor = Floor(draw(st.integers(1, 8)), population)
    return tree, np.array(values, dtype=object), floor, persons


def is_in(path, nodes):
    return any(path[:depth] in nodes for depth in range(1, len(path) + 1))


@given(columns())
def test_places_are_those_of_the_definition_and_the_auditor_finds_them(drawn):
    tree, values, floor, persons = drawn
    spec = spec_of(tree, floor.people, floor.population)
    given_by = range(len(values)) if persons is None else persons.tolist()
    paths = {value: tree.path_of(value) for value in values if value is not None}

    def people(nodes):
        if floor.population is None:
            held = zip(given_by, values, strict=True)
            return len({who for who, value in held if is_in(paths.get(value, ()), nodes)})
        living = ((tree.path_of(leaf) or (), number) for leaf, number in floor.population.items())
        return sum(number for path, number in living if is_in(path, nodes))

    place = naive.places_of_floor(paths, people, floor.people)
    table = encoded(spec, values, persons)
    attribute = table.codebook.attributes[0]
    for value, code in zip(values, table.codes[0], strict=True):
        if value is not None:
            assert attribute.labels[code] == place[value][-1]
    levels, level = column_levels(spec, values, 1, persons)
    assert (levels.labels, levels.nodes) == (attribute.labels, attribute.nodes)
    assert level.tolist() == table.codes[0].tolist()
    assert levels.floor == attribute.floor == floor.people


@given(columns())
def test_enough_people_live_in_each_place_but_in_that_of_all(drawn):
    tree, values, floor, persons = drawn
    label = shown(spec_of(tree, floor.people), values, persons)
    given_by = range(len(values)) if persons is None else persons.tolist()
    for place in {label[value] for value in values if value is not None} - {"(any)"}:
        held = zip(given_by, values, strict=True)
        who = {person for person, value in held if value is not None and label[value] == place}
        assert len(who) >= floor.people


@given(columns(), st.integers(1, 8))
def test_a_place_has_as_many_people_as_anybody_demands(drawn, least):
    tree, values, floor, persons = drawn
    low, high = (spec_of(tree, people) for people in (1, max(floor.people, least)))
    wanted = encoded(high, values, persons)
    for spec in (high, spec_of(tree, floor.people)):
        table = encoded(spec, values, persons, least)
        assert table.codebook == wanted.codebook
        assert (table.codes == wanted.codes).all()
    levels, _ = column_levels(low, values, high.floor.people, persons)
    assert levels.labels == wanted.codebook.attributes[0].labels
    assert levels.floor == high.floor.people


def test_small_places_share_the_rest_of_their_node_or_become_it():
    values = texts(("60601", 5), ("60602", 1), ("60711", 1), ("60811", 1), ("10000", 3))
    label = shown(spec_of(CODES, 2), values)
    assert label == {
        "60601": "606",  # 60601 and 60602 have no node between them and 606*
        "60602": "606",
        "60711": "60 (other)",
        "60811": "60 (other)",
        "10000": "10000",
    }
    assert set(shown(spec_of(CODES, 4), values).values()) == {"(any)"}
    assert shown(spec_of(CODES, 99), values) == dict.fromkeys(label, "(any)")


def test_a_person_of_many_records_counts_once():
    values = texts(("60601", 5), ("60702", 2), ("70000", 2))
    persons = np.array([0, 0, 0, 0, 0, 1, 2, 3, 4])
    assert set(shown(spec_of(CODES, 2), values, persons).values()) == {"60", "70000"}


def test_a_population_decides_and_may_name_nodes_as_leaves():
    values = texts(("60601", 1), ("60602", 1), ("60711", 1))
    counted = {"606": 9_000, "607": 20_000, "608": 1}
    label = shown(spec_of(CODES, 5_000, counted), values)
    # Of the node 607* 20,000 people are known, of the leaf 60711 none.
    assert label == {"60601": "606", "60602": "606", "60711": "607"}
    assert set(shown(spec_of(CODES, 5_000, {}), values).values()) == {"(any)"}


def test_a_star_in_names_of_a_file_is_left_out_at_the_end():
    rows = {"60601": ("60***", "60601"), "60602": ("60***", "60602"), "70000": ("70***", "70000")}
    values = texts(("60601", 1), ("60602", 1), ("70000", 2))
    assert set(shown(spec_of(Hierarchy(rows), 2), values).values()) == {"60", "70000"}


def test_two_places_of_one_name_are_refused():
    tree = Hierarchy({"a": ("x", "a"), "b": ("x", "b"), "x": ("y", "x"), "c": ("y", "c")})
    with pytest.raises(InputError, match="'c': floor would give two places one name"):
        shown(spec_of(tree, 2), texts(("a", 1), ("b", 1), ("x", 2), ("c", 2)))


def test_the_codebook_keeps_the_floor():
    book = encoded(spec_of(CODES, 2), texts(("60601", 5), ("10000", 3))).codebook
    document = codebook_to_json(book)
    assert codebook_from_json(document) == book
    assert document["attributes"][0]["floor"] == 2
    assert "floors" in document


@pytest.mark.parametrize("changes", [{"hierarchy": None}, {"floor": Floor(0)}])
def test_a_floor_belongs_to_a_hierarchy(changes):
    stated = {"name": "c", "kind": "categorical", "hierarchy": CODES, "floor": Floor(2)}
    with pytest.raises(InputError, match="floor is a number of people"):
        ColumnSpec(**{**stated, **changes})
