"""Numbers and limits: each sense below, at and above its limit, and without a number."""

import pytest

from anon_core.measures.requirements import Requirement, is_limit_reached

OF_SENSE = {
    "at least": (False, True, True),
    "at most": (True, True, False),
    "below": (True, False, False),
}


@pytest.mark.parametrize("sense", OF_SENSE)
def test_below_at_and_above_the_limit(sense):
    assert (
        tuple(is_limit_reached(sense, found, 2.0) for found in (1.9, 2.0, 2.1)) == OF_SENSE[sense]
    )


@pytest.mark.parametrize("sense", OF_SENSE)
@pytest.mark.parametrize("found", [None, float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("required", [0.0, 1.0])
def test_what_is_no_number_reaches_nothing(sense, found, required):
    assert not is_limit_reached(sense, found, required)


@pytest.mark.parametrize("sense", OF_SENSE)
def test_an_unknown_limit_is_not_reached(sense):
    assert not is_limit_reached(sense, 0.5, float("nan"))


@pytest.mark.parametrize("required", [0.0, 1.0, 7.0, 1e6])
def test_the_last_digit_of_a_sum_decides_nothing(required):
    scale = max(1.0, required)
    assert is_limit_reached("at least", required - 1e-12 * scale, required)
    assert is_limit_reached("at most", required + 1e-12 * scale, required)
    assert not is_limit_reached("at least", required - 1e-6 * scale, required)
    assert not is_limit_reached("at most", required + 1e-6 * scale, required)


def test_one_row_of_a_million_is_a_loss():
    assert not is_limit_reached("at most", 1 / 1_000_000, 0.0)


def test_a_requirement_is_held_by_the_same_rule():
    words = {"expectation": "expect_it", "expected": "It is expected."}
    assert Requirement(sense="at least", found=0.5, required=0.5, **words).holds
    assert not Requirement(sense="below", found=0.5, required=0.5, **words).holds
