"""Files of hierarchies: what is read, and what is refused with its line."""

import pytest

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.hierarchies import Hierarchy, read_hierarchy

WORK = [
    ["State-gov", "Government", "*"],
    ["Local-gov", "Government", "*"],
    ["Private", "Private", "*"],
]


def test_paths_go_from_below_the_top_to_the_leaf():
    paths = read_hierarchy(enumerate(WORK, start=1))
    assert paths == {
        "State-gov": ("Government", "State-gov"),
        "Local-gov": ("Government", "Local-gov"),
        "Private": ("Private",),  # a level that repeats the one below it is none
    }


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (["Federal-gov", "*"], "line 5 has 2 levels, the first one 3"),
        (
            ["Federal-gov", "Government", "all"],
            r"line 5 ends with another top .* \(2 tops in all\)",
        ),
        (["Private", "Government", "*"], "line 5 has a leaf that stands in a line before"),
        (["Federal-gov", "State-gov", "*"], "line 5 has a node that is named like a leaf"),
        (["Federal-gov", "*", "*"], r"line 5 has the name of the top, or \*, below the top"),
        (["Federal-gov", "", "*"], "line 5 has a node without a name"),
    ],
)
def test_a_bad_line_is_refused_by_its_number(row, words):
    with pytest.raises(InputError, match=words):
        read_hierarchy(enumerate([*WORK, row], start=2))


def test_a_node_below_two_nodes_is_refused_and_so_is_a_cycle():
    twice = [["a", "x", "left", "*"], ["b", "x", "right", "*"]]
    with pytest.raises(InputError, match="line 2 has a node that lies below two nodes"):
        read_hierarchy(enumerate(twice, start=1))
    cycle = [["a", "x", "y", "*"], ["b", "y", "x", "*"]]
    with pytest.raises(InputError, match="line 2 has a node that lies below two nodes"):
        read_hierarchy(enumerate(cycle, start=1))
    in_one_line = [["a", "x", "y", "x", "*"]]
    with pytest.raises(InputError, match="line 1 has a node that lies below two nodes"):
        read_hierarchy(enumerate(in_one_line, start=1))
    through_the_top = [["a", "x", "all", "x", "all"]]
    with pytest.raises(InputError, match="line 1 has"):
        read_hierarchy(enumerate(through_the_top, start=1))


@pytest.mark.long
def test_a_hundred_thousand_leaves_are_read():
    rows = [
        [f"{leaf:05}", f"{leaf // 100:03}xx", f"{leaf // 10000}xxxx", "*"] for leaf in range(10**5)
    ]
    paths = read_hierarchy(enumerate(rows, start=1))
    assert paths["54321"] == ("5xxxx", "543xx", "54321")
    tree = Hierarchy(paths, other="543xx")
    strays = [tree.path_of(f"stray {number}") for number in range(10**5)]
    assert strays[7] == ("5xxxx", "543xx", "stray 7")


def test_prefixes_name_nodes_with_a_star_and_codes_may_have_any_length():
    tree = Hierarchy(prefix=(3, 1))
    assert tree.path_of("I20.1") == ("I*", "I20*", "I20.1")
    assert tree.path_of("I20") == ("I*", "I20*", "I20")
    assert tree.path_of("I") == ("I*", "I")
    assert tree.path_of("") == ("",)


def test_hours_are_aligned_and_other_texts_are_no_leaf():
    tree = Hierarchy(hours=(1, 6, 24))
    path = ("00:00-23:59", "06:00-11:59", "08:00-08:59", "08:17:03.5")
    assert tree.path_of("08:17:03.5") == path
    assert tree.path_of("8:05")[:-1] == path[:-1]
    assert tree.path_of("23:59")[1:3] == ("18:00-23:59", "23:00-23:59")
    assert {tree.path_of(text) for text in ("24:00", "8", "08:60", "noon", "")} == {None}


def test_values_that_are_no_leaf_belong_to_the_other_node_or_to_none():
    paths = read_hierarchy(enumerate(WORK, start=1))
    assert Hierarchy(paths, other="Government").path_of("Army") == ("Government", "Army")
    assert Hierarchy(paths).path_of("Army") is None
    # Its cell would read as the node.
    assert Hierarchy(paths, other="Government").path_of("Government") is None


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "numeric"},
        {"encoding": "ordinal", "order": ("a", "b")},
        {"order": ("a", "b")},
        {"rare": "pool"},
    ],
)
def test_a_hierarchy_belongs_to_categories_without_an_order(changes):
    with pytest.raises(InputError, match="hierarchy"):
        ColumnSpec(**{"name": "c", "kind": "categorical", "hierarchy": Hierarchy(), **changes})


@pytest.mark.parametrize(
    "changes",
    [{"kind": "date"}, {"encoding": "ordinal"}, {"bins": 5}, {"bins": (1.0,)}, {"rare": "pool"}],
)
def test_a_ladder_belongs_to_numbers_without_other_groups(changes):
    with pytest.raises(InputError, match="hierarchy"):
        ColumnSpec(
            **{"name": "c", "kind": "numeric", "hierarchy": Hierarchy(ladder=(5.0,)), **changes}
        )
