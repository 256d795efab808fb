"""Reading tables: columns equal what was written; refusals name no value."""

import csv
import datetime
import decimal
import gzip
import io
import sqlite3
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.demands import Demand
from crowdcover.kinds.arrays import convert_to_arrays
from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.pipeline import read as typed
from crowdcover.kinds.table.pipeline.encode import encode_records
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source
from crowdcover.storage.source.sources import read_source_header as peeked
from tests.support.sources import MARK, fingerprint, header, quiet, read, read_order

PLAIN = b"name,age\nann,1\nbob,2\n"


def gzipped(content):
    """Without the time: names of tests are made of it."""
    return gzip.compress(content, mtime=0)


def read_together(source, names, groups):
    return typed.read_together(Reading(source), names, groups)


def refused(match, work, *marks):
    with pytest.raises(InputError, match=match) as caught:
        work()
    quiet(caught.value, *marks)


def keep(*names, **settings):
    return [Column(name=name, role="keep", **settings) for name in names]


def quasi(name, kind="categorical", **settings):
    return Column(
        name=name, role="quasi", kind=kind, spec=ColumnSpec(name=name, kind=kind, **settings)
    )


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read_all(source, **settings):
    names = header(source)
    names = [f"c{place}" for place in range(names)] if isinstance(names, int) else names
    return read(source, names, keep(*names, **settings))


# ---------------------------------------------------------------- CSV


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        b"\xef\xbb\xbf" + PLAIN,
        b'\xef\xbb\xbf"name",age\nann,1\nbob,2\n',
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b"\n", b"\r"),
        PLAIN.rstrip(),
        b"name,age\n\nann,1\n\n\nbob,2\n\n\n",
        b"name,age\r\n\r\nann,1\r\nbob,2\r\n\r\n",
        b"\n\nname,age\nann,1\nbob,2\n",
        b" name ,\tage\nann , 1\n bob,2 \n",
        b'"name","age"\n"ann","1"\n"bob","2"\n',
    ],
)
def test_one_table_in_many_hands(tmp_path, content):
    for path in (put(tmp_path, "t.csv", content), put(tmp_path, "t.csv.gz", gzipped(content))):
        source = Source(path=path)
        assert header(source) == ["name", "age"]
        frame = read(source, ["name", "age"], [*keep("name"), *keep("age", kind="numeric")])
        assert frame.rows() == [("ann", 1), ("bob", 2)]


@pytest.mark.parametrize("separator", ["\t", ";", "|", " "])
def test_separators(tmp_path, separator):
    path = put(tmp_path, "t.tsv", PLAIN.replace(b",", separator.encode()))
    assert read_all(Source(path=path, separator=separator)).rows() == [("ann", "1"), ("bob", "2")]


def test_quoted_line_ends_and_separators_stay_in_their_cell(tmp_path):
    path = put(tmp_path, "t.csv", b'a,b\r\n"x,\ny","say ""hi"""\r\n"1\r\n\r\n2",5" pipe\r\n')
    assert read_all(Source(path=path)).rows() == [("x,\ny", 'say "hi"'), ("1\r\n\r\n2", '5" pipe')]


def test_a_row_of_nothing_is_a_row_and_a_blank_line_is_none(tmp_path):
    path = put(tmp_path, "t.csv", b'a,b\n1,2\n\n,\n"",""\n3,4\n\n')
    assert read_all(Source(path=path)).rows() == [
        ("1", "2"),
        (None, None),
        (None, None),
        ("3", "4"),
    ]
    path = put(tmp_path, "one.csv", b'a\n1\n\n""\n2\n')
    assert read_all(Source(path=path)).rows() == [("1",), (None,), ("2",)]


def test_gzip_of_several_members_is_one_file(tmp_path):
    path = put(tmp_path, "t.csv.gz", gzipped(b"a,b\n1,2\n") + gzipped(b"3,4\n"))
    assert read_all(Source(path=path)).rows() == [("1", "2"), ("3", "4")]


def test_without_header_names_come_from_the_plan_in_order(tmp_path):
    path = put(tmp_path, "t.csv", b"\nann,1\nbob,2\n\n")
    source = Source(path=path, header=False)
    assert header(source) == 2
    assert read(source, ["who", "age"], keep("age")).rows() == [("1",), ("2",)]


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "sql"])
def test_columns_are_found_by_name_whatever_the_order_of_the_plan(tmp_path, kind):
    frame = pl.DataFrame({"secret": [MARK, MARK], "name": ["ann", "bob"], "age": ["1", "2"]})
    source = stored(frame, tmp_path, kind)
    columns = (quasi("age"), Column(name="secret", role="identifier"), *keep("name"))
    table, _ = read_order(source, columns, Demand(constant=1))
    assert table.columns == ["age", "name"]
    assert sorted(table.rows()) == [("1", "ann"), ("2", "bob")]
    assert MARK not in str(table)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize(
    "name", ["*", "^.*$", "^$", "a.b", 'a"b', "ä ö", "d[1]*?", "", "columns.x", "'"]
)
def test_odd_column_names_and_file_names_name_one_thing(tmp_path, kind, name):
    folder = tmp_path / "k=5 [1]?*"
    folder.mkdir()
    put(folder, "other.csv", b"never\nread\n")
    source = stored(pl.DataFrame({name: ["1", "2"], "other": ["x", "y"]}), folder, kind, "t[1]*?")
    assert header(source) == [name, "other"]
    frame = read(source, [name, "other"], [quasi(name)])
    assert frame.columns == [name]
    assert frame.rows() == [("1",), ("2",)]
    table, *_ = encode_records(
        read(source, [name, "other"], [quasi(name), *keep("other")]),
        None,
        (quasi(name),),
        Demand(constant=1),
    )
    assert table.codes.tolist() == [[0, 1]]


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "sql"])
def test_blanks_around_names_do_not_count(tmp_path, kind):
    source = stored(pl.DataFrame({" a ": ["1", "2"], "b\t": ["x", "y"]}), tmp_path, kind)
    assert header(source) == ["a", "b"]
    assert sorted(read(source, ["a", "b"], keep("b", "a")).rows()) == [("x", "1"), ("y", "2")]
    doubled = stored(pl.DataFrame({"a ": ["1", "2"], "a": ["x", "y"]}), tmp_path, kind, "doubled")
    refused("1 of 2 column names of the source occur more than once", lambda: header(doubled))


def stored(frame, folder, kind, name="t"):
    """The frame as a source of a kind."""
    path = folder / f"{name}.{'db' if kind == 'sql' else kind}"
    if kind == "csv":
        with path.open("w", encoding="utf-8", newline="") as handle:
            csv.writer(handle).writerows([frame.columns, *frame.rows()])
    elif kind in ("parquet", "arrow"):
        content = io.BytesIO()
        (frame.write_parquet if kind == "parquet" else frame.write_ipc)(content)
        path.write_bytes(content.getvalue())
    else:
        with sqlite3.connect(path) as connection:
            cells = ", ".join(f"[{column}_{i}]" for i, column in enumerate(frame.columns))
            connection.execute(f"create table t ({cells})")
            connection.executemany(
                f"insert into t values ({', '.join('?' * frame.width)})", frame.rows()
            )
        connection.close()
        named = ", ".join(f'[{column}_{i}] as "{column}"' for i, column in enumerate(frame.columns))
        return Source(uri=f"sqlite:///{path}", query=f"select {named} from t")
    return Source(path=path)


CELLS = st.text(st.sampled_from("ab1 ,;\"\n\r\t'\\#é|\u2028"), max_size=5)


@st.composite
def csv_files(draw):
    """(text, separator, rows): the standard library writes it; blank lines between some rows."""
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=2, max_size=6))
    end, quoting = draw(
        st.sampled_from(
            [("\r\n", csv.QUOTE_MINIMAL), ("\r\n", csv.QUOTE_ALL), ("\n", csv.QUOTE_ALL)]
        )
    )
    separator = draw(st.sampled_from(",;\t|"))
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerow([f"c{place}" for place in range(width)])
    for row in rows:
        text.write(end * draw(st.sampled_from([0, 0, 0, 1])))
        writer.writerow(row)
    return text.getvalue(), separator, rows


@given(csv_files(), st.booleans())
def test_cells_come_back_as_they_were_written(tmp_path_factory, file, packed):
    text, separator, rows = file
    content = text.encode()
    path = put(
        tmp_path_factory.getbasetemp(),
        "p.csv.gz" if packed else "p.csv",
        gzipped(content) if packed else content,
    )
    found = read_all(Source(path=path, separator=separator)).rows()
    assert found == [tuple(cell.strip() or None for cell in row) for row in rows]


@given(st.text(st.sampled_from("a1 ,\"\n\r'é"), max_size=25), st.booleans())
def test_any_text_is_read_by_one_grammar_or_refused(tmp_path_factory, text, headed):
    """polars reads some files otherwise than the standard library; such a result is not used."""
    path = put(tmp_path_factory.getbasetemp(), "g.csv", ("x,y\n" if headed else "") + text)
    source = Source(path=path, header=headed)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error:
        rows = []
    if len(rows) < 2 or any(len(row) != 2 for row in rows):
        refused("the source|of the source", lambda: read(source, ["x", "y"], keep("y", "x")), "a1")
    else:
        found = read(source, ["x", "y"], keep("y", "x"))
        assert found.rows() == [(y.strip() or None, x.strip() or None) for x, y in rows]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty; a table with at least 2 rows is required"),
        (b"\n\n\r\n", "is empty; a table with at least 2 rows is required"),
        (b"\xef\xbb\xbf", "is empty; a table with at least 2 rows is required"),
        (b"a,b\n", "the source has no rows; at least 2 are required"),
        (b"a,b\nzq7,1\n", "the source has 1 row; at least 2 are required"),
        (b"a,b\nzq7,1\n\n\n", "the source has 1 row; at least 2 are required"),
        (
            b"a,b\nzq7,1\nzq7\nzq7,2\n",
            "1 of 4 rows of the source have more or fewer than 2 fields; correct them or "
            "source.separator; the first begins in line 3",
        ),
        (
            b"a,b\nzq7,1,\nzq7,zq7,zq7,4\nzq7,2\n",
            "2 of 4 rows of the source have more or fewer than 2 fields",
        ),
        (b"a;b\nzq7,1;zq7\nzq7;2\n", "1 of 3 rows of the source have more or fewer than 1 fields"),
        (
            b"a,b,a,a\nzq7,1,2,3\nzq7,1,2,4\n",
            "2 of 4 column names of the source occur more than once",
        ),
        (
            b"a,b\nzq7,\xe4\xf6\nzq7,2\n",
            "1 of the 3 lines read of the source are not UTF-8 text; convert it.*first is line 2",
        ),
        (b"a,b\nzq7,\0\nzq7,2\n", "1 of the 3 lines read .* hold NUL bytes, the first is line 2"),
        (b'a,b\nzq7,"zq7\nzq7,2\n', "a quoted field .* in the row that begins in line 2;"),
        (b'a,b\n"zq7"zq7,1\nzq7,2\n', "ends before its separator"),
        (b'a,b\nzq7,"' + b"zq7" * 6_000_000 + b'"\n1,2\n', "over 16 MiB"),
    ],
)
def test_broken_csv_is_refused_with_counts(tmp_path, content, words):
    source = Source(path=put(tmp_path, "t.csv", content))
    refused(words, lambda: read_all(source), "ä")


@pytest.mark.parametrize(
    "content",
    [
        gzipped((MARK * 3000 + ",1\n").encode() * 50)[:-20],
        gzipped(PLAIN)[:-4],
        gzipped(PLAIN)[:8],
        gzipped(PLAIN) + b"garbage",
        gzipped(PLAIN)[:25] + b"\0\0\0" + gzipped(PLAIN)[28:],
        PLAIN,
    ],
)
def test_broken_gzip_is_refused(tmp_path, content):
    source = Source(path=put(tmp_path, "t.csv.gz", content))
    refused("its gzip stream is damaged, breaks off or is none", lambda: read_all(source), "ann")


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "none.arrow"])
def test_a_file_that_is_not_there(tmp_path, name):
    source = Source(path=tmp_path / name)
    for work in (
        lambda: header(source),
        lambda: read(source, ["a"], keep("a")),
        lambda: fingerprint(source),
    ):
        refused("was not found; correct source.path", work)


@pytest.mark.parametrize("name", [".", "t.csv", "t.parquet"])
def test_a_folder_without_files_is_no_source(tmp_path, name):
    (tmp_path / "t.csv").mkdir()
    (tmp_path / "t.parquet").mkdir()
    source = Source(path=tmp_path / name)
    for work in (
        lambda: read(source, ["a"], keep("a")),
        lambda: fingerprint(source),
    ):
        refused("no Parquet file was found at source.path; name a file, a folder or", work)


def test_a_file_that_cannot_be_opened(tmp_path, monkeypatch):
    path = put(tmp_path, "t.csv", PLAIN)

    def closed(*_args, **_settings):
        raise PermissionError(MARK)

    monkeypatch.setattr(Path, "open", closed)
    for work in (Reading, peeked):
        refused("cannot be read; check its permissions", lambda work=work: work(Source(path=path)))


def test_columns_that_the_source_lacks_are_named(tmp_path):
    frame = pl.DataFrame({"a": [MARK, MARK], "b": ["1", "2"]})
    for kind in ("csv", "parquet", "arrow", "sql"):
        source = stored(frame, tmp_path, kind)
        refused(
            "the source has no column c, d; correct",
            lambda source=source: read(source, ["a", "b"], keep("a", "c", "d")),
        )


def test_many_rows_in_blocks(tmp_path):
    rows = "".join(f"{place},{place % 7}\n" for place in range(120_001))
    path = put(tmp_path, "t.csv", "a,b\n\n" + rows)  # the blank line keeps polars out
    frame = read_all(Source(path=path), kind="numeric")
    assert frame["a"].to_list() == list(range(120_001))
    assert frame["b"].sum() == sum(place % 7 for place in range(120_001))


# ---------------------------------------------------------------- Parquet, Arrow


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("damage", ["cut", "garbage", "middle", "empty"])
def test_broken_binary_files_are_refused(tmp_path, kind, damage):
    source = stored(
        pl.DataFrame({"a": [f"{MARK}{place}" for place in range(5000)], "b": [MARK] * 5000}),
        tmp_path,
        kind,
    )
    content = source.path.read_bytes()
    half = len(content) // 2
    broken = {
        "cut": content[:half],
        "garbage": MARK.encode() * 1000,
        "middle": content[:400] + bytes(range(256)) * 8 + content[2448:],
        "empty": b"",
    }
    source.path.write_bytes(broken[damage])
    refused("not a readable|damaged|is empty", lambda: read_all(source))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize(("height", "words"), [(0, "no rows"), (1, "1 row")])
def test_small_binary_files_are_refused(tmp_path, kind, height, words):
    source = stored(pl.DataFrame({"a": [MARK, MARK]}).head(height), tmp_path, kind)
    refused(f"the source has {words}; at least 2", lambda: read_all(source))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_types_of_binary_files(tmp_path, kind):
    frame = pl.DataFrame(
        {
            "flag": [True, False, None],
            "level": pl.Series(["lo", "hi", None], dtype=pl.Categorical),
            "fixed": pl.Series(["lo", "hi", None], dtype=pl.Enum(["hi", "lo"])),
            "price": [decimal.Decimal("1.10"), decimal.Decimal("2.00"), None],
            "small": pl.Series([1, 2, None], dtype=pl.UInt8),
            "day": [datetime.date(2020, 2, 29), datetime.date(1969, 12, 31), None],
            "moment": [datetime.datetime(2020, 2, 29, 23), datetime.datetime(1969, 12, 31), None],
            "nothing": [None, None, None],
        }
    )
    source = stored(frame, tmp_path, kind)
    numbers = [quasi(name, "numeric") for name in ("flag", "price", "small", "nothing")]
    found = convert_to_arrays(read(source, frame.columns, numbers))
    np.testing.assert_array_equal(found["flag"], [1, 0, np.nan])
    np.testing.assert_array_equal(found["price"], [1.1, 2, np.nan])
    np.testing.assert_array_equal(found["small"], [1, 2, np.nan])
    assert np.isnan(found["nothing"]).all()
    found = convert_to_arrays(
        read(source, frame.columns, [quasi(name, "date") for name in ("day", "moment", "nothing")])
    )
    np.testing.assert_array_equal(found["day"], [18321, -1, np.nan])
    np.testing.assert_array_equal(found["moment"], [18321, -1, np.nan])
    assert np.isnan(found["nothing"]).all()
    found = convert_to_arrays(read(source, frame.columns, [quasi(name) for name in frame.columns]))
    assert found["flag"].tolist() == ["true", "false", None]
    assert found["level"].tolist() == found["fixed"].tolist() == ["lo", "hi", None]
    assert found["price"].tolist() == ["1.10", "2.00", None]
    assert found["small"].tolist() == ["1", "2", None]
    assert found["day"].tolist() == ["2020-02-29", "1969-12-31", None]
    assert found["nothing"].tolist() == [None, None, None]
    kept = read(source, frame.columns, keep(*frame.columns))
    assert kept.rows() == frame.rows()


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_rows_stay_in_the_order_of_the_file(tmp_path, kind):
    frame = pl.DataFrame({"a": np.arange(200_000), "b": np.arange(200_000)[::-1]})
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        frame.write_parquet(path, row_group_size=5_000)
    else:
        frame.write_ipc(path, record_batch_size=5_000)
    first, second = read_together(
        Source(path=path), ["a", "b"], [keep("a"), [quasi("b", "numeric")]]
    )
    assert (first["a"].to_numpy() + second["b"].to_numpy() == 199_999).all()
    assert first["a"].is_sorted()


def test_a_moment_belongs_to_the_day_of_its_own_zone(tmp_path):
    late = pl.Series("t", [datetime.datetime(2020, 1, 1, 23)] * 2).dt.replace_time_zone(
        "Asia/Tokyo"
    )
    source = stored(late.to_frame(), tmp_path, "parquet")
    assert (
        read(source, ["t"], [quasi("t", "date")])["t"].to_list() == [datetime.date(2020, 1, 1)] * 2
    )


def test_dates_out_of_range_are_refused_by_name(tmp_path):
    days = pl.Series("a", [2**31 - 1, 0], dtype=pl.Int32).cast(pl.Date)
    source = stored(pl.DataFrame({"a": days, "b": ["1", "2"]}), tmp_path, "parquet")
    for column in (quasi("a"), quasi("a", "date"), *keep("a")):
        refused(
            "column 'a' holds values that cannot be read",
            lambda column=column: read(source, ["a", "b"], [column]),
        )
    assert read(source, ["a", "b"], keep("b")).height == 2


ODD = {
    "list": pl.Series("a", [[MARK], [MARK]]),
    "struct": pl.Series("a", [{"x": MARK}, {"x": MARK}]),
    "bytes": pl.Series("a", [b"zq7\xff", b"zq7"]),
    "span": pl.Series("a", [datetime.timedelta(days=7)] * 2),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("kind", [None, "numeric", "categorical", "binary", "date"])
def test_types_that_no_table_of_text_holds_are_refused_by_name(tmp_path, odd, kind):
    source = stored(ODD[odd].to_frame(), tmp_path, "parquet")
    column = keep("a")[0] if kind is None else quasi("a", kind)
    refused(
        "column 'a' holds (List|Struct|Binary|Duration); convert it or",
        lambda: read(source, ["a"], [column]),
    )


def test_other_columns_may_hold_anything(tmp_path):
    frame = pl.DataFrame([series.alias(name) for name, series in ODD.items()]).with_columns(
        a=pl.Series(["1", "2"])
    )
    source = stored(frame, tmp_path, "parquet")
    assert read(source, frame.columns, keep("a")).rows() == [("1",), ("2",)]


@pytest.mark.parametrize(
    "series",
    [pl.Series("a", [datetime.date(2020, 1, 1)] * 2), pl.Series("a", [datetime.time(1)] * 2)],
)
def test_dates_are_no_numbers_and_numbers_no_dates(tmp_path, series):
    source = stored(series.to_frame(), tmp_path, "parquet")
    refused(
        "column 'a' holds (Date|Time), not numbers",
        lambda: read(source, ["a"], [quasi("a", "numeric")]),
    )
    numbers = stored(pl.DataFrame({"a": [7731977, 2]}), tmp_path, "parquet", "numbers")
    refused(
        "column 'a' holds Int64, not dates",
        lambda: read(numbers, ["a"], [quasi("a", "date")]),
        "7731977",
    )


# ---------------------------------------------------------------- values


def column_of(tmp_path, cells, **settings):
    text = io.StringIO()
    csv.writer(text).writerows([["a", "b"], *([cell, "."] for cell in cells)])
    return Source(path=put(tmp_path, "v.csv", text.getvalue()), **settings)


def test_numbers_of_a_text_file(tmp_path):
    source = column_of(
        tmp_path, [" 5 ", "-0.5", "1e3", "+7", "007", ".5", "", "NA"], missing=("NA",)
    )
    found = convert_to_arrays(read(source, ["a", "b"], [quasi("a", "numeric")]))["a"]
    np.testing.assert_array_equal(found, [5, -0.5, 1000, 7, 7, 0.5, np.nan, np.nan])


@pytest.mark.parametrize(
    "cell",
    ["zq7", "nan", "inf", "-Infinity", "1,5", "0x10", "1_000", "5 zq7", "1e999", "--1", "true"],
)
def test_texts_that_are_no_numbers_are_counted(tmp_path, cell):
    source = column_of(tmp_path, ["1", cell, "2", cell])
    words = "column 'a': 2 of 4 values are no finite numbers; name their text in source.missing or"
    refused(words, lambda: read(source, ["a", "b"], [quasi("a", "numeric")]), cell)
    refused(words, lambda: read(source, ["a", "b"], keep("a", kind="numeric")), cell)


def test_nan_and_infinity_of_a_binary_file_are_counted(tmp_path):
    source = stored(
        pl.DataFrame({"a": [1.0, float("nan"), float("inf"), None]}), tmp_path, "parquet"
    )
    refused(
        "column 'a': 2 of 4 values are no finite numbers",
        lambda: read(source, ["a"], [quasi("a", "numeric")]),
    )


def test_short_floats_are_the_numbers_that_were_written(tmp_path):
    cells = [0.1, 0.2, -0.0, 1e20, 33.3, None]
    source = stored(pl.DataFrame({"a": pl.Series(cells, dtype=pl.Float32)}), tmp_path, "parquet")
    assert read(source, ["a"], [quasi("a", "numeric")])["a"].to_list() == cells
    carried = read(source, ["a"], keep("a", kind="numeric"))["a"]
    assert carried.dtype == pl.Float32
    assert carried.cast(pl.String).cast(pl.Float64).to_list() == cells
    endless = stored(
        pl.DataFrame({"a": pl.Series([0.1, np.inf, np.nan], dtype=pl.Float32)}), tmp_path, "parquet"
    )
    refused(
        "column 'a': 2 of 3 values are no finite numbers",
        lambda: read(endless, ["a"], [quasi("a", "numeric")]),
    )


@pytest.mark.parametrize("kind", ["csv", "parquet", "sql"])
def test_numbers_that_would_lose_digits_are_refused(tmp_path, kind):
    frame = pl.DataFrame(
        {"a": [9007199254740993, -9007199254740993, 5], "b": [2**53 - 1, 1 - 2**53, 0]}
    )
    source = stored(frame, tmp_path, kind)
    work = lambda: read(source, ["a", "b"], [quasi("a", "numeric")])  # noqa: E731
    refused(
        r"column 'a': 2 of 3 numbers reach 2\*\*53 and would lose digits", work, "900719925474099"
    )
    assert sorted(read(source, ["a", "b"], keep("a", kind="numeric"))["a"].to_list()) == sorted(
        frame["a"].to_list()
    )
    assert sorted(read(source, ["a", "b"], [quasi("b", "numeric")])["b"].to_list()) == sorted(
        frame["b"].to_list()
    )


def test_numbers_longer_than_any_integer_are_never_rounded(tmp_path):
    source = column_of(tmp_path, ["12345678901234567890123", "5"])
    for column in (quasi("a", "numeric"), keep("a", kind="numeric")[0]):
        refused(
            "1 of 2 numbers reach",
            lambda column=column: read(source, ["a", "b"], [column]),
            "123456",
        )
    assert read(source, ["a", "b"], keep("a"))["a"].to_list() == ["12345678901234567890123", "5"]
    assert read(column_of(tmp_path, ["1e20", "5"]), ["a", "b"], [quasi("a", "numeric")])[
        "a"
    ].to_list() == [1e20, 5]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_great_numbers_with_fractions_are_never_rounded(tmp_path, kind):
    cells = ["12345678901234567.89", "-12345678901234567.88", "1.50"]
    frame = pl.DataFrame(
        {"a": cells if kind == "csv" else pl.Series([decimal.Decimal(cell) for cell in cells])}
    )
    source = stored(frame.with_columns(b=1), tmp_path, kind)
    carried = keep("a", kind="numeric")[0]
    if kind == "parquet":
        assert read(source, ["a", "b"], [carried])["a"].cast(pl.String).to_list() == cells
    for column in (quasi("a", "numeric"), *([carried] if kind == "csv" else ())):
        refused(
            "2 of 3 numbers reach",
            lambda column=column: read(source, ["a", "b"], [column]),
            "1234567",
        )
    assert read(source, ["a", "b"], keep("a"))["a"].cast(pl.String).to_list() == cells


def test_missing_texts_without_regard_to_blanks(tmp_path):
    source = column_of(tmp_path, ["?", " ? ", "n/a", "", "  ", "x?"], missing=(" ? ", "n/a"))
    assert read(source, ["a", "b"], [quasi("a")])["a"].to_list() == [
        None,
        None,
        None,
        None,
        None,
        "x?",
    ]


def test_missing_numbers_of_a_binary_file(tmp_path):
    frame = pl.DataFrame(
        {
            "i": [-99, 1, None],
            "f": [-99.0, float("nan"), 1.5],
            "d": ["-99", "n/a", "7"],
            "b": [True, None, False],
        }
    )
    source = stored(frame, tmp_path, "parquet")
    source = Source(path=source.path, missing=("-99", "nan", "n/a"))
    columns = [quasi("i", "numeric"), quasi("f", "numeric"), quasi("d", "numeric"), quasi("b")]
    found = read(source, frame.columns, columns)
    assert found.rows() == [
        (None, None, None, "true"),
        (1, None, None, None),
        (None, 1.5, 7, "false"),
    ]
    assert read(source, frame.columns, [quasi("i")])["i"].to_list() == [None, "1", None]


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Decimal(38, 0)])
def test_a_great_number_that_means_missing_leaves_its_neighbours(tmp_path, dtype):
    great = 2**63 - 1
    source = stored(
        pl.DataFrame({"i": pl.Series([great, great - 1, great - 100, 5], dtype=dtype)}),
        tmp_path,
        "parquet",
    )
    source = Source(path=source.path, missing=(str(great), "5.0"))
    assert read(source, ["i"], keep("i"))["i"].to_list() == [None, great - 1, great - 100, None]


def test_dates_of_a_text_file(tmp_path):
    source = column_of(tmp_path, ["01/31/2020", " 12/01/1999 ", ""])
    column = Column(
        name="a",
        role="quasi",
        kind="date",
        date_format="%m/%d/%Y",
        spec=ColumnSpec(name="a", kind="date"),
    )
    found = convert_to_arrays(read(source, ["a", "b"], [column]))["a"]
    np.testing.assert_array_equal(found, [18292, 10926, np.nan])
    words = "column 'a': 2 of 3 values are no dates of the stated format; set columns.a.format"
    refused(words, lambda: read(source, ["a", "b"], [quasi("a", "date")]), "01/31", "%Y-")


@pytest.mark.parametrize(
    ("form", "cells", "wrong"),
    [
        ("%Y-%m-%d", ["05-01-20", "31-12-99", "2020-01-05", "0987-01-05"], 2),
        ("%d-%m-%Y", ["05-01-20", "05-01-2020", "05-01-1999", ""], 1),
        ("%d-%m-%y", ["05-01-20", "05-01-99"], 0),
        ("%d.%m.%y", ["05.01.20", "29.02.00"], 0),
        ("%m%d%Y", ["01052020", "01050987"], 0),
    ],
)
def test_years_of_two_digits_are_not_those_of_emperors(tmp_path, form, cells, wrong):
    source = column_of(tmp_path, cells)
    century = 1999 if form.endswith("%y") else None
    column = Column(name="a", role="keep", kind="date", date_format=form, century=century)

    def work():
        return read(source, ["a", "b"], [column])

    if wrong:
        refused(
            f"column 'a': {wrong} of {len(cells)} values are no dates of the stated format",
            work,
            "05-01",
            "31-12",
        )
    else:
        assert work()["a"].null_count() == 0


@pytest.mark.parametrize("form", ["%H", "%Q", "%&", "zq7", "%Y-%m"])
def test_formats_that_are_none_are_refused(tmp_path, form):
    source = column_of(tmp_path, ["2020-01-31", "2020-01-30"])
    column = Column(name="a", role="keep", kind="date", date_format=form)
    refused("columns.a.format", lambda: read(source, ["a", "b"], [column]), form, "2020")


def test_a_column_of_nothing(tmp_path):
    source = column_of(tmp_path, ["", " ", "?"], missing=("?",))
    for column in (quasi("a"), quasi("a", "numeric"), quasi("a", "date"), *keep("a")):
        assert read(source, ["a", "b"], [column])["a"].null_count() == 3


def test_a_source_shows_no_password_and_no_missing_text():
    source = Source(uri=f"postgresql://u:{MARK}@h/db", query=f"select '{MARK}'", missing=(MARK,))
    assert MARK not in repr(source)


# ---------------------------------------------------------------- SQL


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "people 100% [a]?#.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "create table people (name, age integer, score real, seen text, ok boolean, photo blob)"
        )
        rows = [
            (f"{MARK} ann", 31, 1.5, "2020-01-31", 1, b"\xff"),
            (None, None, None, None, None, None),
            ("bob", 40, 2.0, "2019-12-01", 0, b"x"),
        ]
        connection.executemany("insert into people values (?,?,?,?,?,?)", rows)
        connection.execute("create table mixed (a)")
        connection.executemany("insert into mixed values (?)", [(1,), ("x",), (None,), (2.5,)])
    connection.close()
    return path


def query(database, words):
    return Source(uri=f"sqlite:///{database}", query=words)


def test_sqlite_types(database):
    source = query(database, "select * from people")
    assert header(source) == ["name", "age", "score", "seen", "ok", "photo"]
    columns = [
        quasi("name"),
        quasi("age", "numeric"),
        quasi("score", "numeric"),
        quasi("seen", "date"),
        quasi("ok", "binary"),
    ]
    frame = read(source, header(source), columns)
    assert set(frame.rows()) == {
        (f"{MARK} ann", 31, 1.5, datetime.date(2020, 1, 31), "1"),
        (None, None, None, None, None),
        ("bob", 40, 2.0, datetime.date(2019, 12, 1), "0"),
    }
    assert len(fingerprint(source)) == 64


def test_sqlite_columns_of_nothing_and_of_everything(database):
    nothing = query(database, "select null as a, age as b from people")
    for kind in ("numeric", "date", "categorical", "binary"):
        assert read(nothing, ["a", "b"], [quasi("a", kind)])["a"].null_count() == 3
    mixed = query(database, "select a from mixed")
    assert set(read(mixed, ["a"], [quasi("a")])["a"]) == {"1", "x", None, "2.5"}
    refused(
        "column 'a': 1 of 4 values are no finite numbers",
        lambda: read(mixed, ["a"], [quasi("a", "numeric")]),
    )


SAID = (
    r"source\.query (names a column that is not there|names a table or schema that is not there|"
    r"is not one statement|writes, and a source is only read|gives no table)|"
    r"check source\.uri and source\.query"
)


@pytest.mark.parametrize(
    "words",
    [
        f"select * from {MARK}",
        f"selec {MARK}",
        f"select {MARK} from people",
        f"select '{MARK}' as a, '{MARK}' as a",
        f"create table {MARK} (a)",
        f"update people set name = '{MARK}'",
        "",
    ],
)
def test_queries_that_fail_are_not_quoted(database, words):
    source = query(database, words)
    before = database.read_bytes()
    for work in (
        lambda: header(source),
        lambda: read(source, ["a"], keep("a")),
        lambda: fingerprint(source),
    ):
        refused(f"{SAID}|occur more than once", work, "people", "100%")
    assert database.read_bytes() == before


def test_databases_that_are_none(tmp_path, database):
    words = f"select '{MARK}' as a"
    refused("was not found; correct source.uri", lambda: header(query(tmp_path / "none.db", words)))
    refused(
        "the file of source.uri is no such database",
        lambda: header(query(put(tmp_path, "text.db", MARK * 999), "select * from a")),
    )
    refused("is empty", lambda: header(query(put(tmp_path, "empty.db", b""), words)))
    refused(
        "the source has no rows",
        lambda: read(query(database, "select age from people where 0"), ["age"], keep("age")),
    )
    refused("the source has 1 row", lambda: read(query(database, words), ["a"], keep("a")))


def test_a_relative_database_lies_where_one_stands(database, monkeypatch):
    monkeypatch.chdir(database.parent)
    assert header(Source(uri=f"sqlite:///{database.name}", query="select age from people")) == [
        "age"
    ]


def test_without_the_driver_the_refusal_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    source = Source(uri=f"postgresql://u:{MARK}@h/db", query=f"select '{MARK}'")
    refused(r"needs the driver: pip install 'crowdcover\[postgres\]'", lambda: header(source))


def test_the_order_of_a_databases_rows_decides_nothing(database):
    there, back = (
        query(database, f"select * from people order by name {way}") for way in ("asc", "desc")
    )
    columns = keep("name", "age", "photo")[:2]
    assert read(there, header(there), columns).equals(read(back, header(back), columns))
    assert fingerprint(there) == fingerprint(back)
    swapped = query(database, "select photo, ok, seen, score, age, name from people")
    assert fingerprint(there) == fingerprint(swapped)
    with sqlite3.connect(database) as connection:
        connection.execute("update people set age = 41 where age = 40")
    connection.close()
    assert fingerprint(there) != fingerprint(query(database, "select * from people limit 2"))


def test_fingerprints_tell_nothing_from_its_spellings(database):
    prints = {
        fingerprint(query(database, f"select {cell} as a from people"))
        for cell in ("null", "''", "'\\N'", "'null'")
    }
    assert len(prints) == 4


def test_k_stays_with_its_record_when_a_database_changes_its_mind(database, monkeypatch):
    """The order of rows may differ from query to query: k and cells are of one query."""
    asked = []
    real = pl.read_database

    def moody(*args, **settings):
        asked.append(1)
        frame = real(*args, **settings)
        return frame if len(asked) % 2 else frame.reverse()

    monkeypatch.setattr(pl, "read_database", moody)
    source = query(database, "select name, age as k from people")
    columns = (*keep("name"), quasi("k", "numeric"))
    for _ in range(2):
        table, k = read_order(source, columns, Demand(column="k"))
        assert set(zip(table["name"], k["k"], strict=True)) == {
            (f"{MARK} ann", 31),
            (None, None),
            ("bob", 40),
        }


def test_one_column_in_two_types(database):
    source = query(database, "select age from people")
    first, second = read_together(source, ["age"], [keep("age"), [quasi("age")]])
    assert first["age"].dtype == pl.Int64
    assert set(second["age"]) == {"31", "40", None}


# ---------------------------------------------------------------- fingerprints of files


def test_fingerprints_of_files_are_those_of_their_bytes(tmp_path):
    one, same, other = (
        put(tmp_path, name, text)
        for name, text in [("a.csv", PLAIN), ("b.csv", PLAIN), ("c.csv", PLAIN + b"x")]
    )
    assert (
        fingerprint(Source(path=one))
        == fingerprint(Source(path=same))
        != fingerprint(Source(path=other))
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_comments_are_no_rows(tmp_path, end):
    """The lists of SNAP start so, and name their columns in a comment."""
    path = tmp_path / "edges.txt"
    lines = ["# a graph, of 3 edges", "# from\tto", "1\t2", "2\t3", "# in between", "3\t#1", ""]
    path.write_bytes(end.join(lines).encode())
    source = Source(path=path, header=False, separator="\t", comment="#")
    assert (header(source), peeked(source)) == (2, 2)
    frame = Reading(source).columns(["u", "v"], ["v", "u"])
    assert frame.select("u", "v").rows() == [("1", "2"), ("2", "3"), ("3", "#1")]
    with pytest.raises(InputError, match="of 6 rows of the source have more or fewer than 1"):
        Reading(Source(path=path, header=False)).columns(["u"], ["u"])


@pytest.mark.parametrize("beside", ["", "# a comment\n"])
def test_the_sign_of_comments_within_a_quoted_field_is_text(tmp_path, beside):
    path = tmp_path / "notes.csv"
    path.write_text(beside + "id,note\n" + beside + '1,"one\n# two\n#"\n' + beside + '2,"x"\n')
    frame = Reading(Source(path=path, comment="#")).columns(["id", "note"], ["id", "note"])
    assert frame.rows() == [("1", "one\n# two\n#"), ("2", "x")]
