"""Whether every byte of a Parquet file has a place in its layout.

A reader follows offsets of the footer. Bytes that no offset leads to can hold anything, and no
reader shows them. So the parts are laid side by side: they must begin at the first byte, end at the
last, and leave nothing between them.

    PAR1  pages of each column chunk, after each a copy of its metadata  indexes  footer  size  PAR1
"""

from collections.abc import Iterator
from typing import Any

from kinds.judge.thrift import Compact

MAGIC = b"PAR1"
PLAIN, ZSTD = 0, 6  # codecs
FRAME = b"\x28\xb5\x2f\xfd"  # first bytes of a Zstandard frame
SIZES_OF_ID = (0, 1, 2, 4)
SIZES_OF_LENGTH = (0, 2, 4, 8)
# Fields by number: of an offset index and a column index, of the header of a page.
KNOWN = {4: {1, 2}, 6: {1, 2, 3, 4, 5}}
KNOWN_OF_PAGE = {1, 2, 3, 4, 5, 7, 8}
LOOSE = "the Parquet file holds bytes that are no part of its rows"

Part = tuple[int, int]


def loose_bytes(content: bytes) -> Iterator[str]:
    """Say that some bytes of a Parquet file have no place in it; nothing where all have one."""
    try:
        parts = sorted(_list_parts(content))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        yield "the layout of the Parquet file cannot be followed"
        return
    ends = [0, *(end for _, end in parts)]
    starts = [*(start for start, _ in parts), len(content)]
    if starts != ends:
        yield LOOSE


def _list_parts(content: bytes) -> Iterator[Part]:
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


def _list_chunk_parts(content: bytes, chunk: dict[int, Any]) -> Iterator[Part]:
    """The pages of a column chunk, the copy of its metadata, and its indexes."""
    about = chunk[3]
    at = about.get(11) or about[9]  # the page of its dictionary, else of its first rows
    end = at + about[7]
    while at < end:
        reader = Compact(content, at)
        page = reader.fields()
        if not set(page) <= KNOWN_OF_PAGE:
            raise ValueError(LOOSE)
        stop = reader.at + page[3]
        _require_exact_page(content[reader.at : stop], about[4], page[2])
        yield at, stop
        at = stop
    if (copy := Compact(content, end)).fields() == about:
        yield end, copy.at
    for offset, size in ((4, 5), (6, 7)):
        if offset in chunk:
            reader = Compact(content, chunk[offset])
            known = set(reader.fields()) <= KNOWN[offset]
            if not known or reader.at != chunk[offset] + chunk[size]:
                raise ValueError(LOOSE)
            yield chunk[offset], reader.at


def _require_exact_page(packed: bytes, codec: int, size: int) -> None:
    """Refuse a page whose bytes go on behind its compressed content, or that tells another size."""
    if codec == PLAIN:
        if len(packed) != size:
            raise ValueError(LOOSE)
    elif codec != ZSTD or end_of_frame(packed, size) != len(packed):
        raise ValueError(LOOSE)


def end_of_frame(packed: bytes, size: int) -> int:
    """Where a Zstandard frame (RFC 8878) ends: header, blocks, checksum."""
    if packed[:4] != FRAME:
        raise ValueError(LOOSE)
    flags = packed[4]
    single = flags >> 5 & 1
    lengths = SIZES_OF_LENGTH[flags >> 6] or single
    at = 5 + (1 - single) + SIZES_OF_ID[flags & 3]
    if lengths:
        told = int.from_bytes(packed[at : at + lengths], "little") + (256 if lengths == 2 else 0)
        if told != size:
            raise ValueError(LOOSE)
    at += lengths
    last = 0
    while not last:
        head = int.from_bytes(packed[at : at + 3], "little")
        last, kind, length = head & 1, head >> 1 & 3, head >> 3
        at += 3 + (1 if kind == 1 else length)
        if at > len(packed):
            raise ValueError(LOOSE)
    return at + (4 if flags >> 2 & 1 else 0)
