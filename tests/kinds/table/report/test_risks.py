"""Singling out, linkability, inference: each figure with its limit, and "not measured"."""

import pytest

from crowdcover.kinds.table.report.attackers import (
    build_attack_blocks,
    build_membership_block,
)
from crowdcover.kinds.table.report.risks import list_risks
from crowdcover.reports.quantities import percent
from crowdcover.reports.words import (
    ABOVE,
    NO_DEMAND,
    NO_LIMIT,
    NOT_MEASURED,
    OF_EVERY_RELEASE,
    WITHIN,
)
from tests.reports.of_tables import render_page
from tests.reports.samples import alarming, crowds, full, matchable, of_rows, old, unprotected


def figures(release, risk, what):
    """Measured, held against and result of each figure that begins like this."""
    (named,) = [each for each in list_risks(release) if each.name == risk]
    return [figure[1:] for figure in named.figures if figure.what.startswith(what)]


def one(release, risk, what):
    """The only such figure."""
    (found,) = figures(release, risk, what)
    return found


def test_the_three_risks_of_the_opinion_stand_by_name() -> None:
    assert [risk.name for risk in list_risks(full())] == [
        "Singling out",
        "Linkability",
        "Inference",
    ]


def test_a_promise_is_held_against_zero() -> None:
    what = "People with too few matchable rows"
    assert one(full(), "Singling out", what) == ("0 of 500 (0.0 %)", "0: the promise", WITHIN)
    release = full()
    release["privacy"]["matchable_below_k"] = 2
    assert one(release, "Singling out", what) == ("2 of 500 (0.4 %)", "0: the promise", ABOVE)
    del release["privacy"]["matchable_below_k"]
    assert one(release, "Singling out", what) == (NOT_MEASURED, "0: the promise", NOT_MEASURED)


def test_even_seats_are_a_figure_of_singling_out() -> None:
    even = one(full(), "Singling out", "People with a row likelier than 1 in k")
    assert even == ("0 of 500 (0.0 %)", "0: the promise", WITHIN)
    what = "People with a row likelier than 1 in k, for an insider"
    without = one(matchable(), "Singling out", what)
    assert without == ("206 of 500 (41.2 %)", "nothing", NO_LIMIT)


def test_who_is_in_the_table_is_compared_with_people_who_are_not() -> None:
    release, what = full(), "Drawn people, not in the table, whom at least 12 rows fit"
    assert one(release, "Inference", "Whether somebody is in the table")[0] == NOT_MEASURED
    told = {"drawn": 500, "matched": 400, "rows": 12, "members": 490, "others": 100}
    release["protection"]["membership"] = told
    held = "compare 98.0 % of the people who are in it"
    assert one(release, "Inference", what) == ("100 of 500 (20.0 %)", held, NO_LIMIT)
    block = build_attack_blocks(release)[-1]
    assert [row[1:] for row in block.rows] == [
        ("500 of 500 (100.0 %)", "400 of 500 (80.0 %)"),
        ("490 of 500 (98.0 %)", "100 of 500 (20.0 %)"),
    ]
    assert block.rows[1][0].endswith("at least 12 rows fit: tells both apart best")
    told |= {"rows": 1, "members": 500, "others": 400}
    assert len(build_membership_block(release).rows) == 1
    assert "publish a sample of the people only" in " ".join(render_page(release, crowds()).split())


def test_where_nobody_could_be_drawn_no_figure_is_stated() -> None:
    release = full()
    nobody = {"drawn": 0, "matched": 0, "rows": 3, "members": 500, "others": 0}
    release["protection"]["membership"] = nobody
    what = "Whether somebody is in the table at all: nobody could be drawn"
    assert one(release, "Inference", what)[0] == NOT_MEASURED
    assert build_membership_block(release) is None
    assert "who is in the table" not in render_page(release, crowds())


def test_an_attack_is_held_against_the_plan_or_else_against_guessing() -> None:
    what = "Chance that an insider"
    by_guessing = one(full(), "Singling out", what)
    assert by_guessing == ("1 in 33", "1 in 33: 1/k on average", WITHIN)
    assert one(alarming(), "Singling out", what)[2] == ABOVE
    release = full()
    release["checks"] = [
        {"measure": "attack success", "about": "insider", "required": 0.05, "found": 0.0296}
    ]
    limited = figures(release, "Singling out", what)
    assert limited == [by_guessing, ("1 in 33", "1 in 20: the plan", WITHIN)]


@pytest.mark.parametrize(
    ("limit", "against", "result"),
    [
        (0.3, "at most 30.0 %: the plan", WITHIN),
        (0.2, "at most 20.0 %: the plan", ABOVE),
        (None, "the plan sets no limit", NO_LIMIT),
    ],
)
def test_known_values_are_held_against_the_limit_of_the_plan(limit, against, result) -> None:
    release = full()
    release["protection"]["sensitive"]["illness"]["uniform"] = 120
    stated = {"measure": "uniform crowds", "about": "illness", "required": limit, "found": 0.24}
    release["checks"] = [] if limit is None else [stated]
    found = one(release, "Inference", "People whose crowd has one value of illness")
    assert found == ("120 of 500 (24.0 %)", against, result)


def test_what_was_not_measured_is_never_none() -> None:
    inference = one(full(), "Inference", "People whose crowd has one value of a kept column")
    assert inference == (NOT_MEASURED, "nothing", NOT_MEASURED)
    assert NOT_MEASURED in one(of_rows(), "Linkability", "Rows that share an identifier")
    assert one(full(), "Linkability", "Rows that share an identifier")[2] == WITHIN
    for risk in list_risks(old()):
        promised = [figure for figure in risk.figures if "promise" in figure.against]
        rest = [figure for figure in risk.figures if figure not in promised]
        assert {figure.result for figure in rest} == {NOT_MEASURED}
        assert not [figure for figure in rest if figure.measured.startswith("0")]


def test_a_plan_without_sensitive_columns_is_not_said_to_be_safe() -> None:
    release = full()
    release["protection"]["sensitive"] = {}
    del release["columns"]["illness"]
    found = one(release, "Inference", "People whose crowd has one value of a sensitive column")
    assert found == ("the plan names no sensitive column", "nothing", NOT_MEASURED)


@pytest.mark.parametrize(("right", "result"), [(250, WITHIN), (300, ABOVE)])
def test_a_private_k_that_crowds_tell_is_held_against_one_guess_for_all(right, result) -> None:
    release = full()
    release["attacks"]["demand"] = {"right": right, "commonest": 250, "ruled_out": 4}
    found = one(release, "Inference", "People whose private k")
    assert found[1:] == ("250 of 500 (50.0 %): one guess for all", result)
    assert figures(full(), "Inference", "People whose private k") == []
    release["attacks"]["demand"] = {}
    assert one(release, "Inference", "People whose private k")[2] == NOT_MEASURED


def test_nothing_is_within_where_nothing_is_demanded() -> None:
    release = unprotected(500)
    release["attacks"] = {
        name: {"success": 0.5, "promised": 1.0} for name in ("linkage", "insider")
    }
    singling = figures(release, "Singling out", "")
    assert [each[2] for each in singling[:4]] == [NO_DEMAND, NO_DEMAND, ABOVE, NO_DEMAND]
    assert figures(release, "Linkability", "Chance")[0][2] == NO_DEMAND


def test_attackers_who_know_rows_of_others_are_measured_or_said_not_to_be() -> None:
    what = "Attackers who know which rows other people sit in"
    assert one(full(), "Singling out", what) == (NOT_MEASURED, "nothing", NOT_MEASURED)
    release = full()
    release["attacks"]["insider who knows 1"] = {"success": 0.05, "promised": 0.03}
    assert figures(release, "Singling out", what) == []
    found = one(release, "Singling out", "Chance that an insider who knows the row of one other")
    # No release holds this attacker, so the figure is no fault of this one.
    assert found == ("1 in 20", "nothing", OF_EVERY_RELEASE)


def test_limits_of_an_older_release_are_not_said_to_be_missing_from_its_plan() -> None:
    release = full()
    del release["checks"]
    found = one(release, "Inference", "People whose crowd has one value of illness")
    assert found[1] == "the limits are not stated"


def test_people_without_protection_are_above_every_threshold() -> None:
    found = one(unprotected(), "Singling out", "People with k = 1")
    assert found == ("12 of 500 (2.4 %)", "0: a crowd needs a second row", ABOVE)
    release = unprotected()
    del release["privacy"]["unprotected"]
    assert one(release, "Singling out", "People with k = 1")[::2] == (NOT_MEASURED, ABOVE)


def test_values_that_find_rows_are_named_and_the_other_columns_counted_together() -> None:
    release = full()
    release["protection"]["unique_values"] = {"illness": 7, "ward": 0, "admitted": 0}
    assert one(release, "Singling out", "Rows whose value of illness") == (
        "7 of 500 (1.4 %)",
        "nothing",
        NO_LIMIT,
    )
    others = one(release, "Singling out", "Rows with a value that no other row has, in each other")
    assert others[0] == "0 of 500 (0.0 %)"


def test_other_releases_are_held_against_the_promise() -> None:
    assert one(full(), "Linkability", "People with fewer than k rows left")[0] == "0 of 480 (0.0 %)"
    release = full()
    del release["second_release"]
    found = one(release, "Linkability", "People with fewer than k rows left")
    assert found == ("no other release is recorded", "nothing", NOT_MEASURED)


@pytest.mark.parametrize(
    ("by", "share", "against", "result"),
    [
        ("chances", 0.0, "0: proved for even seats", WITHIN),
        ("chances", 0.25, "nothing", NO_LIMIT),
        ("matchings", 0.0, "nothing", NO_LIMIT),
        ("matchings", None, "nothing", NOT_MEASURED),
    ],
)
def test_cells_that_the_program_tells_are_a_figure_of_inference(by, share, against, result) -> None:
    release = full()
    what = "Masked cells of which one value only is left"
    assert figures(release, "Inference", what) == []
    release["protection"]["refinement"] = {
        "by": by, "masked": 0.4, "one_value": share, "narrowed": share
    }  # fmt: skip
    measured = NOT_MEASURED if share is None else percent(share)
    assert one(release, "Inference", what) == (measured, against, result)
    assert one(release, "Inference", "Masked cells that list a value")[0] == measured
    release["mixed"] = "illness"  # then the chances are no longer those that were drawn
    assert one(release, "Inference", what)[1] == "nothing"
