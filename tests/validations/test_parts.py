"""Rows that are read in parts: a suite finds of the parts what it finds of the whole."""

from typing import Any

import great_expectations.expectations as gxe
import numpy as np
import polars as pl
import pytest
from great_expectations import ExpectationSuite

from crowdcover.validations import expectations as own
from crowdcover.validations import run as run_module
from crowdcover.validations.rows import Rows
from crowdcover.validations.run import validate_columns

NAN = float("nan")
KEYS = [f"{row:016x}" for row in range(7)]
COLUMNS: dict[str, Any] = {
    "sound": np.array([1.0, 2.0, NAN, 4.0, 5.0, 1.0, 2.0]),
    "late": np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, float("inf")]),
    "level": np.array([0, 1, 1, 2, 1, 2, 1]),
    "rare": np.array([1, 2, 1, 1, 1, 1, 1]),
    "two": np.array(["a", "b", None, "a", "a", "b", "b"], dtype=object),
    "three": np.array(["a", "a", "b", "b", "c", "c", "c"], dtype=object),
    "crowd": np.array([5, 5, 5, 5, 5, 5, 4]),
    "demand": np.full(7, 5),
    "less": np.full(7, 4),
    "true": np.ones(7, dtype=bool),
    "false": np.array([True] * 6 + [False]),
    "key": pl.Series(KEYS),
    "twice": pl.Series([*KEYS[:6], KEYS[0]]).sort(),
    "next": pl.Series([*KEYS[:3], KEYS[2], *KEYS[4:]]),
    "absent": pl.Series([None, *KEYS[1:]]),
    "apart": pl.Series([*KEYS[:6], KEYS[0]]),
}
NAMES = list(COLUMNS)


def expected() -> list[Any]:
    at = [own.ExpectColumnNumbersToBeFinite(column=name) for name in ("sound", "late", "two")]
    at += [own.ExpectColumnLevelsToDecode(column=name, levels=3) for name in ("level", "late")]
    at += [
        own.ExpectColumnLevelsToBeShared(column="level", first=1, least=2),
        own.ExpectColumnLevelsToBeShared(column="level", first=1, least=3),
        own.ExpectColumnLevelsToBeShared(column="rare", first=0, least=2),
    ]
    at += [
        gxe.ExpectColumnUniqueValueCountToBeBetween(column=name, min_value=1, max_value=2)
        for name in ("two", "three", "sound", "gone")
    ]
    at += [gxe.ExpectColumnValuesToNotBeNull(column=name) for name in ("sound", "two", "key")]
    at += [own.ExpectColumnCellsToAllowALevel(column=name, levels=2) for name in ("rare", "level")]
    at += [own.ExpectRowsToBeTruthful(column=name) for name in ("true", "false", "gone")]
    at += [
        own.ExpectCrowdsToMeetDemands(crowd_column="crowd", demand_column=name)
        for name in ("demand", "less", "gone")
    ]
    at += [gxe.ExpectColumnMinToBeBetween(column="level", min_value=low) for low in (0, 1)]
    at += [gxe.ExpectColumnSumToBeBetween(column="demand", max_value=top) for top in (34, 35)]
    at += [
        gxe.ExpectColumnPairValuesAToBeGreaterThanB(column_A=one, column_B=two, or_equal=True)
        for one, two in (("crowd", "demand"), ("demand", "crowd"))
    ]
    at += [
        gxe.ExpectColumnValuesToBeBetween(column="rare", min_value=1, max_value=1, mostly=share)
        for share in (0.5, 0.8, 1)
    ]
    at += [gxe.ExpectTableRowCountToEqual(value=rows) for rows in (2, 6, 7)]
    at += [
        gxe.ExpectTableColumnsToMatchSet(column_set=names, exact_match=True)
        for names in (NAMES, NAMES[1:])
    ]
    for name in ("key", "twice", "next", "absent", "apart"):
        at += own.random_keys(name)
    return at


@pytest.fixture
def judged() -> Any:
    def judge(rows: Any) -> list[bool]:
        suite = ExpectationSuite(name="one", expectations=expected())
        return [outcome.success for outcome in validate_columns(suite, rows).outcomes]

    return judge


@pytest.mark.long
@pytest.mark.parametrize("size", [1, 2, 3, 6])
@pytest.mark.parametrize("ordered", [(), ("key", "twice", "next", "absent")])
def test_parts_find_what_the_whole_finds(
    monkeypatch: pytest.MonkeyPatch, judged: Any, size: int, ordered: tuple[str, ...]
) -> None:
    whole = judged(Rows.of(COLUMNS))
    assert 20 < sum(whole) < len(whole) - 20
    monkeypatch.setattr(run_module, "ROWS_AT_ONCE", size)
    assert judged(Rows.of(COLUMNS, frozenset(ordered))) == whole


def test_nothing_passes_where_values_said_to_be_ordered_are_not(
    monkeypatch: pytest.MonkeyPatch, judged: Any
) -> None:
    monkeypatch.setattr(run_module, "ROWS_AT_ONCE", 3)
    assert not any(judged(Rows.of(COLUMNS, frozenset(["apart"]))))


def test_no_frame_holds_more_rows_than_a_part_and_one_unless_it_must(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[str, ...]] = []
    whole = Rows.of(COLUMNS, frozenset(["key"]))

    def read(names: Any, first: int, end: int) -> Any:
        if end - first > 3:
            seen.append(tuple(names))
        return whole.read(names, first, end)

    monkeypatch.setattr(run_module, "ROWS_AT_ONCE", 2)
    suite = ExpectationSuite(name="one", expectations=[*expected()[:12], *own.random_keys("key")])
    validate_columns(suite, Rows(whole.names, whole.count, read, whole.ordered))
    assert seen == [("level",), ("rare",), ("two",), ("three",), ("sound",), ()]
