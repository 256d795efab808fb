"""Numbers and limits: each measure below, at and above its limit, and without a number."""

import pytest

from anon_core.measures.requirements import SENSES, Requirement, is_limit_reached

OF_SENSE = {
    "at least": (False, True, True),
    "at most": (True, True, False),
    "below": (True, False, False),
}


@pytest.mark.parametrize("measure", SENSES)
def test_below_at_and_above_the_limit(measure):
    assert (
        tuple(is_limit_reached(measure, found, 2.0) for found in (1.9, 2.0, 2.1))
        == OF_SENSE[SENSES[measure]]
    )


@pytest.mark.parametrize("measure", SENSES)
@pytest.mark.parametrize("found", [None, float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("required", [0.0, 1.0])
def test_what_is_no_number_reaches_nothing(measure, found, required):
    assert not is_limit_reached(measure, found, required)


@pytest.mark.parametrize("measure", SENSES)
def test_an_unknown_limit_is_not_reached(measure):
    assert not is_limit_reached(measure, 0.5, float("nan"))


@pytest.mark.parametrize("required", [0.0, 1.0, 7.0, 1e6])
def test_the_last_digit_of_a_sum_decides_nothing(required):
    scale = max(1.0, required)
    assert is_limit_reached("utility", required - 1e-12 * scale, required)
    assert is_limit_reached("distance", required + 1e-12 * scale, required)
    assert not is_limit_reached("utility", required - 1e-6 * scale, required)
    assert not is_limit_reached("distance", required + 1e-6 * scale, required)


def test_one_row_of_a_million_is_a_loss():
    assert not is_limit_reached("row loss", 1 / 1_000_000, 0.0)


def test_a_requirement_is_held_by_the_same_rule():
    assert Requirement(measure="utility", found=0.5, required=0.5).holds
    assert not Requirement(measure="odds", found=0.5, required=0.5, l=2).holds
