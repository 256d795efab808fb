"""Hierarchies that the starter proposes for codes: where name and values tell it, else none."""

import random
import tomllib

import polars as pl
import pytest

from crowdcover.kinds.table.plan.columns import ColumnSection
from crowdcover.kinds.table.plan.known_trees import build_country_tree, build_nace_tree
from crowdcover.kinds.table.starter.proposals import propose_role

ZIPS = [f"{region}{number}" for region in ("10", "60", "90") for number in range(100, 130)]
ICD = [f"{group}{end}.{sub}" for group in ("I2", "I3", "J2", "K5") for end in "058" for sub in "01"]
NUTS = [f"{part}{number}" for part in ("DE1", "DE2", "FR1", "FR2") for number in range(11, 30)]

DIVISIONS = list(build_nace_tree("plain").above)[::3]
ALPHA_2 = list(build_country_tree("alpha-2").paths)[::8]
ALPHA_3 = list(build_country_tree("alpha-3").paths)[::8]


def proposed(name, codes, rows=4_000):
    chance = random.Random(4)
    proposal = propose_role(pl.Series(name, [chance.choice(codes) for _ in range(rows)]))
    settings = tomllib.loads("\n".join(proposal.settings))
    return proposal, settings.get("hierarchy")


@pytest.mark.parametrize(
    ("name", "codes", "prefix", "reason"),
    [
        ("zip", ZIPS, [4, 3], "postal codes by name and shape"),
        ("zip", [int(code) for code in ZIPS], [4, 3], "postal codes by name and shape"),
        ("code_postal", ZIPS, [4, 3], "postal codes by name and shape"),
        ("main_code", ICD, [3, 2], "shaped like codes of ICD-10"),
        ("region", NUTS, [4, 3, 2], "shaped like regions of NUTS"),
    ],
)
def test_codes_of_a_known_kind_get_their_first_signs(name, codes, prefix, reason):
    proposal, tree = proposed(name, codes)
    assert proposal.role == "quasi"
    assert tree == {"prefix": prefix}
    assert reason in proposal.reason
    assert not any(str(code) in proposal.reason for code in codes)


@pytest.mark.parametrize(
    ("name", "codes", "form"),
    [
        ("country", ALPHA_2, "alpha-2"),
        ("land", ALPHA_2, "alpha-2"),
        ("country_of_birth", ALPHA_2, "alpha-2"),
        ("country", ALPHA_3, "alpha-3"),
        ("from", ALPHA_3, "alpha-3"),
        ("home", ALPHA_2, None),  # codes of states of the USA are those of countries, too
        ("country", [*ALPHA_2, "ZZ"], None),
        ("country", [*ALPHA_2, *ALPHA_3], None),
        ("country", [code.lower() for code in ALPHA_2], None),
    ],
)
def test_countries_lie_in_regions(name, codes, form):
    proposal, tree = proposed(name, codes)
    assert tree == (form and {"countries": form})
    assert ("codes of countries" in proposal.reason) == (form is not None)


@pytest.mark.parametrize(
    ("name", "codes", "form"),
    [
        ("nace", DIVISIONS, "plain"),
        ("industry", DIVISIONS, "plain"),
        ("ISIC_code", [f"{code}1" for code in DIVISIONS], "plain"),
        ("branche", [f"{code}.1{end}" for code in DIVISIONS for end in "12"], "dotted"),
        ("work", [f"{code}.1{end}" for code in DIVISIONS for end in "12"], "dotted"),
        ("work", DIVISIONS, None),  # two digits are codes of much else
        ("department", DIVISIONS, None),
        ("industry", [*DIVISIONS, "04"], None),  # a division that there is not
        ("industry", [*DIVISIONS, "4"], None),
        ("work", [*(f"{code}.11" for code in DIVISIONS), "04.11"], None),
        ("zip", [f"{code}1" for code in DIVISIONS], None),
    ],
)
def test_branches_of_industry_lie_in_sections(name, codes, form):
    proposal, tree = proposed(name, codes)
    assert tree == (form and {"nace": form})
    assert ("codes of NACE" in proposal.reason) == (form is not None)


DOTTED = [f"{code}.{end}" for code in DIVISIONS for end in ("10", "12")]
NO_ZERO_FIRST = [code for code in DOTTED if code[0] != "0"]


@pytest.mark.parametrize("name", ["nace", "nace_code", "industry"])
@pytest.mark.parametrize("codes", [DOTTED, NO_ZERO_FIRST])
def test_dotted_branches_of_a_named_column_are_codes_unless_they_were_read_as_numbers(name, codes):
    text, tree = proposed(name, codes)
    assert (text.role, tree) == ("quasi", {"nace": "dotted"})
    number, tree = proposed(name, [float(code) for code in codes])
    assert (number.role, number.settings, tree) == ("quasi", ('kind = "categorical"',), None)
    assert "read the column as text" in number.reason
    assert number.decide == ("kind",)


def test_other_fractions_beside_branches_stay_amounts():
    shares, tree = proposed("nace_share", [number / 1000 for number in range(100, 400)])
    assert (shares.settings[0], tree) == ('kind = "numeric"', None)


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("product", ZIPS),  # no name of postal codes
        ("zip", [*ZIPS, "1011"]),  # of two lengths
        ("zip", ["W1A 1AA", *ZIPS]),
        ("zip", ZIPS[:15]),  # few
        ("class", [code.replace(".", "") for code in ICD]),  # no dot and no name
        ("class", ["ZZ123", *NUTS]),  # no country
    ],
)
def test_nothing_is_proposed_where_it_is_not_told(name, codes):
    assert proposed(name, codes)[1] is None


@pytest.mark.parametrize(
    ("name", "values", "tree"),
    [
        ("age", list(range(18, 90)), {"ladder": [5, 10, 20]}),
        ("birth_year", list(range(1930, 2005)), {"ladder": [5, 10, 20]}),
        (
            "visit",
            [f"{year}-{month:02}-11" for year in range(2018, 2024) for month in range(1, 13)],
            {"calendar": ["month", "quarter", "year", "decade"]},
        ),
    ],
)
def test_ladders_and_calendars_are_offered_in_place_of_groups(name, values, tree):
    proposal, proposed_tree = proposed(name, values)
    assert proposed_tree is None
    offered = [line.removeprefix("# ") for line in proposal.settings if "hierarchy" in line]
    others = [line for line in proposal.settings if "hierarchy" not in line and "bins" not in line]
    stated = tomllib.loads("\n".join([*others, *offered]))
    assert stated["hierarchy"] == tree
    section = ColumnSection(role="quasi", **stated)
    assert section.column(name).spec.hierarchy is not None
