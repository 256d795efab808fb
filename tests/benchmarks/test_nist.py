"""Rules of the ACS excerpts, the slope, and rows that are drawn until they break no rule."""

import polars as pl
import pytest

import crowdcover
from benchmarks.nist.rules import BROKEN, drawn, inconsistent, slope, whole
from tests.crowdcover.reader.folders import attribute, folder

ADULT = {
    "AGEP": 40,
    "MSP": "1",
    "EDU": 9,
    "PINCP_DECILE": 5,
    "DVET": None,
    "HOUSING_TYPE": "1",
    "OWN_RENT": "2",
}
INFANT = ADULT | {"AGEP": 2, "MSP": None, "EDU": None, "PINCP_DECILE": None}
PUPIL = INFANT | {"AGEP": 9, "EDU": 3}
TYPES = dict.fromkeys(ADULT, pl.String) | dict.fromkeys(("AGEP", "EDU", "PINCP_DECILE"), pl.Int64)
FAULTS = {  # a rule, and a row that breaks it alone
    "MSP is N below 15 only": PUPIL | {"MSP": "6"},
    "PINCP_DECILE is N below 15 only": ADULT | {"PINCP_DECILE": None},
    "EDU is N below 3 only": ADULT | {"EDU": None},
    "DVET is N below 15": PUPIL | {"DVET": "1"},
    "no diploma below 5": PUPIL | {"AGEP": 4, "EDU": 5},
    "no doctorate below 15": PUPIL | {"EDU": 12},
    "OWN_RENT is 0 in group quarters only": ADULT | {"HOUSING_TYPE": "3"},
}


def table(*rows):
    return pl.DataFrame(rows, schema=TYPES, orient="row")


def test_rows_of_the_excerpts_break_no_rule():
    quarters = ADULT | {"HOUSING_TYPE": "2", "OWN_RENT": "0"}
    assert not inconsistent(table(ADULT, INFANT, PUPIL, quarters)).any()


@pytest.mark.parametrize("rule", BROKEN)
def test_a_row_that_breaks_a_rule_is_found_by_that_rule(rule):
    frame = table(ADULT, FAULTS[rule])
    assert inconsistent(frame).tolist() == [False, True]
    broken = frame.select(each.alias(name) for name, each in BROKEN.items())
    assert [name for name in broken.columns if broken[name][1]] == [rule]


@pytest.mark.parametrize("education", ["3", 3])
def test_rows_that_break_a_rule_are_drawn_anew(tmp_path, education):
    """Children have neither status nor income, adults both; education may be text, too."""
    age = attribute("AGEP", "numeric", ("9", "40"))
    status = attribute("MSP", labels=("(missing)", "1", "2"))
    income = attribute("PINCP_DECILE", "numeric", ("(missing)", "5"))
    masked = {"AGEP": "9..40", "MSP": "*", "PINCP_DECILE": "*", "EDU": education}
    rows = {name: [value] * 60 for name, value in (ADULT | masked).items()}
    release = crowdcover.read(folder(tmp_path, [age, status, income], rows))
    assert inconsistent(drawn(release, 1, rules=False)).any()
    table = drawn(release, 1, rules=True)
    assert not inconsistent(table).any()
    assert set(table["AGEP"]) == {9, 40}
    assert set(table["EDU"]) == {3}


def test_numbers_of_groups_become_whole_and_stay_in_their_group():
    frame = table(ADULT).with_columns(AGEP=pl.Series([90.2]), EDU=pl.Series(["9"]))
    assert whole(frame)["AGEP"].to_list() == [91]
    assert whole(frame)["EDU"].to_list() == [9]


def test_the_slope_is_that_of_people_above_15_who_have_both():
    line = [ADULT | {"EDU": level, "PINCP_DECILE": level // 2} for level in (2, 4, 8)]
    others = [INFANT, ADULT | {"AGEP": 15, "EDU": 1, "PINCP_DECILE": 9}, ADULT | {"EDU": None}]
    assert slope(table(*line, *others)) == pytest.approx(0.5)
