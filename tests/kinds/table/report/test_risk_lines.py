"""The three risks of a table in a line each: how many, which limit, and what to change."""

import copy
import re
from dataclasses import fields

import pytest

from anon_core.anonymizers import ANONYMIZERS
from crowdcover.kinds.table.plan.checks import ChecksSection
from crowdcover.kinds.table.plan.sections import PrivacySection
from crowdcover.kinds.table.report import attackers
from crowdcover.kinds.table.report.risk_lines import build_table_lines
from crowdcover.kinds.table.report.words import WORDS
from crowdcover.kinds.table.rules import DIVERSE_METHOD
from crowdcover.reports.messages import load_messages
from crowdcover.reports.risk_lines import describe_line, list_asides
from crowdcover.reports.words import ABOVE, NO_LIMIT, NOT_MEASURED, WITHIN
from tests.reports.of_tables import verdict
from tests.reports.samples import attack, full, matchable, old, uniform, unprotected, version

ALONE = "12 of 500 people (2.4 %)"


def picked(release):
    return build_table_lines(release)[0]


def linked(release):
    return build_table_lines(release)[1]


def learnt(release):
    return build_table_lines(release)[2]


def limited(measure, required, about=None):
    return {"measure": measure, "about": about, "required": required, "found": 0.0}


def test_a_person_who_signs_reads_whole_sentences():
    release = full(k=(10, 10))
    first, second, third = map(describe_line, build_table_lines(release))
    assert first == (
        "Can somebody be picked out? 0 of 500 people can be found with a chance above 1 in 10 by "
        "someone who knows everybody's true values in the masked columns (quasi-identifiers), but "
        "nobody's row. The strongest of those attackers is right with a chance of 1 in 33 on "
        "average. Limit: 0, as promised. It is kept. Too likely? Raise k in the plan."
    )
    assert second == (
        "Can somebody be linked with other data? 0 of 500 people have fewer than 10 rows that may "
        "be theirs when a list of names and true values is joined with the release. Such a join "
        "names the right row with a chance of 1 in 52 on average. Limit: 0, as promised. It is "
        "kept. Too few? Raise k in the plan."
    )
    assert third.startswith("Can something be learnt about somebody? 0 of 500 people fit only")
    assert third.endswith("Limit: 10.0 % of all, by the plan. It is kept.")


@pytest.mark.parametrize(("found", "result"), [(0, WITHIN), (3, ABOVE), (None, NOT_MEASURED)])
def test_who_is_picked_out_is_counted_by_what_is_promised(found, result):
    release = full()
    release["privacy"]["likelier_than_k"] = found
    assert picked(release).result == result
    assert picked(release).people.startswith("Not counted" if found is None else f"{found} of 500")
    classes = matchable()
    classes["privacy"] |= {"promise": ["equivalence classes"], "classes_below_k": found}
    assert picked(classes).result == result
    assert "Nobody can tell equal rows apart" in picked(classes).finding


@pytest.mark.parametrize(
    ("share", "people"), [(0.412, "206 of 500 people (41.2 %)"), (0.0, "0 of")]
)
def test_without_even_seats_likelier_rows_are_counted(share, people):
    release = matchable()
    release["attacks"]["insider"] = attack(0.03, 0.03, (share, 0.0, 0.0))
    line = picked(release)
    assert line.people.startswith(people)
    assert line.result == (NO_LIMIT if share else WITHIN)
    assert line.warns == (share > 0)
    assert ('anonymizer.seats = "even"' in line.change) == (share > 0)


@pytest.mark.parametrize(("limit", "result"), [(0.05, WITHIN), (0.02, ABOVE)])
def test_attacks_are_held_against_the_limit_of_the_plan(limit, result):
    release = full()
    release["checks"] = [limited("attack success", limit, "insider")]
    line = picked(release)  # the insider's chance is 0.0296
    assert line.result == result
    assert f"1 in {round(1 / limit)} on average, by the plan" in line.limit
    assert linked(release).limit == "Limit: 0, as promised. It is kept."  # of another attack
    release["checks"] = [limited("marketer risk", limit)]
    said = f"1 in {round(1 / limit)} on average, by the plan. It is kept"
    assert said in linked(release).limit


@pytest.mark.parametrize("number", [12, None])
def test_people_without_a_promise_come_first(number):
    release = unprotected()
    release["privacy"]["unprotected"] = number
    for line in (picked(release), linked(release)):
        assert line.result == (NOT_MEASURED if number is None else ABOVE)
        assert line.people == (ALONE if number else "Not counted: people that")
        assert "k of 2 or more" in line.change


def test_what_to_change_are_keys_that_plans_have():
    entries = load_messages("crowdcover.kinds", "crowdcover.kinds.table").entries["risk_lines"]
    advised = " ".join(entries[name] for name in ("change", "change_of_learnt"))
    keys = set(re.findall(r"\b(privacy|checks|anonymizer)\.(\w+)", advised))
    allowed = {
        "privacy": PrivacySection.model_fields,
        "checks": ChecksSection.model_fields,
        "anonymizer": {"name", *(each.name for each in fields(ANONYMIZERS["adaptive"]))},
    }
    assert len(keys) >= 4
    assert all(key in allowed[section] for section, key in keys)
    assert f'anonymizer.name = "{DIVERSE_METHOD}"' in " ".join(advised.split())


def test_the_link_of_most_people_is_named():
    release = full()
    release["protection"]["unique_values"] = {"illness": 0, "admitted": 40, "ward": 9}
    release["columns"]["admitted"]["kind"] = "numeric"
    line = linked(release)
    assert line.people == "40 of 500 people (8.0 %)"
    assert line.finding == (
        "have a value of admitted that no other row has: other data with names and this value "
        "finds the rows."
    )
    assert line.result == NO_LIMIT
    assert "coarser numbers" in line.change
    release["second_release"] |= {"people": 100, "below_k": 50}
    assert linked(release).people == "50 of 100 people (50.0 %)"
    assert linked(release).result == ABOVE


def test_one_person_without_a_promise_hides_nothing_of_others():
    release = matchable()
    release["privacy"] |= {"k_min": 1, "unprotected": 1}
    release["protection"]["unique_values"] = {"admitted": 40, "ward": 30, "bed": 24}
    line = linked(release)
    assert line.people == "40 of 500 people (8.0 %)"
    assert line.finding.endswith(
        "finds the rows. So it is with 1 more column, for 5.0 % or more. 1 of 500 people (0.2 %) "
        "has k = 1: no promise protects them."
    )
    assert line.warns
    assert picked(release).people == "206 of 500 people (41.2 %)"
    assert picked(release).warns
    assert picked(release).finding.endswith("has k = 1: no promise protects them.")
    release["privacy"]["unprotected"] = 300
    for line in (linked(release), picked(release)):
        assert line.people == "300 of 500 people (60.0 %)"
        assert line.warns
    assert "For 5.0 % or more, each of 2 columns has a value" in linked(release).finding
    release["protection"]["unique_values"] = {"bed": 24}
    assert not linked(release).warns


def test_a_broken_promise_comes_before_what_none_is_about():
    release = matchable()
    release["privacy"]["matchable_below_k"] = 3
    line = picked(release)
    assert line.people.startswith("3 of 500 people")
    assert line.result == ABOVE


def test_versions_count_all_rows_so_far():
    line = picked(version())
    assert line.people == "0 of 4,500 people"
    assert "over all versions so far" in line.finding
    assert "500 new rows only" in line.finding
    assert linked(version()).people == "41 of 5,000 people (0.8 %)"
    assert "connects rows by ward" in linked(version()).finding


@pytest.mark.parametrize(
    ("number", "limit", "result"),
    [(0, 0.1, WITHIN), (50, 0.1, WITHIN), (51, 0.1, ABOVE), (51, None, NO_LIMIT)],
)
def test_what_is_learnt_is_held_against_the_limit_of_its_column(number, limit, result):
    release = uniform(number)
    release["checks"] = [limited("uniform crowds", 0.0, "another")]
    release["checks"] += [limited("uniform crowds", limit, "illness")] if limit else []
    line = learnt(release)
    assert line.people.startswith(f"{number} of 500 people")
    assert (line.result, line.warns) == (result, number > 0)
    assert bool(line.change) == (number > 0)


def test_what_nobody_counted_is_never_none():
    release = uniform(3)
    del release["protection"]["sensitive"]["illness"]["uniform"]
    assert learnt(release).result == NOT_MEASURED
    assert learnt(release).warns
    release["protection"]["sensitive"] = {}
    assert "the plan names no column as sensitive" in learnt(release).finding
    assert "ward, admitted were not looked at" in learnt(release).finding
    assert "older than this figure" in learnt(old()).finding


def test_an_insider_who_knows_rows_of_others_is_said_once_and_warns_of_nothing():
    release = full()
    release["attacks"]["insider who knows 1"] = attack(0.9, 0.03, (1.0, 1.0, 1.0))
    assert verdict(release).tone == "holds"
    assert build_table_lines(release) == build_table_lines(full())
    (aside,) = list_asides(build_table_lines(release))
    assert "in every release with a row for each person" in aside
    named = {each.name: each for each in attackers.attacks(release)}
    assert named["insider who knows 1"].tone == "open"
    assert named["insider who knows 1"].result == "so in every release"
    assert not named["insider who knows 1"].is_above


def test_the_lines_stand_beside_the_figures_of_each_risk():
    release = copy.deepcopy(full())
    assert [risk.line for risk in WORDS.risks(release)] == build_table_lines(release)
