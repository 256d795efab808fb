"""What files carry beside their rows: our own writer leaves nothing, others are found out."""

import gzip
import io
from datetime import date, datetime

import polars as pl
import pytest

from kinds.rows import write_csv
from tasks.judging.traces import traces

FRAME = pl.DataFrame(
    {
        "key": ["00ff", "01aa", "02bb"],
        "long": ["x" * 300 + "a", "y" * 300, None],
        "accents": ["\u00e9" * 100] * 3,
        "category": pl.Series(["u", "v", "u"], dtype=pl.Categorical),
        "day": [date(2020, 1, 1), None, date(1950, 1, 1)],
        "moment": pl.Series([datetime(2020, 1, 1, 3), None, None]).dt.replace_time_zone("UTC"),
        "byte": pl.Series([250, 3, None], dtype=pl.UInt8),
        "huge": pl.Series([2**64 - 1, 3, None], dtype=pl.UInt64),
        "small": pl.Series([-3, 4, None], dtype=pl.Int8),
        "real": [float("nan"), -0.0, 2.5],
        "short": pl.Series([1.1, 2.2, None], dtype=pl.Float32),
        "flag": [True, None, False],
        "^a$": ["p", "q", None],
        "nothing": pl.Series([None] * 3, dtype=pl.String),
    }
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data"


def parquet(path, frame=FRAME, **options):
    frame.write_parquet(path, **options)
    return traces(path, "parquet", pl.read_parquet(path))


def change_footer(path, old, new):
    """Replace bytes behind the data by as many others."""
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    assert len(old) == len(new)
    assert old in content[start:]
    path.write_bytes(content[:start] + content[start:].replace(old, new))


def test_what_is_published_carries_nothing_else(path):
    assert parquet(path) == []
    assert parquet(path, FRAME[:0]) == []
    write_csv(FRAME, path)
    assert traces(path, "csv", FRAME) == []


def test_many_rows_are_split_evenly(path):
    whole = pl.DataFrame({"key": [f"{n:016x}" for n in range(300_000)]})
    assert parquet(path, whole, row_group_size=70_000) == []
    parts = pl.concat([whole[:300], whole[300:]], rechunk=False)
    assert parquet(path, parts) == ["the Parquet file's row groups differ in size"]


def test_a_footer_that_says_more_is_found(path):
    assert parquet(path, metadata={"source": "people.csv"}) == [
        "the Parquet footer contains metadata"
    ]
    parquet(path)
    change_footer(path, b"Polars (python)", b"People (python)")
    assert traces(path, "parquet", FRAME) == ["the Parquet footer names another writer"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"00ff", b"00fe"),
        (b"\xfa\0\0\0", b"\xfb\0\0\0"),
        (b"x" * 60, b"w" * 60),
        (b"\0" * 6 + b"\x04@", b"\0" * 6 + b"\x05@"),
    ],
)
def test_statistics_of_other_rows_are_found(path, old, new):
    parquet(path)
    change_footer(path, old, new)
    assert traces(path, "parquet", FRAME) == [
        "the Parquet file's statistics are not those of its rows"
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"filename": "people.csv", "mtime": 0}, ["the gzip header contains a name or a comment"]),
        ({"filename": "", "mtime": 7}, ["the gzip header contains a time"]),
        ({"filename": "", "mtime": 0}, []),
    ],
)
def test_a_gzip_header_that_says_more_is_found(path, options, words):
    packed = io.BytesIO()
    with gzip.GzipFile(mode="wb", fileobj=packed, **options) as file:
        file.write(b"key\n00ff\n")
    path.write_bytes(packed.getvalue())
    assert traces(path, "csv", FRAME) == words


def test_lists_carry_nothing_but_the_values_in_them(path):
    frame = pl.DataFrame({"key": ["a", "b", "c"], "items": [[3, 5], [], [-4]]})
    assert parquet(path, frame) == []
    frame.write_parquet(path)
    other = pl.DataFrame({"key": ["a", "b", "c"], "items": [[3, 6], [], [-4]]})
    assert traces(path, "parquet", other) == [
        "the Parquet file's statistics are not those of its rows"
    ]
