"""Runs a suite on columns and keeps nothing of the answer but yes and no.

Great Expectations reports values, row numbers and tracebacks. None of them leaves this module: a verdict names types of
expectations and columns only.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import great_expectations as gx
import pandas as pd
from great_expectations.core.expectation_validation_result import ExpectationValidationResult
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.expectations.expectation_configuration import ExpectationConfiguration
from numpy.typing import NDArray

from anon_core.errors import InputError

Columns = Mapping[str, NDArray[Any]]

SOURCE = "memory"


@dataclass(frozen=True)
class Outcome:
    """Whether one expectation holds; `column` is None where it speaks of the whole table."""

    expectation: str
    column: str | None
    success: bool

    def __str__(self) -> str:
        return self.expectation if self.column is None else f"{self.expectation} ({self.column})"


@dataclass(frozen=True)
class Verdict:
    """What a suite found, in the suite's order."""

    suite: str
    outcomes: tuple[Outcome, ...]

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The expectations that do not hold."""
        return tuple(outcome for outcome in self.outcomes if not outcome.success)

    @property
    def success(self) -> bool:
        """Whether all expectations hold; a suite that expects nothing lets nothing pass."""
        return bool(self.outcomes) and not self.failures

    def sentence(self) -> str:
        """The verdict in one line for people: counts, types of expectations and column names."""
        held = len(self.outcomes) - len(self.failures)
        found = f"{self.suite}: {held} of {len(self.outcomes)} expectations hold"
        return f"{found}; failed: {', '.join(map(str, self.failures))}" if self.failures else found


def run(suite: gx.ExpectationSuite, columns: Columns) -> Verdict:
    """Hold columns of one length against a suite.

    An expectation that raises has failed, and so has one without a result: the gate stays shut when its hinge breaks.
    """
    shapes = {column.shape for column in columns.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise InputError(f"columns of shapes {sorted(shapes)}; give one-dimensional arrays of one length")
    try:
        results = _results(suite, columns)
    except Exception:  # whatever broke may quote cells
        results = []
    names = [_name(expectation.configuration) for expectation in suite.expectations]
    held = Counter(_name(result.expectation_config) for result in results if result.success)
    asked = Counter(names)
    return Verdict(suite.name, tuple(Outcome(*name, success=held[name] == asked[name]) for name in names))


def _results(suite: gx.ExpectationSuite, columns: Columns) -> list[ExpectationValidationResult]:
    """What Great Expectations says, in a context that lives in memory only and forgets the data at once."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    table = context.data_sources.add_pandas(SOURCE).add_dataframe_asset("table")
    try:
        whole = table.add_batch_definition_whole_dataframe("whole")
        batch = whole.get_batch({"dataframe": pd.DataFrame(dict(columns))})
        return list(batch.validate(suite, result_format="BOOLEAN_ONLY").results)
    finally:
        context.data_sources.delete(SOURCE)


def _name(configuration: ExpectationConfiguration | None) -> tuple[str, str | None]:
    if configuration is None:
        return "", None
    kwargs = configuration.kwargs
    return configuration.type, kwargs.get("column", kwargs.get("crowd_column"))
