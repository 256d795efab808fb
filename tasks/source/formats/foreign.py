"""Formats that are not read, by how their files begin: a refusal calls them by their right name."""

import re

from anon_core.errors import InputError

CSV = "export the table as CSV or Parquet"
UNPACK = "unpack it and name the file that holds the table"
DECRYPT = "decrypt it and name the file that holds the table"
LINES = "write one object a line (JSON lines), e.g. by jq -c '.[]'"
# At which byte which bytes stand, what that is, what to do. They count where the file is no text.
SIGNS: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"SQLite format 3\0", "an SQLite database", "state source.uri = 'sqlite:///...' and query"),
    (8, b"DUCK", "a DuckDB database", "state source.uri = 'duckdb:///...' and query"),
    (0, b"PARE", "an encrypted Parquet file", DECRYPT),
    (0, b"FEA1", "a Feather file of version 1", "write it as Arrow (Feather 2) or Parquet"),
    (0, b"ORC", "an ORC file", "write it as Parquet"),
    (0, b"Obj\x01", "an Avro file", "write it as Parquet"),
    (0, b"\x89HDF", "an HDF5 file", CSV),
    (0, b"CDF", "a NetCDF file", CSV),
    (0, b"\x93NUMPY", "one array of numpy", "write a table as CSV or Parquet, or a matrix as .npz"),
    (0, b"$FL", "an SPSS file", CSV),
    (84, b"SAS FILE", "a SAS file", CSV),
    (0, b"RD", "an R file", CSV),
    (0, b"X\n\0\0", "an R file", CSV),
    (0, b"\x80\x03", "a pickle of Python", CSV),
    (0, b"\x80\x04", "a pickle of Python", CSV),
    (0, b"\x80\x05", "a pickle of Python", CSV),
    (0, b"\x89PNG", "an image", CSV),
    (0, b"\xff\xd8\xff", "an image", CSV),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (0, b"Rar!", "a RAR archive", UNPACK),
    (257, b"ustar", "a tar archive", UNPACK),
    (0, b"\x04\x22\x4d\x18", "packed by lz4", UNPACK),
    (0, b"\x1f\x9d", "packed by compress (.Z)", UNPACK),
    (0, b"\xff\x06\0\0sNaPpY", "packed by Snappy", UNPACK),
    (0, b"PK\x05\x06", "an empty zip archive", UNPACK),
)
# How texts begin, after blanks and in small letters.
TEXTS: tuple[tuple[bytes, str, str], ...] = (
    (b"<!doctype html", "a page of HTML", f"{CSV}; a page may stand where a download failed"),
    (b"<html", "a page of HTML", f"{CSV}; a page may stand where a download failed"),
    (b"<?xml", "an XML document", CSV),
    (b"<stata_dta>", "a Stata file", CSV),
    (b"header record*******", "a SAS transport file", CSV),
    (b"%pdf-", "a PDF document", CSV),
    (b"{\\rtf", "an RTF document", CSV),
    (b"age-encryption.org/", "encrypted by age", DECRYPT),
    (b"-----begin ", "encrypted or signed (PGP, PEM)", DECRYPT),
    (b"version https://git-lfs", "a pointer of Git LFS", "fetch the file itself: git lfs pull"),
)
NO_TEXT = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")


def refuse_foreign(head: bytes) -> None:
    """Refuse a file that begins as one of a format that is not read."""
    if _is_binary(head):
        for place, sign, name, remedy in SIGNS:
            if head[place : place + len(sign)] == sign:
                raise InputError(f"the source is {name}, which is not read; {remedy}")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    for sign, name, remedy in TEXTS:
        if text[: len(sign)].lower() == sign:
            raise InputError(f"the source is {name}, which is not read; {remedy}")
    first = text.split(b"\n")[0].rstrip()
    if first == b"{" or (text[:1] == b"[" and text[1:].lstrip()[:1] == b"{"):
        raise InputError(f"the source is one JSON document, which is not read; {LINES}")


def _is_binary(head: bytes) -> bool:
    """Whether it has signs that no text has, such as NUL."""
    return NO_TEXT.search(head) is not None
