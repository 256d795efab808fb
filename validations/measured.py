"""Expectations of the measured numbers of a release: each compares one number with its limit.

anon_core/measures measures the number and owns the rule, `is_limit_reached`. There is no
second rule here.
"""

from abc import ABC
from typing import Any, ClassVar

import pandas as pd
from great_expectations.execution_engine import PandasExecutionEngine
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.metrics import (
    ColumnAggregateMetricProvider,
    column_aggregate_value,
)

from anon_core.measures.requirements import Measure, is_limit_reached
from validations.expectations import Worded


class ColumnMeasuredNumber(ColumnAggregateMetricProvider):
    """The only number of a column; None if there is not exactly one number."""

    metric_name = "column.measured_number"

    @column_aggregate_value(engine=PandasExecutionEngine)
    def _pandas(cls, column: pd.Series, **_: Any) -> float | None:
        return float(column.iloc[0]) if len(column) == 1 and column.dtype.kind in "iuf" else None


class _MeasureReached(Worded, BatchExpectation, ABC):
    """Passes if the number in the column reaches its limit.

    `about` is the column of the release that the number is about.
    """

    column: str
    about: str | None = None
    required: float
    measure: ClassVar[Measure]
    metric_dependencies: ClassVar[tuple[str, ...]] = ("column.measured_number",)
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id", "column")
    success_keys: ClassVar[tuple[str, ...]] = ("required",)

    @classmethod
    def is_abstract(cls) -> bool:
        """A class without a measure is abstract, and is not registered."""
        return not hasattr(cls, "measure") or super().is_abstract()

    def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        found = metrics["column.measured_number"]
        return {
            "success": is_limit_reached(self.measure, found, self.required),
            "result": {"observed_value": found},
        }


class ExpectUtilityToBeAtLeast(_MeasureReached):
    """Expect a share of the bits to stay visible."""

    measure: ClassVar[Measure] = "utility"
    wording: ClassVar[str] = "At least $required of all bits stay visible."


class ExpectColumnInformationToBeAtLeast(_MeasureReached):
    """Expect a column to keep a share of its information."""

    measure: ClassVar[Measure] = "information"
    wording: ClassVar[str] = "The column keeps at least $required of its information, 1 - NCP."


class ExpectCrowdDistinctValuesToBeAtLeast(_MeasureReached):
    """Expect distinct l-diversity of every crowd."""

    measure: ClassVar[Measure] = "distinct values"
    wording: ClassVar[str] = "Every crowd has at least $required distinct values."


class ExpectCrowdEntropyToBeAtLeast(_MeasureReached):
    """Expect entropy l-diversity of every crowd."""

    measure: ClassVar[Measure] = "values by entropy"
    wording: ClassVar[str] = (
        "Every crowd's values are worth at least $required equally frequent ones, by entropy."
    )


class ExpectCrowdOddsToBeBelow(_MeasureReached):
    """Expect recursive (c, l)-diversity of every crowd."""

    l: int
    measure: ClassVar[Measure] = "odds"
    success_keys: ClassVar[tuple[str, ...]] = ("required", "l")
    wording: ClassVar[str] = (
        "In every crowd the commonest value leads those from rank $l on "
        "by less than $required to 1."
    )


class ExpectCrowdDistanceToBeAtMost(_MeasureReached):
    """Expect t-closeness of every crowd."""

    measure: ClassVar[Measure] = "distance"
    wording: ClassVar[str] = (
        "No crowd's values are farther than $required from those of the whole table."
    )


class ExpectUniformCrowdsToBeAtMost(_MeasureReached):
    """Expect few people to hide in a crowd that tells their value."""

    measure: ClassVar[Measure] = "uniform crowds"
    wording: ClassVar[str] = (
        "At most a share of $required of the people hides in a crowd with one value."
    )


class ExpectIdenticalRowsToBeAtLeast(_MeasureReached):
    """Expect every row to be identical to enough rows."""

    measure: ClassVar[Measure] = "identical rows"
    wording: ClassVar[str] = "The smallest group of identical rows holds at least $required."


class ExpectRowLossToBeAtMost(_MeasureReached):
    """Expect few source rows to be left out."""

    measure: ClassVar[Measure] = "row loss"
    wording: ClassVar[str] = "At most a share of $required of the source rows is left out."


class ExpectAttackSuccessToBeAtMost(_MeasureReached):
    """Expect an attacker to name the right row rarely."""

    measure: ClassVar[Measure] = "attack success"
    wording: ClassVar[str] = (
        "The attacker names the right row with a mean chance of at most $required."
    )


class ExpectJaccardToBeAtLeast(_MeasureReached):
    """Expect released and source entries to be similar."""

    measure: ClassVar[Measure] = "jaccard"
    wording: ClassVar[str] = (
        "The Jaccard similarity of released and source entries is at least $required."
    )


class ExpectDiscrepancyToBeAtMost(_MeasureReached):
    """Expect chances of two vertices to be connected to stay."""

    measure: ClassVar[Measure] = "discrepancy"
    wording: ClassVar[str] = (
        "The chance of two vertices to be connected differs by at most $required on average."
    )


class ExpectDegreeErrorToBeAtMost(_MeasureReached):
    """Expect expected degrees to stay."""

    measure: ClassVar[Measure] = "degree error"
    wording: ClassVar[str] = "Expected degrees differ by at most $required on average."


class ExpectVerticesBelowToBeAtMost(_MeasureReached):
    """Expect few vertices to hide among fewer than they demand."""

    measure: ClassVar[Measure] = "vertices below"
    wording: ClassVar[str] = (
        "At most a share of $required of the vertices hides among fewer than they demand."
    )


class ExpectUnchangedToBeAtMost(_MeasureReached):
    """Expect something to be hidden."""

    measure: ClassVar[Measure] = "unchanged"
    wording: ClassVar[str] = (
        "At most a share of $required of what is published is as it was in the source."
    )
