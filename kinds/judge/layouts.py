"""Whether every byte of a Parquet file has a place in its layout.

A reader follows offsets of the footer. Bytes that no offset leads to can hold anything, and no
reader shows them. So the parts are laid side by side: they must begin at the first byte, end at the
last, and leave nothing between them.

    PAR1  pages of each column chunk, after each a copy of its metadata  indexes  footer  size  PAR1

pyarrow is no help here: it gives the values of a footer, but neither where a struct ends, nor
fields that it does not know, nor the headers of pages.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import zstandard

from kinds.judge.thrift import Compact

MAGIC = b"PAR1"
_PLAIN, ZSTD = 0, 6  # codecs
# Fields by number: of an offset index and a column index, of the header of a page.
KNOWN_OF_INDEX = {4: {1, 2}, 6: {1, 2, 3, 4, 5}}
KNOWN_OF_PAGE = {1, 2, 3, 4, 5, 7, 8}
LOOSE = "the Parquet file holds bytes that are no part of its rows"

_Span = tuple[int, int]


def loose_bytes(content: bytes) -> Iterator[str]:
    """Say that some bytes of a Parquet file have no place in it; nothing where all have one."""
    try:
        parts = sorted(_list_parts(content))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        yield "the layout of the Parquet file cannot be followed"
        return
    ends = [0, *(end for _, end in parts)]
    starts = [*(start for start, _ in parts), len(content)]
    # Sorted parts leave no gap and do not overlap iff each begins where the one before ends.
    if starts != ends:
        yield LOOSE


def _list_parts(content: bytes) -> Iterator[_Span]:
    """Where each part begins and ends."""
    size = int.from_bytes(content[-8:-4], "little")
    start = len(content) - 8 - size
    if content[:4] != MAGIC or content[-4:] != MAGIC or start < 4:
        raise ValueError(MAGIC)
    yield 0, 4
    footer = Compact(content, start)
    groups = footer.fields().get(4, [])
    yield start, footer.at
    yield len(content) - 8, len(content)
    for group in groups:
        for chunk in group[1]:
            yield from _list_chunk_parts(content, chunk)


def _list_chunk_parts(content: bytes, chunk: dict[int, Any]) -> Iterator[_Span]:
    """The pages of a column chunk, the copy of its metadata, and its indexes."""
    # Of a chunk's metadata: 4 codec, 7 bytes of its pages and their headers, 9 and 11 offsets.
    about = chunk[3]
    at = about.get(11) or about[9]  # the page of its dictionary, else of its first rows
    end = at + about[7]
    while at < end:
        reader = Compact(content, at)
        page = reader.fields()
        if not set(page) <= KNOWN_OF_PAGE:
            raise ValueError(LOOSE)
        stop = reader.at + page[3]
        require_exact_page(content[reader.at : stop], about[4], page[2])
        yield at, stop
        at = stop
    # polars repeats the metadata behind the pages. Anything else there remains a gap.
    if (copy := Compact(content, end)).fields() == about:
        yield end, copy.at
    for offset, size in ((4, 5), (6, 7)):
        if offset in chunk:
            reader = Compact(content, chunk[offset])
            known = set(reader.fields()) <= KNOWN_OF_INDEX[offset]
            if not known or reader.at != chunk[offset] + chunk[size]:
                raise ValueError(LOOSE)
            yield chunk[offset], reader.at


def require_exact_page(packed: bytes, codec: int, size: int) -> None:
    """Refuse a page whose bytes go on behind its compressed content, or that states another size.

    A page of Zstandard is one frame. What the frame states of itself (size, checksum, dictionary)
    is checked while it is unpacked.
    """
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
