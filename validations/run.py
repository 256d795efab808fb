"""Validate columns against a suite of expectations, and keep only yes or no.

Great Expectations reports values, row numbers and tracebacks. None of them leaves this module:
a verdict names types of expectations and columns only.
"""

import crowdcover.validations.light  # noqa: F401 - before Great Expectations

# isort: split
from collections.abc import Iterator, Sequence
from functools import cache
from string import Template
from threading import Lock
from typing import Any
from uuid import uuid4

import great_expectations as gx
import great_expectations.expectations as gxe
import numpy as np
import pandas as pd
from great_expectations.data_context import AbstractDataContext
from great_expectations.data_context.types.base import (
    DataContextConfig,
    InMemoryStoreBackendDefaults,
    ProgressBarsConfig,
)
from great_expectations.expectations.expectation import (
    ColumnMapExpectation,
    ColumnPairMapExpectation,
    Expectation,
)
from great_expectations.render.renderer.inline_renderer import InlineRenderer

from anon_core.errors import InputError
from crowdcover.validations.expectations import CountsRows, Worded
from crowdcover.validations.rows import ROWS_AT_ONCE, Columns, Rows
from crowdcover.validations.verdicts import Outcome, Verdict

SOURCE = "memory"
AT_ONCE = 64  # columns whose expectations are checked together
# Fields of expectations that name a column.
_NAMES = ("column", "column_A", "column_B", "crowd_column", "demand_column")
_ONE_AT_A_TIME = Lock()  # validations of one process share a context and the name of its source


def validate_columns(suite: gx.ExpectationSuite, columns: Columns | Rows) -> Verdict:
    """Validate columns of one length against a suite.

    An expectation fails if it raises an exception or returns no result.
    """
    rows = columns if isinstance(columns, Rows) else Rows.of(columns)
    with _ONE_AT_A_TIME:
        try:
            passed = _find_passed(suite, rows)
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


def _find_passed(suite: gx.ExpectationSuite, rows: Rows) -> set[str]:
    """Return the ids of the expectations that pass.

    Each expectation gets a random id, because two of one type may test one column.
    """
    for expectation in suite.expectations:
        expectation.id = str(uuid4())
    if rows.count <= ROWS_AT_ONCE:
        return _find_passed_by_columns(suite, rows.read(rows.names, 0, rows.count))
    in_parts: list[Expectation] = []
    # The others see whole columns, and of all columns no more than they are about.
    whole: dict[tuple[str, tuple[str, ...]], list[Expectation]] = {}
    for each in suite.expectations:
        if _holds_if_in_parts(each, rows):
            in_parts.append(each)
        else:
            # One kind at a time about the table: what it asks for can be told from the kind.
            names = _list_columns(each)
            whole.setdefault(("" if names else each.expectation_type, names), []).append(each)
    passed = _find_passed_in_parts(_take_part(suite, in_parts), rows) if in_parts else set()
    for (_, names), expectations in whole.items():
        passed |= _find_passed_together(
            _take_part(suite, expectations), _read_whole(rows, names, expectations)
        )
    return passed


def _holds_if_in_parts(expectation: Expectation, rows: Rows) -> bool:
    """Whether an expectation holds of all rows if, and only if, it holds of each part of them."""
    if isinstance(expectation, gxe.ExpectColumnValuesToBeUnique):
        return expectation.column in rows.ordered
    if isinstance(expectation, ColumnMapExpectation | ColumnPairMapExpectation):
        return bool(expectation.mostly == 1)
    return isinstance(expectation, CountsRows) and expectation.each_by_itself


def _find_passed_in_parts(suite: gx.ExpectationSuite, rows: Rows) -> set[str]:
    """Return the ids of the expectations that pass in every part of the rows."""
    passed = {str(each.id) for each in suite.expectations}
    needed = {name for each in suite.expectations for name in _list_columns(each)}
    names = [name for name in rows.names if name in needed]
    for first in range(0, rows.count, ROWS_AT_ONCE):
        # With the row before the part: else equal neighbours might be in two parts.
        begin = max(first - 1, 0) if rows.ordered else first
        part = rows.read(names, begin, min(first + ROWS_AT_ONCE, rows.count))
        for name in rows.ordered.intersection(names):
            if not pd.Series(part[name]).dropna().is_monotonic_increasing:
                raise InputError("values of a column said to be ordered are not")
        passed &= _find_passed_by_columns(suite, part)
    return passed


def _list_columns(expectation: Expectation) -> tuple[str, ...]:
    """Return the columns that an expectation is about; none if it is about the table."""
    return tuple(getattr(expectation, name) for name in _NAMES if hasattr(expectation, name))


def _read_whole(rows: Rows, names: Sequence[str], expectations: Sequence[Expectation]) -> Columns:
    """Return whole columns: of these names, or all of them for expectations about the table."""
    if names:
        return rows.read([name for name in names if name in rows.names], 0, rows.count)
    # These ask for the number of rows, or for names only.
    if all(each.expectation_type.startswith("expect_table_row_count") for each in expectations):
        return {"": np.zeros(rows.count, dtype=np.bool_)}
    if all(each.expectation_type.startswith("expect_table_columns") for each in expectations):
        return rows.read(rows.names, 0, 0)
    return rows.read(rows.names, 0, rows.count)


def _take_part(
    suite: gx.ExpectationSuite, expectations: Sequence[Expectation]
) -> gx.ExpectationSuite:
    part = gx.ExpectationSuite(name=suite.name)
    part.expectations = list(expectations)
    return part


def _find_passed_by_columns(suite: gx.ExpectationSuite, columns: Columns) -> set[str]:
    """Return the ids of the expectations that pass, found for some columns at a time."""
    passed: set[str] = set()
    for part, names in _divide_suite(suite, columns):
        passed |= _find_passed_together(part, {name: columns[name] for name in names})
    return passed


def _divide_suite(
    suite: gx.ExpectationSuite, columns: Columns
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
        chosen = [
            each
            for each in suite.expectations
            if about[each.id] in block or (not block and about[each.id] is None)
        ]
        if chosen:
            yield (
                _take_part(suite, chosen),
                [name for name in columns if not block or name in block],
            )


def _find_passed_together(suite: gx.ExpectationSuite, columns: Columns) -> set[str]:
    """Return the ids of the expectations that pass.

    The source is deleted and the frame emptied, as both keep the data.
    """
    sources, frame = _get_context().data_sources, pd.DataFrame(dict(columns))
    try:
        table = sources.add_pandas(SOURCE).add_dataframe_asset("table")
        whole = table.add_batch_definition_whole_dataframe("whole")
        batch = whole.get_batch(batch_parameters={"dataframe": frame})
        results = batch.validate(suite, result_format="BOOLEAN_ONLY").results
    finally:
        sources.delete(SOURCE)
        # Great Expectations leaves circles, which Python would break only after some more frames.
        for name in columns:
            del frame[name]
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
