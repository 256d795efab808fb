"""Runs a Checkpoint of one suite on columns and keeps nothing of the answer but yes and no.

Great Expectations reports values, row numbers and tracebacks. None of them leaves this module: a verdict names types of
expectations and columns only.
"""

from collections.abc import Mapping
from string import Template
from threading import Lock
from typing import Any

import great_expectations as gx
import pandas as pd
from great_expectations.data_context.types.base import (
    DataContextConfig,
    InMemoryStoreBackendDefaults,
    ProgressBarsConfig,
)
from great_expectations.expectations.expectation import Expectation
from great_expectations.render.renderer.inline_renderer import InlineRenderer
from numpy.typing import NDArray

from anon_core.errors import InputError
from validations.verdicts import Outcome, Verdict

Columns = Mapping[str, NDArray[Any]]

SOURCE = "memory"
_ONE_AT_A_TIME = (
    Lock()
)  # a Checkpoint looks for its suite in the context that was made last, whoever made it


def run(suite: gx.ExpectationSuite, columns: Columns) -> Verdict:
    """Hold columns of one length against a suite.

    An expectation that raises has failed, and so has one without a result: the gate stays shut when its hinge breaks.
    """
    shapes = {column.shape for column in columns.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise InputError(
            f"columns of shapes {sorted(shapes)}; give one-dimensional arrays of one length"
        )
    with _ONE_AT_A_TIME:
        try:
            held = _held(suite, columns)
        except Exception:  # whatever broke may quote cells
            held = set()
        return Verdict(
            suite.name, tuple(_outcome(expectation, held) for expectation in suite.expectations)
        )


def _held(suite: gx.ExpectationSuite, columns: Columns) -> set[str]:
    """Which expectations Great Expectations found to hold, in a context in memory only that forgets the data at once.

    The names that tell them apart are given when the suite enters the context.
    """
    nowhere = InMemoryStoreBackendDefaults(init_temp_docs_sites=False)
    silent = ProgressBarsConfig(globally=False)
    context = gx.get_context(
        DataContextConfig(store_backend_defaults=nowhere, progress_bars=silent), mode="ephemeral"
    )
    table = context.data_sources.add_pandas(SOURCE).add_dataframe_asset("table")
    try:
        whole = table.add_batch_definition_whole_dataframe("whole")
        border = gx.ValidationDefinition(
            name=suite.name, data=whole, suite=context.suites.add(suite)
        )
        context.validation_definitions.add(border)
        checkpoint = gx.Checkpoint(
            name=suite.name, validation_definitions=[border], result_format="BOOLEAN_ONLY"
        )
        ran = context.checkpoints.add(checkpoint).run(
            batch_parameters={"dataframe": pd.DataFrame(dict(columns))}
        )
        results = [
            result for validation in ran.run_results.values() for result in validation.results
        ]
    finally:
        context.data_sources.delete(SOURCE)
    configured = [result.expectation_config for result in results if result.success]
    return {each.id for each in configured if each is not None and each.id is not None}


def _outcome(expectation: Expectation, held: set[str]) -> Outcome:
    about = getattr(expectation, "about", expectation.configuration.kwargs.get("column"))
    return Outcome(expectation.expectation_type, about, expectation.id in held, _words(expectation))


def _words(expectation: Expectation) -> str:
    """What is expected, as Great Expectations' own pages would say it."""
    (content,) = InlineRenderer(render_object=expectation.configuration).get_rendered_content()
    said: Any = content.to_json_dict()["value"]
    return Template(said["template"]).safe_substitute(
        {name: _plain(p["value"]) for name, p in said["params"].items()}
    )


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
