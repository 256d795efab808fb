"""The tree of countries: each code once, in the region that the United Nations name."""

import polars as pl
import pytest
from phonenumbers import SUPPORTED_REGIONS

import crowdcover as cc
from anon_core.errors import AnonymityError
from crowdcover.kinds.table.plan.countries import build_country_tree

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
