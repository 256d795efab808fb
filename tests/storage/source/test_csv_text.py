"""CSV text by blocks: rows, cells, refusals and line numbers are those of the standard library."""

import csv
import io
import random
from contextlib import contextmanager

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InputError
from crowdcover.storage.source import csv_rows, csv_text
from crowdcover.storage.source.csv_text import BAD_QUOTES, NOT_UTF8, RAGGED, ZEROS
from crowdcover.storage.source.file_bytes import Content

SIGNS = ["a", "b1", " ", ",", ",", '"', '""', "\n", "\n", "\r\n", "\r", "é", "\0", b"\xe9", "#"]
ROWS = ["a,b\n", 'x,"y\nz"\r\n', '"a,""b",c\n', ",\n", " ,é\n", "longer text of a cell,b\n"]


@contextmanager
def blocks(block, line, rows, longest=2**24):
    """Small blocks, and the kernel for all texts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_text, "LEAST_BYTES", 0)
        patch.setattr(csv_text, "BLOCK_BYTES", block)
        patch.setattr(csv_text, "LINE_BYTES", line)
        patch.setattr(csv_text, "ROWS_AT_ONCE", rows)
        patch.setattr(csv_text, "MOST_FIELD_BYTES", longest)
        yield


def read_plainly(data, comment, longest):
    """Rows by the standard library alone, or the refusal."""
    csv.field_size_limit(longest)
    lines = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", "surrogateescape", newline="")
    marks = {"all": 0, "start": 1, "foreign": 0, "zeros": 0, "first": 0}
    ragged, rows, refusal = [], [], None

    def mark():
        for line in lines:
            marks["all"] += 1
            if comment and marks["start"] == marks["all"] and line.startswith(comment):
                marks["start"] += 1
                continue
            odd = "zeros" if "\0" in line else "foreign"
            if "\0" in line or any("\udc80" <= sign <= "\udcff" for sign in line):
                marks[odd] += 1
                marks["first"] = marks["first"] or marks["all"]
            yield line

    try:
        for row in csv.reader(mark(), strict=True):
            if row:
                rows.append(row)
                ragged += [marks["start"]] * (len(row) != 2)
            marks["start"] = marks["all"] + 1
    except csv.Error:
        refusal = BAD_QUOTES.format(**marks)
    if marks["zeros"]:
        return ZEROS.format(**marks)
    if marks["foreign"]:
        return NOT_UTF8.format(**marks)
    if refusal is None and ragged:
        return RAGGED.format(ragged=len(ragged), total=len(rows), fields=2, first_ragged=ragged[0])
    return refusal or rows


def read_by_blocks(data, comment):
    try:
        frame = csv_rows.read_csv(
            Content(data, packed=False), ",", False, ["x", "y"], ["x", "y"], comment
        )
    except InputError as error:
        return str(error)
    return [[cell or "" for cell in row] for row in frame.rows()]


def join(signs):
    return b"".join(each if isinstance(each, bytes) else each.encode() for each in signs)


TEXTS = st.one_of(
    st.lists(st.sampled_from(SIGNS), max_size=30).map(join),
    st.lists(st.sampled_from(ROWS), max_size=12).map(join),
    st.lists(st.sampled_from([*ROWS, *ROWS, *SIGNS, "#,\n", '"#",a\n']), max_size=12).map(join),
)


@given(
    TEXTS,
    st.sampled_from(["", "#", "a,"]),
    st.integers(1, 40),
    st.integers(1, 20),
    st.integers(1, 4),
    st.sampled_from([3, 2**24]),
    st.booleans(),
)
def test_blocks_that_end_anywhere_hold_the_rows_of_the_standard_library(
    data, comment, block, line, rows, longest, marked
):
    data = csv_text.BOM * marked + data
    with blocks(block, line, rows, longest):
        found = read_by_blocks(data, comment)
    assert found == read_plainly(data, comment, longest)


def test_plain_rows_go_by_blocks_and_others_by_the_standard_library(monkeypatch):
    """Only rows that are not plain, and some behind them, are parsed one by one."""
    parsed, take_rows = [], csv_text.CsvText.take_rows

    def count(self, number, fields):
        block = take_rows(self, number, fields)
        parsed.append(block.rows if block else 0)
        return block

    monkeypatch.setattr(csv_text.CsvText, "take_rows", count)
    rows = [f"{number},text {number % 3} of a cell\n" for number in range(5000)]
    rows[3000] = "3000,\xa0\n"
    rows[2000] = '\n2000,5" pipe\n'
    with blocks(2**12, 2**10, 10):
        found = read_by_blocks("".join(rows).encode(), "")
    assert [int(x) for x, _ in found] == list(range(5000))
    assert (found[2000][1], found[3000][1]) == ('5" pipe', "\xa0")
    assert [number for number in parsed if number] == [10]


def test_equal_texts_of_a_block_are_held_once():
    drawn = random.Random(1)
    texts = [f"a text longer than a cell {drawn.randrange(9)}" for _ in range(20_000)]
    data = "".join(f"{text},{number}\n" for number, text in enumerate(texts)).encode()
    frame = csv_rows.read_csv(Content(data, packed=False), ",", False, ["x", "y"], ["x"])
    assert frame["x"].to_list() == texts
    held = sum(len(buffer) for chunk in frame["x"].get_chunks() for buffer in texts_of(chunk))
    assert held < 10_000


def texts_of(chunk):
    """The buffers of a column's texts that lie outside of its cells."""
    array = chunk.to_arrow(compat_level=pl.CompatLevel.newest())
    return [buffer for buffer in array.buffers()[2:] if buffer is not None]
