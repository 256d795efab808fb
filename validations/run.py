"""Validate columns against a suite of expectations, and keep only yes or no.

Great Expectations reports values, row numbers and tracebacks. None of them leaves this module:
a verdict names types of expectations and columns only.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from string import Template
from threading import Lock
from typing import Any
from uuid import uuid4

import great_expectations as gx
import pandas as pd
from great_expectations.data_context import AbstractDataContext
from great_expectations.data_context.types.base import (
    DataContextConfig,
    InMemoryStoreBackendDefaults,
    ProgressBarsConfig,
)
from great_expectations.expectations.expectation import Expectation
from great_expectations.render.renderer.inline_renderer import InlineRenderer
from numpy.typing import NDArray

from anon_core.errors import InputError
from validations.expectations import Worded
from validations.verdicts import Outcome, Verdict

_Columns = Mapping[str, NDArray[Any]]

SOURCE = "memory"
AT_ONCE = 64  # columns whose expectations are checked together
_ONE_AT_A_TIME = Lock()  # validations of one process share a context and the name of its source


def validate_columns(suite: gx.ExpectationSuite, columns: _Columns) -> Verdict:
    """Validate columns of one length against a suite.

    An expectation fails if it raises an exception or returns no result.
    """
    shapes = {column.shape for column in columns.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise InputError(
            f"columns of shapes {sorted(shapes)}; give one-dimensional arrays of one length"
        )
    with _ONE_AT_A_TIME:
        try:
            passed = _find_passed(suite, columns)
        except Exception:  # the message may quote cells
            # Nothing passed: an error of the validator must never let data through.
            passed = set()
        return Verdict(
            suite.name,
            tuple(_read_outcome(expectation, passed) for expectation in suite.expectations),
        )


@cache
def _get_context() -> AbstractDataContext:
    """Return the one context of this process: in memory, without progress bars."""
    return gx.get_context(
        DataContextConfig(
            store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
            progress_bars=ProgressBarsConfig(globally=False),
        ),
        mode="ephemeral",
    )


def _find_passed(suite: gx.ExpectationSuite, columns: _Columns) -> set[str]:
    """Return the ids of the expectations that pass.

    Each expectation gets a random id, because two of one type may test one column.
    """
    for expectation in suite.expectations:
        expectation.id = str(uuid4())
    passed: set[str] = set()
    for part, names in _divide_suite(suite, columns):
        passed |= _find_passed_together(part, {name: columns[name] for name in names})
    return passed


def _divide_suite(
    suite: gx.ExpectationSuite, columns: _Columns
) -> Iterator[tuple[gx.ExpectationSuite, Sequence[str]]]:
    """Split a suite into parts, each with the columns that its expectations need.

    Expectations of one column go together with those of a few others: for each of them Great
    Expectations looks at the names of all columns in the frame. All other expectations see the
    whole table.
    """
    about = {each.id: getattr(each, "column", None) for each in suite.expectations}
    names = list(dict.fromkeys(name for name in about.values() if name is not None))
    if len(names) <= AT_ONCE:
        yield suite, list(columns)
        return
    # Time for all columns at once would grow with their square.
    blocks = [set(names[at : at + AT_ONCE]) for at in range(0, len(names), AT_ONCE)]
    # The empty block stands for the expectations about the whole table.
    for block in (set(), *blocks):
        part = gx.ExpectationSuite(name=suite.name)
        part.expectations = [
            each
            for each in suite.expectations
            if about[each.id] in block or (not block and about[each.id] is None)
        ]
        if part.expectations:
            yield part, [name for name in columns if not block or name in block]


def _find_passed_together(suite: gx.ExpectationSuite, columns: _Columns) -> set[str]:
    """Return the ids of the expectations that pass; the source is deleted, as it keeps the data."""
    sources = _get_context().data_sources
    try:
        table = sources.add_pandas(SOURCE).add_dataframe_asset("table")
        whole = table.add_batch_definition_whole_dataframe("whole")
        batch = whole.get_batch(batch_parameters={"dataframe": pd.DataFrame(dict(columns))})
        results = batch.validate(suite, result_format="BOOLEAN_ONLY").results
    finally:
        sources.delete(SOURCE)
    configured = [result.expectation_config for result in results if result.success]
    return {each.id for each in configured if each is not None and each.id is not None}


def _read_outcome(expectation: Expectation, passed: set[str]) -> Outcome:
    about = getattr(expectation, "about", getattr(expectation, "column", None))
    return Outcome(
        getattr(expectation, "called", expectation.expectation_type),
        about,
        expectation.id in passed,
        _word_expectation(expectation),
    )


def _word_expectation(expectation: Expectation) -> str:
    """Return what is expected: its description, our wording, or that of Great Expectations."""
    if expectation.description:
        return str(expectation.description)
    if isinstance(expectation, Worded):
        wording = Template(expectation.wording)
        return wording.substitute(
            {name: _plain_value(getattr(expectation, name)) for name in wording.get_identifiers()}
        )
    (content,) = InlineRenderer(render_object=expectation.configuration).get_rendered_content()
    rendered: Any = content.to_json_dict()["value"]
    return Template(rendered["template"]).safe_substitute(
        {name: _plain_value(p["value"]) for name, p in rendered["params"].items()}
    )


def _plain_value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
