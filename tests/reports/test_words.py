"""The texts about attacks, notices and the history of a release."""

import math

import pytest

from crowdcover.kinds.table.report import attackers, bars, facts
from crowdcover.kinds.table.report.words import WORDS
from crowdcover.reports import history, notices, verdict
from crowdcover.reports.risk_lines import list_risk_lines
from tests.reports.samples import alarming, attack, full, manifest, old


def one(**found: object) -> attackers.Attack:
    """The only attack of a release."""
    return attackers.attacks({"attacks": {"linkage": found}})[0]


@pytest.mark.parametrize("name", ["partial linkage", "partial_linkage", "Partial-Linkage"])
def test_attacks_are_known_however_they_are_spelled(name: str) -> None:
    (found,) = attackers.attacks({"attacks": {name: attack(0.1, 0.1, (0, 0, 0))}})
    assert found.who == "A colleague"


@pytest.mark.parametrize(
    ("found", "result", "tone"),
    [
        ({"success": 0.1, "promised": 0.1}, "no better", "pass"),
        ({"success": 0.0999, "promised": 0.1}, "no better", "pass"),
        ({"success": 0.1001, "promised": 0.1}, "better", "fail"),
        ({"success": 0.1}, "not stated", "open"),
        ({"success": None, "promised": 0.1}, "not stated", "open"),
        ({"success": math.nan, "promised": 0.1}, "not stated", "open"),
        ({}, "not stated", "open"),
    ],
)
def test_an_attack_is_contained_or_above_only_where_both_numbers_say_so(
    found: dict[str, float], result: str, tone: str
) -> None:
    tried = one(**found)
    assert (tried.result, tried.tone) == (result, tone)
    assert (tried.is_contained, tried.is_above) == (tone == "pass", tone == "fail")
    assert ("danger" in bars.attack_plot([tried])) == (tone == "fail")


def test_multiples_stand_in_their_order_and_a_missing_share_is_not_zero() -> None:
    found = attackers.attacks(
        {"attacks": {"a": {"above": {"10": 0.1, "1.5": 0.2}}, "b": {"above": {"3": 0.0}}}}
    )
    times = attackers.multiples(found)
    assert times == ["1.5", "3", "10"]
    assert attackers.shares(found[0], times) == ["20.0 %", "not stated", "10.0 %"]


@pytest.mark.parametrize("name", ["order", "tightest row"])
def test_a_lucky_guess_is_no_chance_of_a_person(name: str) -> None:
    release = full()
    release["attacks"] = {name: attack(0.002, 0.03, (0.002, 0.002, 0.002))}
    assert attackers.shares(attackers.attacks(release)[0], ["1", "3"]) == ["-", "-"]
    assert notices.list_notices(release, WORDS) == []
    release["attacks"] = {name: attack(0.04, 0.03, (0.04, 0.04, 0.04))}
    assert [notice.risk for notice in notices.list_notices(release, WORDS)] == [True]


def test_the_strongest_attack_is_the_one_that_works_most_often() -> None:
    assert attackers.find_strongest_attack(attackers.attacks(full())).name == "insider"
    assert attackers.find_strongest_attack([one()]) is None
    assert attackers.find_strongest_attack([]) is None


def test_a_release_without_flaw_needs_no_notice() -> None:
    assert notices.list_notices(full(), WORDS) == []
    assert [notice.risk for notice in notices.list_notices(alarming(), WORDS)] == [True] * 3
    assert [line.warns for line in list_risk_lines(alarming(), WORDS)] == [True, False, True]
    assert [notice.risk for notice in notices.list_notices(old(), WORDS)] == [False]


@pytest.mark.parametrize(
    "approval", [{"required": True}, {"required": True, "by": ""}, {"required": True, "by": None}]
)
def test_an_approval_needs_a_name(approval: dict[str, object]) -> None:
    assert history.approval_lacks({"approval": approval})
    assert history.list_history_parts({"approval": approval})[0].facts[0].value == "not stated"


def test_a_comparison_of_releases_without_its_count_has_not_passed() -> None:
    assert verdict.promise_holds(full(), WORDS)
    assert not verdict.promise_holds({**manifest(), "second_release": {"overlapping": 1}}, WORDS)
    assert not verdict.promise_holds({**manifest(), "second_release": {}}, WORDS)


def test_entries_without_words_go_by_their_own_name() -> None:
    drift = {
        "columns_gone": ["a", "b"],
        "edges": {"a": 0.25},
        "stopped": False,
        "rows": 5,
        "shift": 0.126,
        "utility": None,
    }
    said = [fact[:2] for fact in history.list_history_parts({"drift": drift})[2].facts]
    assert said[:2] == [("Rows now", "5"), ("Greatest shift", "0.13")]
    assert said[2:] == [
        ("Columns gone", "a, b"),
        ("Edges", "a: 0.25"),
        ("Stopped", "no"),
        ("Utility", "not stated"),
    ]


def test_information_kept_is_what_is_not_lost() -> None:
    assert facts.compute_kept_information(manifest()) == pytest.approx(1 - 0.1123)
    assert [column.name for column in facts.columns(manifest())] == ["age", "sex"]
    missing = {
        "utility": {"per_column": {"a": {"ncp": 0.2}, "b": {"ncp": None}, "c": {"ncp": 0.0}}}
    }
    assert [column.name for column in facts.columns(missing)] == ["b", "a", "c"]


def test_the_first_page_says_how_many_peoples_values_are_known() -> None:
    release = manifest()
    release["protection"]["sensitive"]["illness"] |= {"distinct": 1, "uniform": 120}
    learnt = list_risk_lines(release, WORDS)[2]
    assert learnt.people == "120 of 500 people (24.0 %)"
    assert learnt.finding.startswith("fit only rows that show the same value")


@pytest.mark.parametrize(("number", "warned"), [(24, False), (25, True), (500, True)])
def test_columns_whose_values_find_rows_are_named(number: int, warned: bool) -> None:
    release = manifest()
    release["protection"]["unique_values"] = {"illness": number}
    linked = list_risk_lines(release, WORDS)[1]
    assert linked.people.startswith(f"{number} of 500 people")
    assert "have a value of illness that no other row has" in linked.finding
    assert linked.warns == warned
