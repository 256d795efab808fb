"""Metadata of release files beside the rows: gzip header and Parquet footer. No Prefect here."""

import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from kinds.judge.layouts import loose_bytes
from kinds.judge.thrift import Compact

WRITER = re.compile(rb"Polars( \(\w+\))?( version [\w.+-]+)?( \(build \w+\))?")
# What Python writes in a gzip header for speed and system.
SPEEDS, SYSTEMS = (0, 2, 4), (3, 255)
_SCHEMA = b"ARROW:schema"
# Writers cut statistics of long texts at this many bytes and may raise the last letter by one.
CUT = 32
LETTER = 4  # bytes at most
# Format codes of `struct` for Parquet's physical types whose statistics can be read.
_NUMBERS = {1: "i", 2: "q", 4: "f", 5: "d"}
TEXT = 6
_AT_ONCE = 2**20  # bytes of a gzip file that are unpacked at a time


def find_file_traces(path: Path, kind: str, rows: pl.DataFrame) -> list[str]:
    """What a file reveals beside its rows; sentences without values."""
    content = path.read_bytes()
    return list(
        dict.fromkeys(
            _find_parquet_traces(content, rows) if kind == "parquet" else gzip_traces(content)
        )
    )


def gzip_traces(content: bytes) -> Iterator[str]:
    """Check a gzip header (RFC 1952): magic (2 bytes), method, flags, time, speed, system.

    There is one: further members could hold names, times and the places where they begin.
    """
    if content[3] & ~1:  # anything but "probably text"
        yield "the gzip header contains a name or a comment"
    if content[4:8] != bytes(4):
        yield "the gzip header contains a time"
    if content[8] not in SPEEDS or content[9] not in SYSTEMS:
        yield "the gzip header names another writer"
    member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    view, at = memoryview(content), 0
    # In parts: the unpacked text of the whole file is never held.
    while at < len(view) and not member.eof:
        member.decompress(view[at : at + _AT_ONCE])
        at += _AT_ONCE
    if member.unused_data or at < len(view):
        yield "the gzip file goes on after its rows"


def _find_parquet_traces(content: bytes, rows: pl.DataFrame) -> Iterator[str]:
    """Check a Parquet footer: FileMetaData, fields by number."""
    size = int.from_bytes(content[-8:-4], "little")
    footer = Compact(content[-8 - size : -8]).fields()
    if any(entry[1] != _SCHEMA for entry in footer.get(5, [])):
        yield "the Parquet footer contains metadata"
    if not WRITER.fullmatch(footer.get(6, b"")):
        yield "the Parquet footer names another writer"
    yield from loose_bytes(content)
    groups = footer.get(4, [])
    # The last group has the rest. Other sizes that differ could carry a message.
    sizes = [group[3] for group in groups[:-1]]
    if sizes and max(sizes) - min(sizes) > 1:
        yield "the Parquet file's row groups differ in size"
    first = 0
    for group in groups:
        there = rows[first : first + group[3]]
        first += group[3]
        # Without a name: polars reads a name such as ^a$ as a pattern.
        leaves = (leaf for column in there.get_columns() for leaf in _list_leaves(column.alias("")))
        for leaf, chunk in zip(leaves, group[1], strict=False):
            if 1 in chunk or 8 in chunk.get(3, {}):
                yield "the Parquet footer contains metadata"
            if not _tells_its_rows(leaf, chunk.get(3, {})):
                yield "the Parquet file's statistics are not those of its rows"


def _list_leaves(column: pl.Series) -> Iterator[pl.Series]:
    """The values of a column by chunk: those in its lists, and of each field of a struct."""
    if isinstance(column.dtype, pl.List):
        yield from _list_leaves(column.explode())
    elif isinstance(column.dtype, pl.Struct):
        for name in column.struct.fields:
            yield from _list_leaves(column.struct.field(name))
    else:
        yield column


def _tells_its_rows(column: pl.Series, chunk: dict[int, Any]) -> bool:
    """Whether the stated minimum and maximum of a column chunk occur in its rows."""
    # Of statistics: 1 and 5 are the maximum, 2 and 6 the minimum, in old and new form.
    stated = [value for field, value in chunk.get(12, {}).items() if field in (1, 2, 5, 6)]
    kind = chunk[1]
    if not stated or not (kind == TEXT or kind in _NUMBERS):
        return True
    if kind == TEXT:
        values = column.cast(pl.String) if column.dtype != pl.Binary else column
        held = {v if isinstance(v, bytes) else v.encode() for v in values.unique().drop_nulls()}
        return all(_is_among_values(value, held) for value in stated)
    sign = str.upper if column.dtype.is_unsigned_integer() else str.lower
    code = "<" + (sign(_NUMBERS[kind]) if kind in (1, 2) else _NUMBERS[kind])
    held = set(column.to_physical().unique().drop_nulls())
    return all(struct.unpack(code, value)[0] in held for value in stated)


def _is_among_values(value: bytes, held: set[bytes]) -> bool:
    cut = len(value) >= CUT
    return value in held or (cut and any(text.startswith(value[:-LETTER]) for text in held))
