"""What files carry beside their rows: our own writer leaves nothing, others are found out."""

import gzip
import io
from datetime import date, datetime

import polars as pl
import pytest
import zstandard

from kinds.judge.layouts import LOOSE, ZSTD, loose_bytes, require_exact_page
from kinds.judge.traces import find_file_traces
from kinds.rows import write_csv

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
    return find_file_traces(path, "parquet", pl.read_parquet(path))


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
    assert find_file_traces(path, "csv", FRAME) == []


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
    assert find_file_traces(path, "parquet", FRAME) == ["the Parquet footer names another writer"]


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
    assert find_file_traces(path, "parquet", FRAME) == [
        LOOSE,  # the copy of the metadata beside the pages says something else
        "the Parquet file's statistics are not those of its rows",
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
    assert find_file_traces(path, "csv", FRAME) == words


def test_lists_carry_nothing_but_the_values_in_them(path):
    frame = pl.DataFrame({"key": ["a", "b", "c"], "items": [[3, 5], [], [-4]]})
    assert parquet(path, frame) == []
    frame.write_parquet(path)
    other = pl.DataFrame({"key": ["a", "b", "c"], "items": [[3, 6], [], [-4]]})
    assert find_file_traces(path, "parquet", other) == [
        "the Parquet file's statistics are not those of its rows"
    ]


# ---------------------------------------------------------------- bytes without a place


@pytest.mark.parametrize("options", [{}, {"row_group_size": 100, "data_page_size": 500}])
def test_every_byte_of_a_written_file_has_its_place(path, options):
    frame = pl.DataFrame(
        {
            "text": [None if i % 7 == 0 else "x" * (i % 50) for i in range(500)],
            "bounds": [{"lo": i, "hi": i + 0.5} for i in range(500)],
            "set": [[str(i)] * (i % 3) for i in range(500)],
            "nothing": pl.Series([None] * 500, dtype=pl.Date),
            "flag": [i % 2 == 0 for i in range(500)],
        }
    )
    frame.write_parquet(path, **options)
    assert list(loose_bytes(path.read_bytes())) == []
    pl.DataFrame(schema={"text": pl.String}).write_parquet(path)
    assert list(loose_bytes(path.read_bytes())) == []


def test_a_byte_more_anywhere_is_found(path):
    """Wherever it stands: between parts, in a page, in the footer."""
    parquet(path)
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        assert list(loose_bytes(content[:place] + b"\0" + content[place:])), place


def test_a_frame_that_no_reader_unpacks_is_found():
    """A skippable frame of Zstandard behind the content of a page, its size made to fit."""
    skippable = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"more"
    frame = b"\x28\xb5\x2f\xfd\x20\x04\x21\x00\x00text"
    longer = frame[:5] + b"\x05" + frame[6:]  # states one byte more than it holds
    require_exact_page(frame, ZSTD, 4)
    require_exact_page(zstandard.ZstdCompressor().compress(b""), ZSTD, 0)
    for packed, size in (
        *((frame + skippable, 4), (skippable + frame, 4), (skippable, 0), (b"", 0)),
        *((frame[:-1], 4), (frame, 5), (longer, 4), (longer, 5)),
    ):
        with pytest.raises(ValueError, match="no part of its rows"):
            require_exact_page(packed, ZSTD, size)


def test_a_frame_whose_checksum_or_dictionary_says_more_is_found():
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(b"text")
    require_exact_page(packed, ZSTD, 4)
    named = b"\x28\xb5\x2f\xfd\x21\x07\x04\x21\x00\x00text"
    for wrong in (packed[:-1] + bytes([packed[-1] ^ 1]), named):
        with pytest.raises(ValueError, match="no part of its rows"):
            require_exact_page(wrong, ZSTD, 4)
