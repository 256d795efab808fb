"""Texts that mean "not given": proposed where no other value can be meant."""

import tomllib

import polars as pl
import pytest

from crowdcover.kinds.table.starter.markers import find_markers
from tests.support.starter import MARK, store, written

NUMBERS = [str(i) for i in range(30)]
CITIES = ["ulm", "bonn", "kiel"] * 10


@pytest.mark.parametrize(
    ("columns", "missing", "doubted"),
    [
        ({"a": [*NUMBERS, "N"]}, ["N"], {}),
        ({"a": [*NUMBERS, "NA"]}, ["NA"], {}),
        ({"a": [*NUMBERS, "-9"]}, ["-9"], {}),
        ({"a": [*NUMBERS, "-9", "-8"]}, ["-8", "-9"], {}),
        ({"a": [*NUMBERS, "N", "-9"]}, ["-9", "N"], {}),
        ({"a": [*NUMBERS, "-9", "-3"]}, [], {}),  # negative numbers are values here
        ({"a": [*CITIES, "?"]}, ["?"], {}),
        ({"a": [*CITIES, "N"]}, [], {}),  # N may be a city
        ({"a": [*CITIES, MARK]}, [], {}),
        ({"a": ["2020-01-01", "2020-01-02", "unknown"]}, ["unknown"], {}),
        ({"a": [*NUMBERS, "N"], "b": [*CITIES, "N"]}, [], {"N": 1}),  # of all columns at once
        ({"a": ["N", "N"]}, [], {}),
        ({"a": [-9, *range(30)]}, ["-9"], {}),
        ({"a": [-9.5, *range(30)]}, [], {}),
        ({"a": [True, False]}, [], {}),
        ({"a": [None, None]}, [], {}),
    ],
)
def test_markers(columns, missing, doubted):
    columns = {name: pl.Series(cells) for name, cells in columns.items()}
    longest = max(map(len, columns.values()))
    frame = pl.DataFrame(
        {name: cells.extend_constant(None, longest - len(cells)) for name, cells in columns.items()}
    )
    found = find_markers(frame)
    assert found.missing == missing
    assert found.doubted == doubted


def test_columns_are_judged_without_their_markers(tmp_path):
    cells = [str(20 + i % 9 + i % 17) if i % 5 else "N" for i in range(600)]
    frame = pl.DataFrame({"age": cells, "sure": ["x", "y"] * 300})
    plan = written(store(frame, tmp_path, "csv"))
    assert 'missing = ["N"]            # 120 cells in 1 columns' in plan
    parsed = tomllib.loads(plan)
    assert parsed["source"]["decide"] == ["missing"]
    assert parsed["columns"]["age"]["kind"] == "numeric"


def test_a_marker_that_may_be_a_value_is_named_but_not_proposed(tmp_path):
    cells = [str(20 + i % 9 + i % 17) if i % 5 else "N" for i in range(600)]
    frame = pl.DataFrame({"age": cells, "smokes": ["N", "Y"] * 300})
    plan = written(store(frame, tmp_path, "csv"))
    parsed = tomllib.loads(plan)
    assert parsed["source"]["missing"] == []
    assert parsed["columns"]["age"]["kind"] == "categorical"
    assert '# "N" may mean so, too, but it may be a value in 1 columns.' in plan
