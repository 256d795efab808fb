"""What release files hold beside the rows: gzip header, Parquet footer and pages. No Prefect here.

A Parquet file has many places that no reader shows: unused entries of dictionaries, bytes behind
the last value of a page, unknown fields of its structs. So the rows are written again, group by
group. Equal bytes hold nothing else. They presume the build of polars that wrote the file, so other
bytes are no fault by themselves. Then the structs are compared (`footers`, `layouts`), and the
finding says that pages were not compared byte by byte.
"""

import io
import re
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from crowdcover.kinds.judge.layouts import (
    UNREADABLE,
    Content,
    describe_chunk,
    list_kinds,
    list_pages,
    loose_bytes,
    read_footer,
)
from crowdcover.kinds.partial_files import map_content

# No part takes free words. Only the build has room for a message, and another build is told.
WRITER = re.compile(
    rb"Polars( \((python|rust)\))?"
    rb"( version \d{1,3}(\.\d{1,3}){2}(-?(alpha|beta|a|b|rc)\.?\d{1,3})?)?"
    rb"( \(build [0-9a-f]{7,40}\))?"
)
OTHER_PAGES = (
    "polars lays the rows of {name} out in other pages here (another build, or other settings), so "
    "its footer and the sizes of its pages were compared, but not each byte"
)
# What Python writes in a gzip header for speed and system.
SPEEDS, SYSTEMS = (0, 2, 4), (3, 255)
# Writers cut statistics of long texts at this many bytes and may raise the last letter by one.
CUT = 32
LETTER = 4  # bytes at most
# Format codes of `struct` for Parquet's physical types. Of fixed size: floats of two bytes.
TEXT, FIXED = 6, 7
_WIDTHS = {1: 4, 2: 8, 4: 4, 5: 8}  # bytes of a number
_NUMBERS = {0: "?", 1: "i", 2: "q", 4: "f", 5: "d", FIXED: "e"}
_AT_ONCE = 2**20  # bytes of a gzip file that are unpacked at a time


class Columns(Protocol):
    """The rows of a file: a frame, or its columns one by one."""

    @property
    def schema(self) -> pl.Schema:
        """Names and types of the columns."""
        ...

    def __iter__(self) -> Iterator[pl.Series]: ...


def find_file_traces(
    path: Path, kind: str, rows: Columns | None = None, notes: list[str] | None = None
) -> list[str]:
    """What a file reveals beside its rows; sentences without values.

    `rows` are those of a Parquet file. `notes` gets what an audit that finds nothing must say of
    it.
    """
    content = map_content(path)
    if kind != "parquet" or rows is None:
        return list(dict.fromkeys(gzip_traces(content)))
    found, alike = _find_parquet_traces(content, rows)
    if notes is not None and not alike:
        notes.append(OTHER_PAGES.format(name=path.name))
    return list(dict.fromkeys(found))


def gzip_traces(content: Content) -> Iterator[str]:
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


def _write_rows(rows: pl.DataFrame) -> bytes:
    """A Parquet file as the makers write one, of one group."""
    file = io.BytesIO()
    rows.write_parquet(file, row_group_size=max(1, rows.height))
    return file.getvalue()


def _write_again(part: pl.Series) -> Iterator[bytes]:
    """One group of a column as it may have been written, it alone."""
    # Lists as the makers write them, apart from others in memory, and as earlier ones did: polars
    # sizes pages of lists by all lists that lie together.
    if part.dtype.is_nested():
        # The alias: polars takes a name such as ^a$ for a pattern.
        apart = part.alias("").gather(pl.int_range(len(part), eager=True))
        yield _write_rows(apart.alias(part.name).to_frame())
    yield _write_rows(part.to_frame())


def _find_parquet_traces(content: Content, rows: Columns) -> tuple[list[str], bool]:
    """Check a Parquet file, and whether its bytes are those that are written here.

    Each column is written alone, so that no other is held. Its pages must be the same bytes. All
    bytes beside the pages follow from these; `loose_bytes` and `list_kinds` see to that. Fields of
    the footer, FileMetaData, go by number.
    """
    try:
        footer = read_footer(content).fields()
        groups = footer.get(4, [])
        sizes = [int(group[3]) for group in groups]
    except (ValueError, KeyError, TypeError):
        return [UNREADABLE], True
    found: list[str] = []
    # The last group has the rest. Sizes in another order could carry a message.
    whole = sizes[:-1]
    apart = max(whole, default=0) - min(whole, default=0)
    if apart > 1 or whole != sorted(whole, reverse=True):
        found.append("the Parquet file's row groups differ in size")
    written = _write_rows(pl.DataFrame(schema=rows.schema))
    footer_of_none = read_footer(written).fields()
    other = [*_compare_footers(footer, footer_of_none), *loose_bytes(content)]
    alike, kinds = footer.get(6) == footer_of_none.get(6), list_kinds(written)
    pages: list[str] = []
    first = 0
    for column in rows:
        # What is written again comes from values as they were read, so with what hides in these.
        found += _find_hidden_values(column)
        if other:  # pages are read by numbers that must be right before
            continue
        chunks = slice(first, first := first + sum(1 for _ in _list_leaves(column[:0].alias(""))))
        again = _find_same_pages(content, groups, chunks, column)
        if again is None:
            alike = False
            pages += _compare_pages(content, groups, chunks, column)
        else:
            kinds |= again
    alike = alike and not other and list_kinds(content) <= kinds
    return [*found, *(other or pages)], alike


def _find_same_pages(
    content: Content, groups: Sequence[Any], chunks: slice, column: pl.Series
) -> set[tuple[int, ...]] | None:
    """The kinds of number where pages of the same bytes can be written here, group by group."""
    # Together, as lists of older files were written; other columns group by group.
    whole = column.rechunk() if column.dtype.is_nested() else column
    first, kinds = 0, set[tuple[int, ...]]()
    for group in groups:
        part = whole[first : (first := first + group[3])].rechunk()
        same = (w for w in _write_again(part) if _has_pages_of(w, content, group[1][chunks]))
        if (written := next(same, None)) is None:
            return None
        kinds |= list_kinds(written)
    return kinds


def _has_pages_of(written: bytes, content: Content, chunks: Sequence[Any]) -> bool:
    """Whether the only group of a written file has the pages of these chunks."""
    again = read_footer(written).fields().get(4, [])
    return len(again) == 1 and all(
        describe_chunk(content, chunk) == describe_chunk(written, other)
        for chunk, other in zip(chunks, again[0][1], strict=True)
    )


def _find_hidden_values(column: pl.Series) -> Iterator[str]:
    """Look for what values and types can hold and no reader shows."""
    # The alias: polars takes a name such as ^a$ for a pattern.
    for leaf in (leaf.alias("") for leaf in _list_leaves(column.alias(""))):
        named = isinstance(leaf.dtype, pl.Categorical) and leaf.dtype != pl.Categorical()
        if named or isinstance(leaf.dtype, pl.Enum | pl.Object | pl.BaseExtension):
            yield "a column has a type that no release has"
        elif leaf.dtype.is_float():
            numbers = leaf.filter(leaf.is_nan()).to_numpy()
            bits = np.unique(numbers.view(f"u{numbers.itemsize}"))
            plain = np.array([np.nan, -np.nan], dtype=numbers.dtype).view(bits.dtype)
            if len(bits) > 1 or not np.isin(bits, plain).all():
                yield "numbers that are none (NaN) have several forms"


def _compare_footers(footer: Mapping[int, Any], written: Mapping[int, Any]) -> Iterator[str]:
    """Compare what a footer says beside the rows with the one that is written of the rows."""
    # The schema that Arrow reads is metadata, too: any other text of it could be longer.
    if footer.get(5) != written.get(5):
        yield "the Parquet footer contains metadata"
    if not WRITER.fullmatch(footer.get(6, b"")):
        yield "the Parquet footer names another writer"
    if any(footer.get(field) != written.get(field) for field in (1, 2, 7)):
        yield "the Parquet footer describes other columns than those of its rows"


def _compare_pages(
    content: Content, groups: Sequence[Any], chunks: slice, column: pl.Series
) -> Iterator[str]:
    """Compare the statistics and dictionary of each chunk of a column with the rows it holds."""
    first = 0
    for group in groups:
        # Without a name: polars reads a name such as ^a$ as a pattern.
        there = column[first : first + group[3]].alias("")
        first += group[3]
        for leaf, chunk in zip(_list_leaves(there), group[1][chunks], strict=True):
            about, at = chunk[3], 0
            right = _tells_its_values(leaf, about[1], about.get(12, {}))
            for page in list_pages(content, about):
                if 5 in page.header:  # a page of rows, not of a dictionary
                    held = leaf[at : at + page.header[5][1]]
                    at += page.header[5][1]
                    right &= _tells_its_values(held, about[1], page.header[5].get(5, {}))
                elif not has_used_entries(leaf, about[1], page.header):
                    yield "a dictionary of the Parquet file has other values than its rows"
            if not right or at != len(leaf):
                yield "the Parquet file's statistics are not those of its rows"


def _list_leaves(column: pl.Series) -> Iterator[pl.Series]:
    """The values of a column by chunk: those in its lists, and of each field of a struct."""
    if isinstance(column.dtype, (pl.List, pl.Array)):
        # A list without members takes the place of one value, which is missing.
        lists = column.to_frame("").cast({"": pl.List(column.dtype.inner)})
        full = pl.when(pl.col("").list.len() > 0).then(pl.col(""))
        yield from _list_leaves(lists.select(full)[""].explode())
    elif isinstance(column.dtype, pl.Struct):
        for name in column.struct.fields:
            yield from _list_leaves(column.struct.field(name))
    else:
        yield column


def has_used_entries(column: pl.Series, kind: int, header: Mapping[int, Any]) -> bool:
    """Whether a dictionary has room for nothing but the values of a column.

    Every value has its entry, since the rows can be read. So their number and size decide.
    """
    if isinstance(column.dtype, pl.Categorical):
        return True  # polars may write all categories that it knows
    values = column.cast(pl.String) if isinstance(column.dtype, pl.Enum) else column
    held = values.drop_nulls()
    number, size = header[7][1], header[2]
    if isinstance(column.dtype, pl.Enum):
        held = column.dtype.categories
    if kind == TEXT:
        texts = held.unique()
        return (number, size) == (len(texts), int(_count_bytes(texts).sum() or 0) + 4 * len(texts))
    least = most = held.to_physical().n_unique()
    if held.dtype.is_float():
        # Zeros of both signs, and values that are no numbers, may have one entry or several.
        most = len(np.unique(held.to_numpy().view(f"u{held.to_numpy().itemsize}")))
    return bool(least <= number <= most) and size == number * _WIDTHS.get(
        kind, size // max(1, number)
    )


def _count_bytes(texts: pl.Series) -> pl.Series:
    return texts.bin.size() if texts.dtype == pl.Binary else texts.str.len_bytes()


def _tells_its_values(column: pl.Series, kind: int, stated: Mapping[int, Any]) -> bool:
    """Whether statistics are those of values: 3 counts nulls, 5 is the maximum, 6 the minimum."""
    if stated.get(3, column.null_count()) != column.null_count():
        return False
    ends = {field: stated[field] for field in (5, 6) if field in stated}
    if not ends:
        return True
    values = _list_values(column, kind)
    if not values:
        return False
    found = {5: max(values), 6: min(values)}
    return all(
        _is_end(_read_number(end, column, kind), found[field]) for field, end in ends.items()
    )


def _list_values(column: pl.Series, kind: int) -> set[Any]:
    """Different values of a column, as its statistics are read."""
    if kind == TEXT:
        values = column.cast(pl.String) if column.dtype != pl.Binary else column
        return {v if isinstance(v, bytes) else v.encode() for v in values.unique().drop_nulls()}
    held = column.to_physical().unique().drop_nulls()
    # A value that is no number has no place in an order.
    return set(held.drop_nans() if held.dtype.is_float() else held)


def _read_number(end: bytes, column: pl.Series, kind: int) -> Any:
    """A statistic as a value: text as its bytes, any other as a number."""
    if kind == TEXT:
        return end
    if kind == FIXED and not column.dtype.is_float():
        return int.from_bytes(end, "big", signed=True)
    code = _NUMBERS[kind]
    return struct.unpack("<" + (code.upper() if column.dtype.is_unsigned_integer() else code), end)[
        0
    ]


def _is_end(stated: Any, found: Any) -> bool:
    cut = isinstance(stated, bytes) and len(stated) >= CUT
    return bool(stated == found or (cut and found.startswith(stated[:-LETTER])))
