"""Suites of many columns: parts of a suite find what the whole finds, at a cost that is linear."""

from typing import Any

import numpy as np
import pytest
from great_expectations.render.renderer.inline_renderer import InlineRenderer

from anon_core.specs.columns import ColumnSpec
from anon_core.tables.records import Codebook
from crowdcover.kinds.table.suites import binarized, ingested, released
from crowdcover.validations import run as run_module
from crowdcover.validations.run import AT_ONCE, _plain_value, _word_expectation, validate_columns
from crowdcover.validations.verdicts import Verdict

NAMES = [f"c{number}" for number in range(3 * AT_ONCE + 5)]


def table(bad: set[str]) -> dict[str, Any]:
    """Cells of four levels; those of bad columns cannot be read."""
    columns: dict[str, Any] = {
        "key": np.array([f"{row:016x}" for row in range(6)], dtype=object),
        "truthful": np.ones(6, dtype=bool),
        **{name: np.full(6, 3) for name in ("demanded", "compatible", "matchable")},
    }
    return columns | {f"cell:{name}": np.full(6, 0 if name in bad else 1) for name in NAMES}


def judged(columns: dict[str, Any]) -> Verdict:
    return validate_columns(released.build_suite(dict.fromkeys(NAMES, 4), 6), columns)


@pytest.mark.long
def test_parts_find_what_the_whole_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = table({"c0", "c63", "c64", "c196"})
    del columns["cell:c70"], columns["truthful"]
    columns["matchable"] = np.full(6, 2)
    in_parts = judged(columns)
    monkeypatch.setattr(run_module, "AT_ONCE", 10_000)
    assert in_parts == judged(columns)
    assert {str(failure).partition(" (")[2].strip(")") for failure in in_parts.failures} == {
        *("c0", "c63", "c64", "c196", "c70", "truthful", "matchable")
    }


@pytest.mark.long
def test_sound_columns_pass() -> None:
    assert judged(table(set())).success


@pytest.mark.long
def test_no_expectation_of_a_column_sees_all_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Great Expectations compares a column with the name of every column in the frame."""
    seen: list[tuple[int, int]] = []
    together = run_module._find_passed_together

    def counted(suite: Any, columns: Any) -> set[str]:
        of_columns = sum(hasattr(each, "column") for each in suite.expectations)
        seen.append((of_columns, len(columns)))
        return together(suite, columns)

    monkeypatch.setattr(run_module, "_find_passed_together", counted)
    judged(table(set()))
    assert sum(of_columns for of_columns, _ in seen) == len(NAMES) + 5
    assert all(width <= AT_ONCE for of_columns, width in seen if of_columns)


def test_words_are_those_of_great_expectations(specs: list[ColumnSpec], codebook: Codebook) -> None:
    """They are read from the expectation; its renderer takes milliseconds for each."""
    suites = (
        ingested.build_suite(specs, ["diagnosis"]),
        binarized.build_suite(codebook, 6),
        released.build_suite({"age": 4}, 6),
    )
    for suite in suites:
        for expectation in suite.expectations:
            (content,) = InlineRenderer(
                render_object=expectation.configuration
            ).get_rendered_content()
            rendered: Any = content.to_json_dict()["value"]
            text = rendered["template"]
            for name, parameter in rendered["params"].items():
                text = text.replace(f"${name}", _plain_value(parameter["value"]))
            assert _word_expectation(expectation) == text
