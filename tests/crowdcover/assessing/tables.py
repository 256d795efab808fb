"""Ten real tables with columns that others may know and columns that shall not be linked."""

import os
from pathlib import Path

import polars as pl
import pytest

from tests.names import ROOT

DATA = Path(os.environ.get("CROWDCOVER_DATA", ROOT.parent / "shared" / "data"))
ROWS = 1500  # of each: pyCANON takes a minute for ten thousand
TABLES = {
    "adult": ("adult/arx_adult.csv.gz", ";", ["sex", "age", "race"], ["salary-class"]),
    "fars": ("arx-benchmark/fars_subset.csv.gz", ";", 3, 1),
    "acs_ma": ("census-like/nist_acs_ma2018.csv.gz", ",", 3, 2),
    "acs_national": ("census-like/nist_acs_national2018.csv.gz", ",", 3, 2),
    "acs_tx": ("census-like/nist_acs_tx2018.csv.gz", ",", 3, 2),
    "payments": ("openpayments/open_payments_gnrl_iowa_2013_2015.csv.gz", ",", 2, 1),
    "apps": ("googleplay/googleplaystore.csv.gz", ",", 2, 1),
    "census1990": ("census1990/USCensus1990.head.csv", ",", 3, 2),
    "caltech": ("facebook100/Caltech36.nodes.csv.gz", ",", 3, 1),
    "simmons": ("facebook100/Simmons81.nodes.csv.gz", ",", 3, 1),
}


def read_real_table(name):
    """The first rows without missing values, quasi-identifiers and sensitive columns."""
    path, separator, quasi, told = TABLES[name]
    if not (DATA / path).exists():
        pytest.skip(f"left out: {path} is not in CROWDCOVER_DATA")
    frame = pl.read_csv(DATA / path, separator=separator, infer_schema_length=None, quote_char='"')
    frame = frame[[each.name for each in frame if each.n_unique() > 1 and not each.has_nulls()]]
    if isinstance(quasi, int):
        names = [each for each in frame.columns if frame[each].n_unique() < 200]
        quasi, told = names[:quasi], names[quasi : quasi + told]
    return frame.head(ROWS).select(*quasi, *told), quasi, told
