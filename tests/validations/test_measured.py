"""Expectations of measured numbers pass where the rule of the measures does, never without one."""

from typing import Any

import numpy as np
import pytest

from crowdcover.kinds import KINDS, kind_called
from crowdcover.kinds.judge.limits import Limit, LimitCheck, LimitNumber
from crowdcover.validations import measured
from crowdcover.validations.run import validate_columns

NAN, INFINITY = float("nan"), float("inf")


MEASURES = {
    name: measure
    for kind in KINDS
    for name, measure in kind_called(kind).sections["checks"][0].list_measures().items()
}


def asked(measure: str, found: float | None, limit: float = 2.0) -> LimitCheck:
    number = LimitNumber(
        found=found, about="illness", required=limit, l=3, measure=MEASURES[measure]
    )
    declared: Any = Limit(
        **{**vars(MEASURES[measure]), **dict.fromkeys(("description", "example", "documented"), "")}
        | {"numbers": lambda measured, stated: [number], "remedy": ""}
    )
    (check,) = declared.compare("key", limit, {})
    return check


@pytest.mark.parametrize(
    ("measure", "holds"),
    [
        ("utility", (False, True, True)),
        ("information", (False, True, True)),
        ("distinct values", (False, True, True)),
        ("values by entropy", (False, True, True)),
        ("odds", (True, False, False)),
        ("distance", (True, True, False)),
        ("uniform crowds", (True, True, False)),
        ("identical rows", (False, True, True)),
        ("row loss", (True, True, False)),
        ("attack success", (True, True, False)),
        ("jaccard", (False, True, True)),
        ("discrepancy", (True, True, False)),
        ("degree error", (True, True, False)),
        ("vertices below", (True, True, False)),
        ("unchanged", (True, True, False)),
    ],
)
def test_below_at_and_above_the_limit_and_without_a_number(
    measure: str, holds: tuple[bool, ...]
) -> None:
    requirements = [
        asked(measure, found) for found in (1.5, 2, 2.5, None, NAN, INFINITY, -INFINITY)
    ]
    verdict = validate_columns(
        measured.build_required_suite(requirements), measured.frame_measures(requirements)
    )
    assert tuple(outcome.success for outcome in verdict.outcomes) == (
        *holds,
        False,
        False,
        False,
        False,
    )
    assert [outcome.success for outcome in verdict.outcomes] == [
        each.holds for each in requirements
    ]
    assert {outcome.column for outcome in verdict.outcomes} == {"illness"}


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"other": np.array([9.0])},
        {"requirement 0": np.array([9.0, 9.0])},
        {"requirement 0": np.array([], dtype=float)},
        {"requirement 0": np.array(["9"], dtype=object)},
        {"requirement 0": np.array([None])},
        {"requirement 0": np.array([True])},
    ],
    ids=["nothing", "another column", "two rows", "no row", "text", "None", "boolean"],
)
def test_a_broken_measure_is_not_reached(columns: Any) -> None:
    assert not validate_columns(
        measured.build_required_suite([asked("utility", 9.0)]), columns
    ).success
    assert validate_columns(
        measured.build_required_suite([asked("utility", 9.0)]), {"requirement 0": np.array([9.0])}
    ).success


def test_limits_of_one_kind_are_told_apart() -> None:
    requirements = [asked("distinct values", 3, limit) for limit in (2, 3, 4)]
    verdict = validate_columns(
        measured.build_required_suite(requirements), measured.frame_measures(requirements)
    )
    assert [outcome.success for outcome in verdict.outcomes] == [True, True, False]
    assert [str(failure) for failure in verdict.failures] == [
        "expect_crowd_distinct_values_to_be_at_least (illness)"
    ]


def test_words_name_the_limit_and_nothing_that_was_found() -> None:
    requirements = [asked(measure, 86420135.0, 0.75) for measure in MEASURES]
    outcomes = validate_columns(
        measured.build_required_suite(requirements), measured.frame_measures(requirements)
    ).outcomes
    assert all("0.75" in outcome.words and "$" not in outcome.words for outcome in outcomes)
    assert "from rank 3 on" in next(
        outcome.words for outcome in outcomes if "odds" in outcome.expectation
    )
    assert not [outcome for outcome in outcomes if "8642" in repr(outcome) or outcome.found]


def test_whole_numbers_read_as_such() -> None:
    (outcome,) = validate_columns(
        measured.build_required_suite([asked("distinct values", 5, 3)]),
        {"requirement 0": np.array([5])},
    ).outcomes
    assert outcome.words == "Every crowd has at least 3 distinct values."


def test_the_rule_is_that_of_the_measures(monkeypatch: Any) -> None:
    monkeypatch.setattr(
        measured,
        "is_limit_reached",
        lambda sense, found, limit: (sense, found, limit) == ("at least", 9.0, 2.0),
    )
    for found in (9.0, 10.0):
        suite = measured.build_required_suite([asked("utility", found)])
        columns = {"requirement 0": np.array([found])}
        assert validate_columns(suite, columns).success is (found == 9.0)
