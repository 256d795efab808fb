"""Each format is told by its content, whatever the file is called; others by their right name."""

import bz2
import codecs
import gzip
import io
import json
import lzma
import zipfile

import numpy as np
import polars as pl
import pytest
import zstandard

from anon_core.errors import InputError
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source, read_source_header
from tests.storage.source.formats.workbooks import ods, xlsx, zipped

MARK = "zq7"
ROWS = [("ann", 1), ("bob", 2), ("çan", 3)]
TEXT = "name,age\n" + "".join(f"{name},{age}\n" for name, age in ROWS)
PLAIN = TEXT.encode()
FRAME = pl.DataFrame(ROWS, schema=["name", "age"], orient="row")
LINES = "".join(json.dumps({"name": name, "age": age}) + "\n" for name, age in ROWS).encode()
BOOK = [["name", "age"], *(list(row) for row in ROWS)]


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


def read(path, **settings):
    """Names, and rows of all columns as texts."""
    reading = Reading(Source(path=path, **settings))
    names = reading.header
    frame = reading.columns([], names)
    return names, frame.cast(pl.String).rows()


def refusal(path, **settings):
    """The words of the refusal, which name no cell; a look at the header refuses no more."""
    with pytest.raises(InputError) as caught:
        read(path, **settings)
    words = str(caught.value)
    assert MARK not in words
    assert "LATIN1" not in words
    return words


def written(method, **settings):
    content = io.BytesIO()
    getattr(FRAME, method)(content, **settings)
    return content.getvalue()


def zstd(content):
    return zstandard.ZstdCompressor().compress(content)


def gzipped(content):
    """Without the time: names of tests are made of it."""
    return gzip.compress(content, mtime=0)


PACKED = {
    "gzip": gzipped,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "lzma": lambda content: lzma.compress(content, format=lzma.FORMAT_ALONE),
    "zstd": zstd,
    "zstd of two frames": lambda content: zstd(content[:7]) + zstd(content[7:]),
    "zip": lambda content: zipped({"people.csv": content}),
    "zip of macOS": lambda content: zipped(
        {"a/": b"", "a/t.csv": content, "__MACOSX/a/._t.csv": b"x", "a/.DS_Store": b"x"}
    ),
    "zip in gzip": lambda content: gzipped(zipped({"people.csv": content})),
}
TEXTS = {
    "UTF-8 with a mark": codecs.BOM_UTF8 + PLAIN,
    "UTF-16": TEXT.encode("utf-16"),
    "UTF-16 BE": codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    "UTF-16 LE without a mark": TEXT.encode("utf-16-le"),
    "UTF-16 BE without a mark": TEXT.encode("utf-16-be"),
    "UTF-32": TEXT.encode("utf-32"),
}
TABLES = {
    "parquet": written("write_parquet"),
    "arrow": written("write_ipc"),
    "json lines": LINES,
    "json lines with a mark": codecs.BOM_UTF8 + b"\n" + LINES,
    "xlsx": xlsx(BOOK),
    "xlsx with an empty sheet": xlsx([], BOOK),
    "ods": ods(BOOK),
}
EXPECTED = ["name", "age"], [(name, str(age)) for name, age in ROWS]


@pytest.mark.parametrize("name", ["people", "people.csv", "people.txt", "people.data"])
@pytest.mark.parametrize("form", TABLES)
def test_a_format_is_told_by_its_content(tmp_path, form, name):
    path = put(tmp_path, name, TABLES[form])
    assert read(path) == EXPECTED
    assert read_source_header(Source(path=path)) == ["name", "age"]


@pytest.mark.long
@pytest.mark.parametrize("name", ["people", "people.csv", "people.zip"])
@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("form", ["csv", "UTF-16", "parquet", "xlsx"])
def test_packed_files_are_unpacked(tmp_path, packing, form, name):
    content = {"csv": PLAIN, **TEXTS, **TABLES}[form]
    path = put(tmp_path, name, PACKED[packing](content))
    assert read(path) == EXPECTED
    assert read_source_header(Source(path=path)) == ["name", "age"]


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_text_in_other_encodings_of_unicode(tmp_path, form, name):
    content = gzipped(TEXTS[form]) if name.endswith(".gz") else TEXTS[form]
    assert read(put(tmp_path, name, content)) == EXPECTED


def test_utf_16_of_other_alphabets(tmp_path):
    text = "имя,лет\nАнна,1\nБорис,2\n"  # noqa: RUF001
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        names, rows = read(put(tmp_path, "t.csv", text.encode(encoding)))
        assert (names, rows) == (["имя", "лет"], [("Анна", "1"), ("Борис", "2")])


def test_the_fingerprint_is_of_the_bytes_as_they_lie(tmp_path):
    prints = {
        Reading(Source(path=put(tmp_path, "t", pack(PLAIN)))).sha256 for pack in PACKED.values()
    }
    assert len(prints) == len(PACKED)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.jsonl", "t.xlsx", "t.npz"])
def test_the_name_decides_where_the_content_tells_nothing(tmp_path, name):
    words = refusal(put(tmp_path, name, f"{MARK},{MARK}\n{MARK},1\n".encode()))
    expected = {"t.jsonl": "line 1 of the source is no JSON object", "t.xlsx": "workbook"}
    assert expected.get(name, "not a readable") in words


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"SQLite format 3\0" + bytes(99), "an SQLite database, which is not read; state source.u"),
        (bytes(8) + b"DUCK" + bytes(99), "a DuckDB database"),
        (b"PARE" + bytes(99), "an encrypted Parquet file"),
        (b"FEA1" + bytes(99), "a Feather file of version 1"),
        (b"ORC\x0a\x0b" + bytes(99), "an ORC file"),
        (b"Obj\x01\x04" + bytes(99), "an Avro file"),
        (b"\x89HDF\r\n\x1a\n" + bytes(99), "an HDF5 file"),
        (b"$FL2@(#) SPSS" + bytes(99), "an SPSS file"),
        (b"<stata_dta><header>", "a Stata file"),
        (bytes(84) + b"SAS FILE" + bytes(99), "a SAS file"),
        (b"HEADER RECORD*******LIBRARY", "a SAS transport file"),
        (gzipped(b"RDX3\nX\n\0\0"), "an R file"),
        (bz2.compress(b"RDX2\nX\n\0\0\0\2"), "an R file"),
        (gzipped(b"X\n\0\0\0\3\0\4"), "an R file"),
        (lzma.compress(b"X\n\0\0\0\2\0\4"), "an R file"),
        (b"RDA3\nA\n3\n262657\n197888\n", "an R file"),
        (gzipped(b"A\n2\n262657\n131840\n"), "an R file"),
        (b"-- PostgreSQL database dump\n--\n\nSET statement_timeout = 0;\n", "a dump of SQL"),
        (b"-- MySQL dump\n/*!40101 SET NAMES utf8 */;\nDROP TABLE IF EXISTS `t`;\n", "a dump of S"),
        (gzipped(b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n"), "a dump of SQL"),
        (b"CREATE TABLE people (\n id int\n);\n", "a dump of SQL statements, which is not read"),
        (b"insert into t (a, b) values (1, 'zq7');\n", "load it into a database"),
        (b"PGDMP\1\x0e\0" + bytes(99), "a dump of PostgreSQL"),
        (b"\0\1\0\0Standard ACE DB\0" + bytes(99), "an Access database"),
        (b"s\2\1\0" + bytes(99), "a Stata file"),
        (b"MATLAB 5.0 MAT-file" + bytes(99), "a MATLAB file"),
        (b"ASCII SPSS PORT FILE  ", "an SPSS portable file"),
        (b"\x80\x04\x95\x00", "a pickle of Python"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF document"),
        (b"7z\xbc\xaf\x27\x1c\0\4", "a 7z archive"),
        (b"Rar!\x1a\x07\x01\0", "a RAR archive"),
        (bytes(257) + b"ustar\0" + bytes(300), "a tar archive"),
        (b"\x04\x22\x4d\x18\x00", "packed by lz4"),
        (b"\x1f\x9d\x90\0", "packed by compress"),
        (b"\n <!DOCTYPE html><html>", "a page of HTML"),
        (b"<?xml version='1.0'?><a/>", "an XML document"),
        (b"-----BEGIN PGP MESSAGE-----\n", "encrypted or signed"),
        (b"age-encryption.org/v1\n", "encrypted by age"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (b'[{"a": "zq7"}, {"a": 1}]', "one JSON document"),
        (b'{\n "a": "zq7"\n}\n', "one JSON document"),
        (b"\xff\xff\xff\xff\x10\1\0\0" + bytes(99), "a stream of Arrow"),
        (zipped({"a.csv": PLAIN, "b.csv": PLAIN}), "a zip archive of 2 files; unpack it"),
        (zipped({"a/": b""}), "a zip archive of no files"),
        (zipped({"word/document.xml": b"x"}), "a Word document"),
        (zipped({"ppt/slides.xml": b"x"}), "a PowerPoint document"),
        (zipped({"Index/Document.iwa": b"x"}), "an Apple document"),
        (zipped({"mimetype": b"application/epub+zip"}), "a document of the type 'application/epub"),
        (b"PK\x05\x06" + bytes(18), "an empty zip archive"),
        (b"PK\3\4" + bytes(range(256)) * 3, "a zip archive, as Excel workbooks are, and it is dam"),
        (bz2.compress(PLAIN * 99)[:-9], "packed by bzip2, and it is damaged or breaks off"),
        (lzma.compress(PLAIN * 99)[:-9], "packed by xz, and it is damaged or breaks off"),
        (zstd(np.random.default_rng(7).bytes(9999))[:-99] + b"xxx", "packed by zstd, and it is d"),
        (gzipped(PLAIN)[:-9], "packed by gzip, and it is damaged or breaks off"),
        (TEXT.encode("utf-16")[:-1], "UTF-16 text, and it is damaged or breaks off"),
        (b"a,b\nzq7,\0\nzq7,1\n", "1 of the 3 lines read of the source hold NUL bytes, the first"),
    ],
)
def test_what_is_not_read_is_called_by_its_name(tmp_path, content, words):
    assert words in refusal(put(tmp_path, "t.csv", content))


def test_a_zip_archive_with_a_password(tmp_path):
    content = bytearray(zipped({"a.csv": PLAIN}))
    content[6] |= 1  # of the file's own header
    content[content.index(b"PK\x01\x02") + 8] |= 1
    assert "a zip archive with a password" in refusal(put(tmp_path, "t.zip", bytes(content)))


@pytest.mark.parametrize(
    "first",
    [
        "PARENT",
        "ORCID",
        "PAR1",
        "RD",
        "$FL",
        "BZh",
        "PK",
        "Obj",
        "{a}",
        "[a]",
        "CDF",
        "X",
        "A",
        "--a",
        "create table",
        "set a",
        "insert into",
        "use",
        "MATLAB",
    ],
)
def test_text_that_begins_as_other_formats_is_text(tmp_path, first):
    names, rows = read(put(tmp_path, "t.csv", f"{first},b\n1,2\n3,4\n".encode()))
    assert (names, rows) == ([first, "b"], [("1", "2"), ("3", "4")])


def test_a_name_of_gzip_asks_for_gzip(tmp_path):
    assert "is none" in refusal(put(tmp_path, "t.csv.gz", bz2.compress(PLAIN)))


# ---------------------------------------------------------------- JSON lines


def test_json_lines_keep_types_and_lack_keys(tmp_path):
    lines = [
        '{"a": 1, "b": "x", "c": true, "d": 0.1, "e": 9223372036854775808, "f": ["x"], "g": 1}',
        "",
        '{"b": "y", "a": null, "c": false, "d": 2, "e": 1, "f": ["y", "z"], "g": "low"}',
    ]
    reading = Reading(Source(path=put(tmp_path, "t.jsonl", "\r\n".join(lines).encode())))
    assert reading.header == [*"abcdefg"]
    frame = reading.columns([], [*"gfedcba"])
    types = [pl.String, pl.List(pl.String), pl.UInt64, pl.Float64, pl.Boolean, pl.String, pl.Int64]
    assert frame.dtypes == types
    assert frame.rows() == [
        ("1", ["x"], 2**63, 0.1, True, "x", 1),
        ("low", ["y", "z"], 1, 2.0, False, "y", None),
    ]


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ('{"a": "zq7"', "line 2 of the source is no JSON object"),
        ('["zq7"]', "line 2 of the source is no JSON object"),
        ('{"a": NaN}', "line 2 of the source is no JSON object"),
        ('{"a": 1, "a": 2}', "line 2 of the source is no JSON object"),
        ('{"a": 1e999}', "column 'a': 1 of 2 values are no finite numbers"),
        ('{"a": 18446744073709551616}', "column 'a': 1 of 2 whole numbers would lose digits"),
        ('{"a": {"zq7": 1}}', "column 'a' holds values that cannot stand in one column"),
        ('{" a": 1}', "1 of 2 column names of the source occur more than once: columns 1 and 2"),
    ],
)
def test_json_lines_that_are_refused(tmp_path, second, words):
    content = f'{{"a": 5}}\n{second}\n'.encode()
    assert words in refusal(put(tmp_path, "t.json", content))


def test_whole_numbers_beside_fractions_keep_their_digits(tmp_path):
    content = b'{"a": 9007199254740993}\n{"a": 0.5}\n'
    assert "1 of 2 whole numbers would lose digits" in refusal(put(tmp_path, "t", content))


def test_the_end_of_a_name_tells_where_no_content_is(tmp_path):
    for end, kind in ((".pq", "parquet"), (".ipc", "arrow"), (".XLSX", "excel"), ("", "csv")):
        assert Source(path=tmp_path / f"none{end}").format.name == kind
    assert Source(uri="sqlite:///x", query="select 1").format is None
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("indptr.npy", b"x")
    assert Source(path=tmp_path / "a").format.name == "npz"


# ---------------------------------------------------------------- types that are not read


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
@pytest.mark.parametrize("packed", [False, True])
def test_columns_that_are_not_read_are_named(tmp_path, ending, packed):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    columns = {
        "age": pa.array([1, 2]),
        "seen": pa.array([1, 2], pa.timestamp("us", "+05:30")),
        "zoned": pa.array([1, 2], pa.timestamp("us", "Asia/Kolkata")),
        "born": pa.array([1, 2], pa.timestamp("ms", "-03:30")),
    }
    path, table = tmp_path / f"t.{ending}", pa.table(columns)
    if ending == "arrow":
        feather.write_feather(table, path, compression="uncompressed")
    else:
        parquet.write_table(table, path)
    if packed:
        path.write_bytes(gzipped(path.read_bytes()))
    assert refusal(path) == (
        "column 'seen' holds timestamp[us, tz=+05:30], column 'born' holds timestamp[ms, "
        "tz=-03:30], which is not read; convert it in the file (moments with an offset to UTC or "
        "a named zone), or leave it out of the file"
    )


def test_a_damaged_file_names_no_column(tmp_path):
    frame = pl.DataFrame({"a": [1, 2]})
    for write, ending in ((frame.write_parquet, "parquet"), (frame.write_ipc, "arrow")):
        path = tmp_path / f"t.{ending}"
        write(path)
        path.write_bytes(path.read_bytes()[:-9])
        assert "not a readable" in refusal(path)
