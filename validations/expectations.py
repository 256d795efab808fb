"""Our own expectations, each with its metric.

All but one count the rows that break a promise, and pass if there are none. The map expectations of
Great Expectations skip missing cells and pass an empty column; a check must not.
"""

from abc import ABC
from string import Template
from typing import Any, ClassVar

import great_expectations.expectations as gxe
import pandas as pd
from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine import PandasExecutionEngine
from great_expectations.expectations.expectation import BatchExpectation, ColumnMapExpectation
from great_expectations.expectations.metrics import (
    ColumnAggregateMetricProvider,
    ColumnMapMetricProvider,
    column_aggregate_value,
)
from great_expectations.expectations.metrics.map_metric_provider.column_condition_partial import (
    column_condition_partial,
)
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider
from great_expectations.render.renderer_configuration import (
    RendererConfiguration,
    RendererValueType,
)

Rendering = RendererConfiguration[Any]


def _rows_outside(column: pd.Series, low: int, high: int) -> int:
    """Number of rows without an integer in low..high."""
    # A column of another type fails in every row, instead of raising on the comparison.
    if column.dtype.kind not in "iu":
        return len(column)
    return int((~column.between(low, high)).sum())


class ColumnNumbersFinite(ColumnMapMetricProvider):
    """Whether each cell that is not missing is a finite number."""

    condition_metric_name = "column_values.finite_number"

    @column_condition_partial(engine=PandasExecutionEngine)
    def _pandas(cls, column: pd.Series, **_: Any) -> pd.Series:
        if column.dtype.kind not in "iuf":
            return pd.Series(data=False, index=column.index)
        return column.abs() < float("inf")


class ColumnLevelsUndecoded(ColumnAggregateMetricProvider):
    """Number of rows whose level is none of 0..levels-1."""

    metric_name = "column.levels_undecoded.count"
    value_keys = ("levels",)

    @column_aggregate_value(engine=PandasExecutionEngine)
    def _pandas(cls, column: pd.Series, levels: int, **_: Any) -> int:
        return _rows_outside(column, 0, levels - 1)


class ColumnRowsInSmallLevels(ColumnAggregateMetricProvider):
    """Number of rows whose level, from `first` on, fewer than `least` rows have."""

    metric_name = "column.rows_in_small_levels.count"
    value_keys = ("first", "least")

    @column_aggregate_value(engine=PandasExecutionEngine)
    def _pandas(cls, column: pd.Series, first: int, least: int, **_: Any) -> int:
        if column.dtype.kind not in "iu":
            return len(column)
        rows = column[column >= first].value_counts()
        return int(rows[rows < least].sum())


class ColumnCellsUnreadable(ColumnAggregateMetricProvider):
    """Number of rows whose cell does not allow between one and all levels."""

    metric_name = "column.cells_unreadable.count"
    value_keys = ("levels",)

    @column_aggregate_value(engine=PandasExecutionEngine)
    def _pandas(cls, column: pd.Series, levels: int, **_: Any) -> int:
        return _rows_outside(column, 1, levels)


class ColumnRowsUntruthful(ColumnAggregateMetricProvider):
    """Number of rows that are not True; all rows if the column is not boolean."""

    metric_name = "column.rows_untruthful.count"

    @column_aggregate_value(engine=PandasExecutionEngine)
    def _pandas(cls, column: pd.Series, **_: Any) -> int:
        return int((~column).sum()) if column.dtype.kind == "b" else len(column)


class TableCrowdsBelowDemand(TableMetricProvider):
    """Number of rows whose crowd is smaller than they demand, or unknown."""

    metric_name = "table.crowds_below_demand.count"
    value_keys = ("crowd_column", "demand_column")

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(
        cls,
        execution_engine: PandasExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        **_: Any,
    ) -> int:
        frame, _, _ = execution_engine.get_compute_domain(
            metric_domain_kwargs, domain_type=MetricDomainTypes.TABLE
        )
        crowd, demand = (frame[metric_value_kwargs[key]] for key in cls.value_keys)
        # Not `crowd < demand`: a missing number compares false, and must count as too small.
        return int((~(crowd >= demand)).sum())


class Worded:
    """A sentence for the verdict page: the names in `wording` are fields of the expectation."""

    wording: ClassVar[str]

    @classmethod
    def _prescriptive_template(cls, renderer_configuration: Rendering) -> Rendering:
        for name in Template(cls.wording).get_identifiers():
            renderer_configuration.add_param(name=name, param_type=RendererValueType.NUMBER)
        renderer_configuration.template_str = cls.wording
        return renderer_configuration


class CountsRows(Worded, BatchExpectation, ABC):
    """Passes if its one metric, a number of rows, is zero.

    `each_by_itself`: whether a row counts for what it holds, whatever other rows hold.
    """

    each_by_itself: ClassVar[bool] = True

    @classmethod
    def is_abstract(cls) -> bool:
        """A class without a metric is abstract, and is not registered."""
        return not cls.metric_dependencies or super().is_abstract()

    def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        (metric,) = self.metric_dependencies
        rows = metrics[metric]
        return {"success": rows == 0, "result": {"observed_value": rows}}


class ExpectColumnNumbersToBeFinite(Worded, ColumnMapExpectation):
    """Expect every cell of the column to be a finite number or missing."""

    map_metric: ClassVar[str] = "column_values.finite_number"
    wording: ClassVar[str] = "Every value is a finite number or missing."


class _OfAnAttribute(CountsRows, ABC):
    """Is about an attribute. Its column has a prefix, because other columns have fixed names."""

    column: str
    levels: int
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id", "column")
    success_keys: ClassVar[tuple[str, ...]] = ("levels",)

    @property
    def about(self) -> str:
        """The attribute's own name."""
        return self.column.partition(":")[2] or self.column


class ExpectColumnLevelsToDecode(_OfAnAttribute):
    """Expect every row to hold a level 0..levels-1, as read back from its bits."""

    metric_dependencies: ClassVar[tuple[str, ...]] = ("column.levels_undecoded.count",)
    wording: ClassVar[str] = "Every record's bits decode to one of $levels levels."


class ExpectColumnLevelsToBeShared(CountsRows):
    """Expect every level from `first` on that a row has to be one of at least `least` rows."""

    column: str
    first: int
    least: int
    each_by_itself: ClassVar[bool] = False
    metric_dependencies: ClassVar[tuple[str, ...]] = ("column.rows_in_small_levels.count",)
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id", "column")
    success_keys: ClassVar[tuple[str, ...]] = ("first", "least")
    wording: ClassVar[str] = "Every group of numbers holds at least $least records."

    @property
    def about(self) -> str:
        """The attribute's own name."""
        return self.column.partition(":")[2] or self.column


class ExpectColumnCellsToAllowALevel(_OfAnAttribute):
    """Expect every row, the number of levels that a cell allows, to be in 1..levels."""

    metric_dependencies: ClassVar[tuple[str, ...]] = ("column.cells_unreadable.count",)
    wording: ClassVar[str] = (
        "Every released cell can be read, and allows at least one of $levels levels."
    )


class ExpectRowsToBeTruthful(CountsRows):
    """Expect a boolean column to be true in every row."""

    column: str
    metric_dependencies: ClassVar[tuple[str, ...]] = ("column.rows_untruthful.count",)
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id", "column")
    wording: ClassVar[str] = (
        "Every record's row is true of it: its cells, its sensitive values and its kept values."
    )


class ExpectCrowdsToMeetDemands(CountsRows):
    """Expect no row's crowd to be smaller than the row demands."""

    crowd_column: str
    demand_column: str
    metric_dependencies: ClassVar[tuple[str, ...]] = ("table.crowds_below_demand.count",)
    success_keys: ClassVar[tuple[str, ...]] = ("crowd_column", "demand_column")
    wording: ClassVar[str] = "Every record's crowd has at least as many rows as it demands."

    @property
    def about(self) -> str:
        """The kind of crowd."""
        return self.crowd_column


def random_keys(column: str) -> list[Any]:
    """Expect 16 hexadecimal digits in each cell, no cell twice."""
    return [
        gxe.ExpectColumnValuesToNotBeNull(column=column, description="Every row has a key."),
        gxe.ExpectColumnValuesToBeUnique(column=column, description="No key occurs twice."),
        gxe.ExpectColumnValuesToMatchRegex(
            column=column,
            regex="^[0-9a-f]{16}$",
            description="Every key is made of 16 hexadecimal digits.",
        ),
        # "$" also stands before a last line break.
        gxe.ExpectColumnValueLengthsToEqual(
            column=column, value=16, description="Every key is 16 characters long."
        ),
    ]
