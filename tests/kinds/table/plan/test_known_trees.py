"""Trees of countries and of branches of industry: each code once, below the node of its source."""

import polars as pl
import pytest
from phonenumbers import SUPPORTED_REGIONS

import crowdcover as cc
from anon_core.errors import AnonymityError
from crowdcover.kinds.table.plan.hierarchies import HierarchySection, describe_for_hash
from crowdcover.kinds.table.plan.known_trees import build_country_tree, build_nace_tree

NO_CODES = {"AC", "TA"}  # islands with numbers of their own; ISO 3166-1 reserves their codes
REGIONS = 22  # of M49; the Antarctic has none


def test_each_country_stands_once_in_each_form():
    two, three = (build_country_tree(form).paths for form in ("alpha-2", "alpha-3"))
    assert len(two) == len(three) == 249 + 1  # and Kosovo
    assert two.keys() >= SUPPORTED_REGIONS - NO_CODES
    assert {len(code) for code in two} == {2}
    assert {len(code) for code in three} == {3}
    assert [path[:-1] for path in two.values()] == [path[:-1] for path in three.values()]
    assert len({path[1] for path in two.values() if len(path) == 3}) == REGIONS


@pytest.mark.parametrize(
    ("code", "above"),
    [
        ("DE", ("Europe", "Western Europe")),
        ("CY", ("Asia", "Western Asia")),
        ("NR", ("Oceania", "Micronesia")),
        ("MX", ("Americas", "Central America")),
        ("SD", ("Africa", "Northern Africa")),
        ("SS", ("Africa", "Eastern Africa")),
        ("AQ", ("Antarctica",)),
    ],
)
def test_countries_lie_where_m49_has_them(code, above):
    assert build_country_tree("alpha-2").paths[code] == (*above, code)


def test_masked_cells_are_regions():
    codes = ["DEU", "FRA", "ITA", "ESP", "KEN", "TZA", "NGA", "GHA"]
    people = pl.DataFrame({"home": [codes[i % 8] for i in range(48)], "age": range(48)})
    tree = {"home": {"countries": "alpha-3"}}
    found = cc.anonymize(people, ["home", "age"], k=6, hierarchies=tree, cells="text").frame
    nodes = {name for path in build_country_tree("alpha-3").paths.values() for name in path}
    assert {*found["home"]} <= nodes | {"*"}
    assert {*found["home"]} - {*codes}


def test_a_code_of_no_country_is_refused():
    people = pl.DataFrame({"home": ["DE", "FR", "ZZ"] * 4})
    with pytest.raises(AnonymityError, match="home"):
        cc.anonymize(people, "home", k=2, hierarchies={"home": {"countries": "alpha-2"}})


# Divisions that NACE Rev. 2 left free, of 01 to 99.
FREE = {"04", "34", "40", "44", "48", "54", "57", "67", "76", "83", "89"}
CLASSES = ["01.11", "01.13", "10.11", "10.51", "62.01", "62.02", "63.11", "86.10"]


def test_each_division_lies_in_one_of_21_sections():
    above = build_nace_tree("plain").above
    assert {f"{number:02}" for number in range(1, 100)} - above.keys() == FREE
    assert "".join(dict.fromkeys(above.values())) == "ABCDEFGHIJKLMNOPQRSTU"
    assert list(above) == sorted(above)


@pytest.mark.parametrize(
    ("form", "code", "path"),
    [
        ("dotted", "62.01", ("J", "62*", "62.0*", "62.01")),
        ("dotted", "62.0", ("J", "62*", "62.0*", "62.0")),
        ("dotted", "62", ("J", "62*", "62")),
        ("plain", "6201", ("J", "62*", "620*", "6201")),
        ("plain", "0111", ("A", "01*", "011*", "0111")),
        ("plain", "99", ("U", "99*", "99")),
        ("dotted", "6201", None),
        ("dotted", "62.", None),
        ("dotted", "62.011", None),
        ("plain", "62.01", None),
        ("plain", "62011", None),
        ("plain", "6", None),
        ("plain", "20 - 29", None),
        ("plain", "6\u0662", None),  # a digit that no code has
        ("plain", "0400", None),
        ("plain", "J62", None),
        ("plain", "", None),
    ],
)
def test_classes_lie_in_groups_divisions_and_sections(form, code, path):
    tree = build_nace_tree(form)
    assert tree.path_of(code) == path
    assert [tree.name_level(depth) for depth in (1, 2, 3)] == ["section", "division", "group"]
    assert tree.depth == 3


def test_masked_cells_are_groups_divisions_and_sections():
    people = pl.DataFrame({"work": [CLASSES[i % 8] for i in range(48)], "age": range(48)})
    tree = {"work": {"nace": "dotted", "weights": [0, 0.2, 0.4, 0.8, 1]}}
    made = cc.anonymize(people, ["work", "age"], k=6, hierarchies=tree, cells="text")
    cells = {*made.frame["work"]}
    nodes = {name for code in CLASSES for name in build_nace_tree("dotted").path_of(code)}
    assert cells <= nodes | {"*"}
    assert cells - {*CLASSES}


@pytest.mark.parametrize("stray", ["04", "01.1", "20 - 29"])
def test_a_code_of_no_division_or_of_another_form_is_refused(stray):
    people = pl.DataFrame({"work": ["01", "02", stray] * 4})
    with pytest.raises(AnonymityError, match="work"):
        cc.anonymize(people, "work", k=2, hierarchies={"work": {"nace": "plain"}})


def test_branches_are_another_plan_than_beginnings_alone():
    named, prefix = HierarchySection(nace="plain"), HierarchySection(prefix=[3, 2])
    described = [describe_for_hash(each.hierarchy()) for each in (named, prefix)]
    assert described[1] == [3, 2]
    assert described[0] != described[1]
