"""Each expectation holds on good columns and on nothing else; its words name columns only."""

from string import Template
from typing import Any

import numpy as np
import pytest
from great_expectations import ExpectationSuite
from great_expectations.expectations.expectation import Expectation
from great_expectations.render.renderer.inline_renderer import InlineRenderer
from numpy.typing import NDArray

from crowdcover.validations import expectations as own
from crowdcover.validations.run import validate_columns

FINITE = own.ExpectColumnNumbersToBeFinite(column="x")
DECODE = own.ExpectColumnLevelsToDecode(column="x", levels=3)
SHARED = own.ExpectColumnLevelsToBeShared(column="x", first=1, least=2)
ALLOW = own.ExpectColumnCellsToAllowALevel(column="x", levels=3)
TRUTHFUL = own.ExpectRowsToBeTruthful(column="x")
CROWDS = own.ExpectCrowdsToMeetDemands(crowd_column="x", demand_column="y")
ALL = (FINITE, DECODE, SHARED, ALLOW, TRUTHFUL, CROWDS)

NAN, INFINITY = float("nan"), float("inf")


def _holds(expectation: Expectation, **columns: NDArray[Any]) -> bool:
    return validate_columns(
        ExpectationSuite(name="one", expectations=[expectation.copy()]), columns
    ).success


@pytest.mark.parametrize(
    ("expectation", "values"),
    [
        (FINITE, [1.0, NAN, -2.5]),
        (FINITE, [NAN, NAN]),
        (FINITE, [1, 2, -(2**63)]),
        (DECODE, [0, 1, 2, 2]),
        (SHARED, [1, 1, 2, 2, 2]),
        (SHARED, [0, 1, 1]),
        (ALLOW, [1, 2, 3, 3]),
        (TRUTHFUL, [True, True]),
    ],
)
def test_good_columns_pass(expectation: Expectation, values: list[object]) -> None:
    assert _holds(expectation, x=np.array(values))


@pytest.mark.long
@pytest.mark.parametrize(
    ("expectation", "values"),
    [
        (FINITE, [1.0, INFINITY]),
        (FINITE, [NAN, -INFINITY, 2.0, 3.0]),
        (FINITE, ["1", "2"]),
        (FINITE, [True, False]),
        (DECODE, [0, 1, -1]),
        (DECODE, [0, 1, 3]),
        (DECODE, [0.0, 1.0]),
        (DECODE, [0.0, NAN]),
        (DECODE, [NAN, NAN]),
        (DECODE, ["0", "1"]),
        (DECODE, [None, None]),
        (DECODE, [True, False]),
        (SHARED, [1, 1, 2]),
        (SHARED, [0, 1]),
        (SHARED, [1.0, 1.0]),
        (SHARED, [None, None]),
        (ALLOW, [1, 0]),
        (ALLOW, [1, 4]),
        (ALLOW, [1, -1]),
        (ALLOW, [1.5, 2.0]),
        (ALLOW, [NAN, NAN]),
        (ALLOW, [None, None]),
        (TRUTHFUL, [True, False]),
        (TRUTHFUL, [1, 1]),
        (TRUTHFUL, [True, None]),
        (TRUTHFUL, [None, None]),
        (TRUTHFUL, ["True", "True"]),
    ],
)
def test_bad_columns_fail(expectation: Expectation, values: list[object]) -> None:
    assert not _holds(expectation, x=np.array(values))


@pytest.mark.parametrize(
    ("crowd", "demand", "expected"),
    [
        ([2, 3], [2, 2], True),
        ([2, 3], [2, 4], False),
        ([2, 0], [2, 2], False),
        ([2, NAN], [2, 2], False),
        ([2, 3], [2, NAN], False),
        ([NAN, NAN], [NAN, NAN], False),
        (["9", "9"], [2, 2], False),
        ([None, None], [2, 2], False),
    ],
)
def test_crowds_against_demands(crowd: list[object], demand: list[object], expected: bool) -> None:
    assert _holds(CROWDS, x=np.array(crowd), y=np.array(demand)) is expected


@pytest.mark.parametrize("expectation", ALL, ids=lambda expectation: expectation.expectation_type)
def test_absent_column_fails(expectation: Expectation) -> None:
    assert not _holds(expectation, other=np.array([1, 2]))


@pytest.mark.parametrize("expectation", ALL, ids=lambda expectation: expectation.expectation_type)
def test_words_for_data_docs(expectation: Expectation) -> None:
    (content,) = InlineRenderer(render_object=expectation.configuration).get_rendered_content()
    words: Any = content.to_json_dict()["value"]
    fields = {name: parameter["value"] for name, parameter in words["params"].items()}
    assert fields == {name: getattr(expectation, name) for name in fields}
    assert "$" not in Template(words["template"]).substitute(fields)
    assert (type(expectation).__doc__ or "").startswith("Expect ")
