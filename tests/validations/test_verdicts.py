"""A verdict says yes or no and names columns; no cell of the table comes out on any way."""

import gc
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from typing import Any

import great_expectations as gx
import numpy as np
import pandas as pd
import pytest
from great_expectations.expectations import ExpectColumnValuesToNotBeNull
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec
from anon_core.tables.records import Attribute, Codebook
from crowdcover.kinds.table.suites import binarized, ingested, released
from crowdcover.validations import run as run_module
from crowdcover.validations.run import validate_columns
from crowdcover.validations.verdicts import Outcome, Verdict, verdict_from_json, verdict_to_json

Columns = dict[str, NDArray[Any]]

WORD, NUMBER = "quokka-7f3a", 86420135
MARKERS = (WORD, str(NUMBER))
LEVELS = {"k": 3, "age": 4}  # of the release that every suite passes


class Bomb:
    """A cell that quotes itself whenever it is touched."""

    def _burst(self, *_: object) -> Any:
        raise ValueError(WORD)

    __hash__ = __eq__ = __ge__ = __len__ = __float__ = __str__ = _burst


def test_sentence_of_success(specs: list[ColumnSpec], source: Columns) -> None:
    verdict = validate_columns(ingested.build_suite(specs, ["diagnosis"]), source)
    assert verdict.success
    assert verdict.failures == ()
    assert verdict.sentence() == "ingested: 7 of 7 expectations hold"


def test_sentence_of_failure(specs: list[ColumnSpec], source: Columns) -> None:
    infinite = np.full(6, np.inf)
    verdict = validate_columns(ingested.build_suite(specs, []), {**source, "age": infinite})
    assert not verdict.success
    table, age = verdict.failures
    assert replace(table, words="") == Outcome(
        "expect_table_columns_to_match_set", None, success=False
    )
    assert age == Outcome(
        "expect_column_numbers_to_be_finite",
        "age",
        success=False,
        words="Every value is a finite number or missing.",
    )
    assert verdict.sentence() == (
        "ingested: 5 of 7 expectations hold; failed: expect_table_columns_to_match_set, "
        "expect_column_numbers_to_be_finite (age)"
    )


def test_outcomes_keep_the_order_of_the_suite(release: Columns) -> None:
    suite = released.build_suite(LEVELS, 6)
    del release["truthful"]
    asked = [expectation.expectation_type for expectation in suite.expectations]
    assert [outcome.expectation for outcome in validate_columns(suite, release).outcomes] == asked


def test_a_suite_that_expects_nothing_lets_nothing_pass(source: Columns) -> None:
    verdict = validate_columns(gx.ExpectationSuite(name="empty"), source)
    assert verdict == Verdict("empty", ())
    assert not verdict.success


def test_two_of_a_name_are_told_apart() -> None:
    expected = [
        ExpectColumnValuesToNotBeNull(column="x", mostly=mostly) for mostly in (0.5, 1, 0.6)
    ]
    columns = {"x": np.array([1.0, 2.0, np.nan])}
    verdict = validate_columns(gx.ExpectationSuite(name="twice", expectations=expected), columns)
    assert [outcome.success for outcome in verdict.outcomes] == [True, False, True]


def test_same_suite_and_columns_run_again_and_at_once(codebook: Codebook, packed: Columns) -> None:
    suite = binarized.build_suite(codebook, 6)
    bad = {**packed, "level:age": np.full(6, -1)}
    tables = [packed, bad] * 4
    assert [validate_columns(suite, columns).success for columns in tables[:2]] == [True, False]
    with ThreadPoolExecutor(4) as pool:
        verdicts = list(
            pool.map(
                lambda columns: validate_columns(binarized.build_suite(codebook, 6), columns),
                tables,
            )
        )
    assert [verdict.success for verdict in verdicts] == [True, False] * 4


def test_columns_stay_as_they_were(release: Columns) -> None:
    before = {name: column.copy() for name, column in release.items()}
    validate_columns(released.build_suite(LEVELS, 6), release)
    assert all(np.array_equal(before[name], release[name]) for name in before)


@pytest.mark.parametrize("shape", [(5,), (6, 1), ()])
def test_unequal_columns_are_refused(
    codebook: Codebook, packed: Columns, shape: tuple[int, ...]
) -> None:
    with pytest.raises(InputError, match="one length") as refusal:
        validate_columns(
            binarized.build_suite(codebook, 6), {**packed, "k": np.full(shape, NUMBER)}
        )
    assert str(NUMBER) not in str(refusal.value)


def test_a_broken_run_fails_every_expectation(
    codebook: Codebook, packed: Columns, monkeypatch: Any
) -> None:
    def burst() -> None:
        raise RuntimeError(WORD)

    monkeypatch.setattr(run_module, "_get_context", burst)
    verdict = validate_columns(binarized.build_suite(codebook, 6), packed)
    assert len(verdict.failures) == len(verdict.outcomes) == 5
    assert WORD not in verdict.sentence()


def _planted() -> list[tuple[gx.ExpectationSuite, Columns]]:
    """Suites over labels, and tables of cells, that are full of markers and fail."""
    words = np.array([WORD, WORD + "b", WORD + "c"], dtype=object)
    numbers = np.array([NUMBER, NUMBER, -NUMBER])
    specs = [
        ColumnSpec(name="n", kind="numeric", bins=(float(NUMBER),), missing="refuse"),
        ColumnSpec(name="b", kind="binary", missing="refuse"),
        ColumnSpec(
            name="c", kind="categorical", encoding="ordinal", order=(WORD,), missing="refuse"
        ),
    ]
    attribute = Attribute(
        name="a",
        kind="numeric",
        encoding="one-hot",
        labels=(WORD, str(NUMBER)),
        edges=(NUMBER,),
        values=(NUMBER,),
    )
    book = Codebook((attribute, replace(attribute, name="b")))
    names = ("key", "cell:a", "cell:b", "demanded", "compatible", "matchable", "truthful")
    columns = {"n": words, "b": words, "c": words, "d": words}
    tables = [
        (ingested.build_suite(specs, ["d"]), columns),
        (
            ingested.build_suite(specs, ["d"]),
            {**columns, "n": np.array([NUMBER, np.inf, np.nan]), WORD: words},
        ),
        (binarized.build_suite(book, 2), {"level:a": numbers, "level:b": words, "k": numbers}),
        (released.build_suite({"a": 2, "b": 2}, 2), dict.fromkeys(names, numbers)),
        (released.build_suite({"a": 2, "b": 2}, 2), dict.fromkeys(names, words)),
    ]
    bombs = np.array([Bomb(), Bomb(), Bomb()], dtype=object)
    broken = np.array([WORD + "\udc80", "b", None], dtype=object)
    spoils: list[Callable[[str], NDArray[Any]]] = [lambda _: bombs, lambda _: broken]
    return tables + [
        (suite, {name: spoil(name) for name in table})
        for suite, table in tables
        for spoil in spoils
    ]


def test_no_marker_comes_out(caplog: Any, capfd: Any, recwarn: Any) -> None:
    caplog.set_level(logging.DEBUG)
    said: list[object] = []
    for suite, columns in _planted():
        verdict = validate_columns(suite, columns)
        assert not verdict.success
        said += [
            repr(verdict),
            str(verdict),
            verdict.sentence(),
            json.dumps(suite.to_json_dict()),
            repr(suite),
        ]
    assert capfd.readouterr() == ("", "")
    said += [caplog.text, *(str(warning.message) for warning in recwarn)]
    assert len(said) > 75
    assert not [text for text in said for marker in MARKERS if marker in str(text)]


@pytest.mark.parametrize(
    "module", ["validator.validation_graph", "data_context.types.base", "core.expectation_suite"]
)
def test_great_expectations_is_not_heard(module: str) -> None:
    heard = StringIO()  # caplog would listen behind the closed door
    handler = logging.StreamHandler(heard)
    logging.getLogger().addHandler(handler)
    try:
        logging.getLogger(f"great_expectations.{module}").error(WORD)
    finally:
        logging.getLogger().removeHandler(handler)
    assert heard.getvalue() == ""


LISTEN = """
import os, sys, json
import crowdcover.validations
assert not {'pandas', 'great_expectations'} & set(sys.modules)
assert os.environ['GX_ANALYTICS_ENABLED'] == 'false'
import crowdcover.validations.verdicts
assert 'great_expectations' not in sys.modules
import crowdcover.validations.run
import numpy as np
from tests.validations.test_verdicts import _planted
from crowdcover.validations.run import validate_columns
heard = []
QUIET = "socket.", "subprocess.", "tempfile.", "os.mkdir", "os.rename", "os.remove", "shutil."
def hear(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if (mode and set(mode) & set("wax+")) or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            heard.append(f"{event} {path}")
    elif event.startswith(QUIET):
        heard.append(event)
planted = _planted()
sys.addaudithook(hear)
for suite, columns in planted:
    validate_columns(suite, columns)
print(json.dumps(heard))
open(os.devnull, "w")
assert heard[-1] == "open /dev/null"
"""


@pytest.mark.long
def test_great_expectations_is_imported_late_and_a_validation_writes_and_sends_nothing(
    pytestconfig: pytest.Config, tmp_path: Any
) -> None:
    """Standard error stays empty, too."""
    environment = {**os.environ, "PYTHONPATH": str(pytestconfig.rootpath), "HOME": str(tmp_path)}
    command = [sys.executable, "-c", LISTEN]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_verdict_survives_its_json(release: Columns) -> None:
    verdict = validate_columns(
        released.build_suite(LEVELS, 6), {**release, "truthful": np.zeros(6, dtype=bool)}
    )
    document = json.loads(json.dumps(verdict_to_json(verdict)))
    assert verdict_from_json(document) == verdict
    assert len(verdict.failures) == 1
    for said in (1, "true", None, "yes"):
        document["outcomes"][0]["success"] = said
        assert not verdict_from_json(document).outcomes[0].success
    for broken in (
        {},
        {"suite": "x", "outcomes": [{}]},
        {"suite": "x", "outcomes": [{**document["outcomes"][0], "more": 1}]},
    ):
        with pytest.raises((KeyError, TypeError)):
            verdict_from_json(broken)


def test_every_expectation_says_in_words_what_it_expects(
    specs: list[ColumnSpec], codebook: Codebook, source: Columns, packed: Columns, release: Columns
) -> None:
    suites = (
        (ingested.build_suite(specs, ["diagnosis"]), source),
        (binarized.build_suite(codebook, 6), packed),
    )
    for suite, columns in (*suites, (released.build_suite(LEVELS, 6), release)):
        for outcome in validate_columns(suite, columns).outcomes:
            assert re.fullmatch(r"[A-Z][^$^\[\]]+\.", outcome.words), outcome
            assert not [
                value
                for column in columns.values()
                for value in map(str, column)
                if len(value) > 3 and value in outcome.words
            ]


@pytest.mark.long
def test_the_table_is_forgotten(release: Columns) -> None:
    validate_columns(released.build_suite(LEVELS, 6), release)
    gc.collect()
    assert not [
        thing
        for thing in gc.get_objects()
        if type(thing) is pd.DataFrame and set(thing) == set(release)
    ]
