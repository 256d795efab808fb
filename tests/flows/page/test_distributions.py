"""Shares of a column beside those of its source."""

import datetime as dt
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from crowdcover.flows.page.released.distributions import describe_column
from crowdcover.reader.coded.levels import Levels

DAYS = [dt.date(2024, 1, 1), dt.date(2024, 1, 2), dt.date(2024, 1, 3)]


@pytest.mark.parametrize("unit", ["ms", "us", "ns", None])
def test_days_of_the_source_are_those_of_the_levels(unit):
    numbers = np.array([(day - dt.date(1970, 1, 1)).days for day in DAYS], dtype=float)
    levels = Levels(
        "admitted",
        "date",
        ordinal=True,
        labels=tuple(map(str, DAYS)),
        lo=numbers,
        hi=numbers,
        above=np.zeros(3, dtype=bool),
        shown=numbers,
        missing=np.zeros(3, dtype=bool),
        whole=True,
        others={},
    )
    release = SimpleNamespace(
        column=lambda _: SimpleNamespace(levels=levels),
        frequencies=lambda _: pl.DataFrame({"expected": [2.0, 1.0, 1.0]}),
    )
    source = pl.Series("admitted", [DAYS[0], DAYS[0], DAYS[1], DAYS[2]])
    if unit is not None:
        source = source.cast(pl.Datetime(unit)) + dt.timedelta(hours=23)
    found = describe_column(release, "admitted", source)
    assert found.source == found.released == ["50.0 %", "25.0 %", "25.0 %"]
