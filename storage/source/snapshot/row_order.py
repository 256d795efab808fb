"""The order of rows by their texts, and the hash of their content, the same for any order before.

Columns are taken in the order of their names. Many rows are cut into ranges, each sorted by itself.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterator
from typing import TypeAlias

import polars as pl

from crowdcover.storage.source.snapshot.packed_rows import AT_ONCE, PackedRows
from crowdcover.storage.source.values import as_text, call_or_refuse

_LOOKS = 128  # rows of a frame whose texts tell where to cut
_Key: TypeAlias = tuple[tuple[bool, str], ...]


def sort_rows(rows: PackedRows) -> PackedRows:
    """Return the rows in the order of their texts, with the hash of these as fingerprint.

    The rows are given up. Memory: what is packed, and some `AT_ONCE` rows unpacked; a range of
    equal rows is not cut.

    Refused by name: columns with values that cannot be written as text.
    """
    found, ordered = hashlib.sha256(), PackedRows()
    many = rows.height > AT_ONCE
    for some in _cut_into_ranges(rows) if many else (pl.concat(list(rows.take_frames())),):
        frame, texts = _sort_by_texts(some)
        for part in texts.iter_slices(AT_ONCE):
            found.update(part.write_ndjson().encode())
        ordered.pack_frame(frame)
    ordered.types, ordered.sha256 = rows.types, found.hexdigest()
    return ordered


def _cut_into_ranges(rows: PackedRows) -> Iterator[pl.DataFrame]:
    """Frames of which each row comes before those of the next one."""
    looked: list[_Key] = []
    runs = PackedRows()
    for frame in _join_frames(rows.take_frames()):
        run, texts = _sort_by_texts(frame)
        step = max(1, texts.height // _LOOKS)
        looked += [_order(texts, at) for at in range(step // 2, texts.height, step)]
        runs.pack_frame(run)
    looked.sort()
    ranges = -(-rows.height // AT_ONCE)
    limits = [looked[place * len(looked) // ranges] for place in range(1, ranges)]
    pieces = [PackedRows() for _ in range(ranges)]
    for run in runs.take_frames():
        texts, begin = _convert_to_texts(run), 0
        ends = [
            bisect_left(range(run.height), limit, key=lambda at: _order(texts, at))
            for limit in limits
        ]
        for piece, end in zip(pieces, [*ends, run.height], strict=True):
            piece.pack_frame(run[begin:end])
            begin = end
    for piece in pieces:
        yield pl.concat(list(piece.take_frames()))


def _join_frames(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The rows in frames of `AT_ONCE` at least: drivers give fewer."""
    held: list[pl.DataFrame] = []
    for frame in frames:
        held.append(frame)
        if sum(each.height for each in held) >= AT_ONCE:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)


def _order(texts: pl.DataFrame, at: int) -> _Key:
    """What the order of a row is: missing texts come first, others by their characters."""
    return tuple((text is not None, text or "") for text in texts.row(at))


def _sort_by_texts(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows in the order of their texts, and these."""
    texts = _convert_to_texts(frame)
    if frame.height:
        order = texts.with_row_index("row").sort(texts.columns)["row"]
        frame, texts = frame[order], texts[order]
    texts.columns = sorted(frame.columns)
    return frame, texts


def _convert_to_texts(frame: pl.DataFrame) -> pl.DataFrame:
    # Places as names: `sort` takes a name such as ^a$ for a pattern.
    columns = sorted(frame, key=lambda series: series.name)
    return pl.DataFrame(
        {str(place): _convert_column(series) for place, series in enumerate(columns)}
    )


def _convert_column(series: pl.Series) -> pl.Series:
    refusal = (
        f"source.query selects values of column {series.name!r} that cannot be read, such as "
        "infinite dates; cast them"
    )
    return call_or_refuse(lambda: as_text(series), refusal)
