"""Formats that are not read, by how their files begin: a refusal calls them by their right name."""

import re

from anon_core.errors import InputError
from crowdcover.storage.source.packing import ArchiveMembers

EXPORT = "export the table as CSV or Parquet"
UNPACK = "unpack it and name the file that holds the table"
DECRYPT = "decrypt it and name the file that holds the table"
LOAD_DUMP = "load it into a database, and state source.uri and query, or export the table as CSV"
LINES = "write one object a line (JSON lines), e.g. by jq -c '.[]'"
STATA, ORDERS = (b"o", b"q", b"r", b"s"), (b"\x01", b"\x02")  # release, order of bytes
# At which byte which bytes stand, what that is, what to do. They count where the file is no text.
BINARY_SIGNS: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"SQLite format 3\0", "an SQLite database", "state source.uri = 'sqlite:///...' and query"),
    (8, b"DUCK", "a DuckDB database", "state source.uri = 'duckdb:///...' and query"),
    (0, b"PARE", "an encrypted Parquet file", DECRYPT),
    (0, b"FEA1", "a Feather file of version 1", "write it as Arrow (Feather 2) or Parquet"),
    (0, b"ORC", "an ORC file", "write it as Parquet"),
    (0, b"Obj\x01", "an Avro file", "write it as Parquet"),
    (0, b"\x89HDF", "an HDF5 file", EXPORT),
    (0, b"CDF", "a NetCDF file", EXPORT),
    (0, b"\x93NUMPY", "one array of numpy", "write a table as CSV or Parquet, or a matrix as .npz"),
    (0, b"$FL", "an SPSS file", EXPORT),
    (84, b"SAS FILE", "a SAS file", EXPORT),
    (0, b"RD", "an R file", EXPORT),
    (0, b"X\n\0\0", "an R file", EXPORT),
    (0, b"PGDMP", "a dump of PostgreSQL", LOAD_DUMP),
    (4, b"Standard Jet DB", "an Access database", EXPORT),
    (4, b"Standard ACE DB", "an Access database", EXPORT),
    *((0, first + order + b"\x01", "a Stata file", EXPORT) for first in STATA for order in ORDERS),
    (0, b"MATLAB ", "a MATLAB file", EXPORT),
    (0, b"\x80\x03", "a pickle of Python", EXPORT),
    (0, b"\x80\x04", "a pickle of Python", EXPORT),
    (0, b"\x80\x05", "a pickle of Python", EXPORT),
    (0, b"\x89PNG", "an image", EXPORT),
    (0, b"\xff\xd8\xff", "an image", EXPORT),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (0, b"Rar!", "a RAR archive", UNPACK),
    (257, b"ustar", "a tar archive", UNPACK),
    (0, b"\x04\x22\x4d\x18", "packed by lz4", UNPACK),
    (0, b"\x1f\x9d", "packed by compress (.Z)", UNPACK),
    (0, b"\xff\x06\0\0sNaPpY", "packed by Snappy", UNPACK),
    (0, b"PK\x05\x06", "an empty zip archive", UNPACK),
)
# How texts begin, after blanks and in small letters.
TEXT_SIGNS: tuple[tuple[bytes, str, str], ...] = (
    (b"<!doctype html", "a page of HTML", f"{EXPORT}; a page may stand where a download failed"),
    (b"<html", "a page of HTML", f"{EXPORT}; a page may stand where a download failed"),
    (b"<?xml", "an XML document", EXPORT),
    (b"<stata_dta>", "a Stata file", EXPORT),
    (b"header record*******", "a SAS transport file", EXPORT),
    (b"ascii spss port file", "an SPSS portable file", EXPORT),
    (b"rda2\na\n", "an R file", EXPORT),
    (b"rda3\na\n", "an R file", EXPORT),
    (b"%pdf-", "a PDF document", EXPORT),
    (b"{\\rtf", "an RTF document", EXPORT),
    (b"age-encryption.org/", "encrypted by age", DECRYPT),
    (b"-----begin ", "encrypted or signed (PGP, PEM)", DECRYPT),
    (b"version https://git-lfs", "a pointer of Git LFS", "fetch the file itself: git lfs pull"),
)
R_TEXT = re.compile(rb"A\r?\n[23]\r?\n\d{5,6}\r?\n\d{5,6}\r?\n")  # versions of R follow
# After comments, a statement as dumps of databases begin with.
SQL = re.compile(
    rb"(?:--[^\n]*\n\s*|/\*.*?\*/\s*;?\s*)*(?:create\s+(?:table|database|schema|type)\s|"
    rb"drop\s+table\s|insert\s+into\s+\S+\s*(?:\(|values)|lock\s+tables\s|set\s+\w+\s*=|set\s+names\s|"
    rb"pragma\s+\w+\s*=|begin\s*(?:transaction\s*)?;|start\s+transaction\s*;|use\s+\S+\s*;)",
    re.IGNORECASE | re.DOTALL,
)
_FOLDERS = {  # of zip archives; the first that a member's name begins with counts
    "word/": "a Word document",
    "ppt/": "a PowerPoint document",
    "Index/": "an Apple document, such as of Numbers",
}
# All but tab, line ends, form feed and escape, which texts may hold.
CONTROL_BYTES = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")


def refuse_foreign_format(head: bytes) -> None:
    """Refuse a file that begins as one of a format that is not read."""
    # A text may begin with RD or ORC: signs count only beside bytes that no text has.
    if _is_binary(head):
        for place, sign, name, remedy in BINARY_SIGNS:
            if head[place : place + len(sign)] == sign:
                raise InputError(f"the source is {name}, which is not read; {remedy}")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    for sign, name, remedy in TEXT_SIGNS:
        if text[: len(sign)].lower() == sign:
            raise InputError(f"the source is {name}, which is not read; {remedy}")
    if R_TEXT.match(text):
        raise InputError(f"the source is an R file, which is not read; {EXPORT}")
    if SQL.match(text):
        raise InputError(f"the source is a dump of SQL statements, which is not read; {LOAD_DUMP}")
    first = text.split(b"\n")[0].rstrip()
    if first == b"{" or (text[:1] == b"[" and text[1:].lstrip()[:1] == b"{"):
        raise InputError(f"the source is one JSON document, which is not read; {LINES}")


def refuse_foreign_archive(members: ArchiveMembers) -> None:
    """Refuse a zip archive that is a document of a format that is not read."""
    name = f"a document of the type {members.mimetype[:80]!r}" if members.mimetype else ""
    for folder, document in _FOLDERS.items():
        if not name and any(each.startswith(folder) for each in members.names):
            name = document
    if name:
        raise InputError(f"the source is {name}, which is not read; {EXPORT}")


def _is_binary(head: bytes) -> bool:
    """Whether it has signs that no text has, such as NUL."""
    return CONTROL_BYTES.search(head) is not None
