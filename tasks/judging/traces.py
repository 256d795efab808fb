"""What the files of a release carry beside their rows: the header of gzip, the footer of Parquet. No Prefect."""

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

WRITER = re.compile(rb"Polars( \(\w+\))?( version [\w.+-]+)?( \(build \w+\))?")
SCHEMA = b"ARROW:schema"
CUT = 32  # bytes from which writers cut what they state of long texts, the greatest one's last letter being the next one
LETTER = 4  # bytes at most
NUMBERS = {
    1: "i",
    2: "q",
    4: "f",
    5: "d",
}  # Parquet's physical types of which statistics can be read, as of `struct`
TEXT = 6


def traces(path: Path, kind: str, rows: pl.DataFrame) -> list[str]:
    """What a file tells of where it comes from that its rows do not, in words without values."""
    content = path.read_bytes()
    return list(dict.fromkeys(_parquet(content, rows) if kind == "parquet" else _gzip(content)))


def _gzip(content: bytes) -> Iterator[str]:
    """RFC 1952: two magic bytes, method, flags, time, level, system."""
    if content[3] & ~1:  # anything but "probably text"
        yield "the gzip header holds a name or a comment"
    if content[4:8] != bytes(4):
        yield "the gzip header holds a time"


def _parquet(content: bytes, rows: pl.DataFrame) -> Iterator[str]:
    """The format's FileMetaData, fields by number."""
    size = int.from_bytes(content[-8:-4], "little")
    footer = _Compact(content[-8 - size : -8]).fields()
    if any(entry[1] != SCHEMA for entry in footer.get(5, [])):
        yield "the Parquet footer holds metadata"
    if not WRITER.fullmatch(footer.get(6, b"")):
        yield "the Parquet footer names another writer"
    groups = footer.get(4, [])
    sizes = [group[3] for group in groups[:-1]]
    if sizes and max(sizes) - min(sizes) > 1:
        yield "the Parquet file's row groups differ in size"
    first = 0
    for group in groups:
        there = rows[first : first + group[3]]
        first += group[3]
        for column, chunk in zip(there.get_columns(), group[1], strict=False):
            if 1 in chunk or 8 in chunk.get(3, {}):
                yield "the Parquet footer holds metadata"
            if not _tells_its_rows(
                column.alias(""), chunk.get(3, {})
            ):  # polars takes a name such as ^a$ for a pattern
                yield "the Parquet file's statistics are not those of its rows"


def _tells_its_rows(column: pl.Series, chunk: dict[int, Any]) -> bool:
    """Whether least and greatest value of a column chunk, where they are stated, occur in it."""
    said = [value for field, value in chunk.get(12, {}).items() if field in (1, 2, 5, 6)]
    kind = chunk[1]
    if not said or not (kind == TEXT or kind in NUMBERS):
        return True
    if kind == TEXT:
        values = column.cast(pl.String) if column.dtype != pl.Binary else column
        held = {v if isinstance(v, bytes) else v.encode() for v in values.unique().drop_nulls()}
        return all(_occurs(value, held) for value in said)
    sign = str.upper if column.dtype.is_unsigned_integer() else str.lower
    code = "<" + (sign(NUMBERS[kind]) if kind in (1, 2) else NUMBERS[kind])
    held = set(column.to_physical().unique().drop_nulls())
    return all(struct.unpack(code, value)[0] in held for value in said)


def _occurs(value: bytes, held: set[bytes]) -> bool:
    cut = len(value) >= CUT
    return value in held or (cut and any(text.startswith(value[:-LETTER]) for text in held))


class _Compact:
    """Reads Thrift's compact protocol, as far as Parquet's footers use it."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def fields(self) -> dict[int, Any]:
        """The fields of a struct by number."""
        found: dict[int, Any] = {}
        number = 0
        while head := self._take(1)[0]:
            number = number + (head >> 4) if head >> 4 else self._whole()
            found[number] = head & 15 == 1 if head & 15 in (1, 2) else self._value(head & 15)
        return found

    def _value(self, kind: int) -> Any:
        if kind in (1, 2, 3):  # in lists a flag takes a byte
            return self._take(1)[0]
        if kind in (4, 5, 6):
            return self._whole()
        if kind == 7:
            return self._take(8)
        if kind == 8:
            return self._take(self._natural())
        if kind in (9, 10):
            head = self._take(1)[0]
            return [
                self._value(head & 15)
                for _ in range(head >> 4 if head >> 4 < 15 else self._natural())
            ]
        if kind == 12:
            return self.fields()
        raise ValueError("no footer of Parquet")

    def _take(self, size: int) -> bytes:
        self.at += size
        if self.at > len(self.content):
            raise ValueError("no footer of Parquet")
        return self.content[self.at - size : self.at]

    def _natural(self) -> int:
        value = shift = 0
        while (byte := self._take(1)[0]) & 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _whole(self) -> int:
        value = self._natural()
        return value >> 1 ^ -(value & 1)
