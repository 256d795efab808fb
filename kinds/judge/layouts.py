"""Whether every byte of a Parquet file has a place in its layout.

A reader follows offsets of the footer. Bytes that no offset leads to can hold anything, and no
reader shows them. So the parts are laid side by side: they must begin at the first byte, end at the
last, and leave nothing between them.

    PAR1  pages of each column chunk, after each a copy of its metadata  indexes  footer  size  PAR1

pyarrow is no help here: it gives the values of a footer, but neither where a struct ends, nor
fields that it does not know, nor the headers of pages. See `footers` for what structs may hold.
"""

import mmap
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from crowdcover.kinds.judge.footers import (
    FormError,
    find_first_page,
    require_counts,
    require_footer,
    require_page,
)
from crowdcover.kinds.judge.thrift import Compact

MAGIC = b"PAR1"
_PLAIN, ZSTD = 0, 6  # codecs
UNREADABLE = "the layout of the Parquet file cannot be followed"
LOOSE = "the Parquet file holds bytes that are no part of its rows"

Content = bytes | mmap.mmap
_Span = tuple[int, int]


class Page(NamedTuple):
    """A page of a column chunk: where it begins and ends, and its header."""

    at: int
    end: int
    header: dict[int, Any]
    header_size: int


def loose_bytes(content: Content) -> Iterator[str]:
    """Say that some bytes of a Parquet file have no place in it; nothing where all have one."""
    try:
        parts = sorted(_list_parts(content))
    except FormError as error:
        yield str(error)
        return
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        yield UNREADABLE
        return
    ends = [0, *(end for _, end in parts)]
    starts = [*(start for start, _ in parts), len(content)]
    # Sorted parts leave no gap and do not overlap iff each begins where the one before ends.
    if starts != ends:
        yield LOOSE


def read_footer(content: Content) -> Compact:
    """A reader that stands at the footer of a file."""
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    if content[:4] != MAGIC or content[-4:] != MAGIC or start < 4:
        raise ValueError(MAGIC)
    return Compact(content, start)


def _list_parts(content: Content) -> Iterator[_Span]:
    """Where each part begins and ends."""
    reader = read_footer(content)
    start, footer = reader.at, reader.fields()
    require_footer(footer)
    yield 0, 4
    yield start, reader.at
    yield len(content) - 8, len(content)
    for group in footer.get(4, []):
        for chunk in group[1]:
            yield from _list_chunk_parts(content, chunk)


def list_pages(content: Content, about: dict[int, Any]) -> list[Page]:
    """The pages of a column chunk by its metadata."""
    at = find_first_page(about)
    end = at + about[7]  # bytes of its pages and their headers
    pages = []
    while at < end:
        reader = Compact(content, at)
        header = reader.fields()
        require_page(header)
        pages.append(Page(at, reader.at + header[3], header, reader.at - at))
        at = pages[-1].end
    return pages


def describe_chunk(content: Content, chunk: dict[int, Any]) -> tuple[Any, ...]:
    """What a column chunk says, wherever it stands in its file: pages, metadata, column index."""
    about = chunk[3]
    at = find_first_page(about)
    moved = {field: about[field] - at for field in (9, 11) if field in about}
    index = content[chunk[6] : chunk[6] + chunk[7]] if 6 in chunk else b""
    return content[at : at + about[7]], {**about, **moved}, set(chunk), index


def list_kinds(content: Content) -> set[tuple[int, ...]]:
    """In which kinds of number the structs beside the pages are written, by field."""
    reader = read_footer(content)
    found = set(reader.kinds)
    for group in reader.fields().get(4, []):
        for chunk in group[1]:
            places = [(find_first_page(chunk[3]) + chunk[3][7], 0)]
            places += [(chunk[offset], offset) for offset in (4, 6) if offset in chunk]
            for at, part in places:
                struct = Compact(content, at)
                struct.fields()
                found |= {(-part, *kind) for kind in struct.kinds}
    return found | reader.kinds


def _list_chunk_parts(content: Content, chunk: dict[int, Any]) -> Iterator[_Span]:
    """The pages of a column chunk, the copy of its metadata, and its indexes."""
    about = chunk[3]
    pages = list_pages(content, about)
    for page in pages:
        packed = content[page.at + page.header_size : page.end]
        require_exact_page(packed, about[4], page.header[2])
        yield page.at, page.end
    # polars repeats the metadata behind the pages. Anything else there remains a gap.
    if (copy := Compact(content, end := pages[-1].end)).fields() == about:
        yield end, copy.at
    indexes: list[dict[int, Any] | None] = []
    for offset, size in ((4, 5), (6, 7)):
        if offset not in chunk:
            indexes.append(None)
            continue
        reader = Compact(content, chunk[offset])
        indexes.append(reader.fields())
        if reader.at != chunk[offset] + chunk[size]:
            raise ValueError(LOOSE)
        yield chunk[offset], reader.at
    require_counts(chunk, [(page.at, page.header, page.header_size) for page in pages], *indexes)


def require_exact_page(packed: bytes, codec: int, size: int) -> None:
    """Refuse a page whose bytes go on behind its compressed content, or that states another size.

    A page of Zstandard is one frame. What the frame states of itself (size, checksum, dictionary)
    is checked while it is unpacked.
    """
    import zstandard  # of the pipeline: what stays in memory has no pages

    exact = codec == _PLAIN and len(packed) == size
    if codec == ZSTD and packed.startswith(zstandard.FRAME_HEADER):  # a skippable frame is none
        frame = zstandard.ZstdDecompressor().decompressobj()
        with suppress(zstandard.ZstdError):
            exact = (
                zstandard.frame_content_size(packed) == size  # limits what is unpacked
                and len(frame.decompress(packed)) == size
                and frame.eof
                and not frame.unused_data
            )
    if not exact:
        raise ValueError(LOOSE)
