"""The expectation that a measured number reaches its limit, for the limits of [checks].

anon_core/measures owns the rule, `is_limit_reached`. There is no second rule here. The frame has
one row, and for each limit a column with the measured number.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import great_expectations as gx
import numpy as np
import pandas as pd
from great_expectations.execution_engine import PandasExecutionEngine
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.metrics import (
    ColumnAggregateMetricProvider,
    column_aggregate_value,
)
from numpy.typing import NDArray

from anon_core.measures.requirements import Requirement, Sense, is_limit_reached


class ColumnMeasuredNumber(ColumnAggregateMetricProvider):
    """The only number of a column; None if there is not exactly one number."""

    metric_name = "column.measured_number"

    @column_aggregate_value(engine=PandasExecutionEngine)
    def _pandas(cls, column: pd.Series, **_: Any) -> float | None:
        # None reaches no limit, so a frame of another form cannot pass.
        return float(column.iloc[0]) if len(column) == 1 and column.dtype.kind in "iuf" else None


class ExpectLimitToBeReached(BatchExpectation):
    """Expect the number in the column to reach its limit; a verdict calls it `called`."""

    column: str
    about: str | None = None
    required: float
    sense: Sense
    called: str
    metric_dependencies: ClassVar[tuple[str, ...]] = ("column.measured_number",)
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id", "column")
    success_keys: ClassVar[tuple[str, ...]] = ("required", "sense")

    def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        found = metrics["column.measured_number"]
        return {
            "success": is_limit_reached(self.sense, found, self.required),
            "result": {"observed_value": found},
        }


def build_required_suite(numbers: Sequence[Requirement]) -> gx.ExpectationSuite:
    """Expect each number to reach its limit, in the given order."""
    expectations = [
        ExpectLimitToBeReached(
            # Numbered, since two requirements may be about one column of the table.
            column=_name_column(place),
            about=number.about,
            required=number.required,
            sense=number.sense,
            called=number.expectation,
            description=number.expected,
        )
        for place, number in enumerate(numbers)
    ]
    return gx.ExpectationSuite(name="required", expectations=expectations)


def frame_measures(numbers: Sequence[Requirement]) -> Mapping[str, NDArray[Any]]:
    """The measured numbers; NaN where nothing was measured."""
    return {
        _name_column(place): np.array([np.nan if number.found is None else number.found])
        for place, number in enumerate(numbers)
    }


def _name_column(place: int) -> str:
    return f"requirement {place}"
