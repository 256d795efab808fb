"""A list of edges in batches, for graphs that no memory holds; see `edges`."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import polars as pl

from anon_core.errors import InputError
from crowdcover.storage.source.csv_text import BAD_GZIP, GZIP_ERRORS
from crowdcover.storage.source.edges import (
    FEWER,
    UNREADABLE_EDGES,
    choose_separator,
    drop_header,
    find_first_line,
    spell_ends,
    split_lines,
)
from crowdcover.storage.source.file_bytes import CLOSED, Content, is_packed
from crowdcover.storage.source.formats import recognize_format
from crowdcover.storage.source.formats.columnar import Parquet
from crowdcover.storage.source.sources import require_file
from crowdcover.storage.source.values import call_or_refuse

TEXT_AT_ONCE = 2**24  # bytes
ROWS_AT_ONCE = 2**20
_ENDS = ["u", "v"]
_QUOTED = (
    "names in quotes cannot be read in batches; write the edges as Parquet, or with tabs, without "
    "quotes"
)
_FORMATS = "only text and Parquet are read in batches; write the edges as one of them"


def read_edge_batches(path: Path, header: bool | None = None) -> Iterator[pl.DataFrame]:
    """Yield the edges of a file, columns u and v, some at a time and in their order.

    Ends are as `spell_ends` gives them; null where one is lacking. Text may be gzip's. `header`
    as for `read_edges`.
    """
    require_file(path, "GRAPH")
    found, content = recognize_format(path, path.name)
    # Other packings were unpacked in memory as a whole, which batches must avoid.
    if isinstance(content, Content):
        raise InputError(_FORMATS)
    if "separator" in found.options:
        yield from _read_text_batches(path, header)
    elif isinstance(found, Parquet):
        yield from _read_parquet_batches(path)
    else:
        raise InputError(_FORMATS)


def _read_parquet_batches(path: Path) -> Iterator[pl.DataFrame]:
    # A file may be named a*.parquet, or lie below year=2024: polars must not interpret that.
    edges = call_or_refuse(
        lambda: pl.scan_parquet(path, glob=False, hive_partitioning=False), UNREADABLE_EDGES
    )
    schema = call_or_refuse(edges.collect_schema, UNREADABLE_EDGES)
    if len(schema) < 2:
        raise InputError(FEWER)
    edges = edges.select(spell_ends(schema))
    rows = call_or_refuse(lambda: edges.select(pl.len()).collect().item(), UNREADABLE_EDGES)
    for offset in range(0, rows, ROWS_AT_ONCE):
        batch = edges.slice(offset, ROWS_AT_ONCE)
        yield call_or_refuse(batch.collect, UNREADABLE_EDGES)


def _read_text_batches(path: Path, header: bool | None) -> Iterator[pl.DataFrame]:
    try:
        with _open_bytes(path) as lines:
            separator = choose_separator(find_first_line(lines))
        with _open_bytes(path) as lines:
            first = True
            while data := b"".join(lines.readlines(TEXT_AT_ONCE)):  # whole lines
                # A quoted name may hold a line end, at which a batch of whole lines could end.
                if separator == "," and b'"' in data:
                    raise InputError(_QUOTED)
                batch = split_lines(data, separator, _ENDS)
                # The header stands with the first edges, perhaps behind batches of comments.
                if not batch.is_empty():
                    yield drop_header(batch, header) if first else batch
                    first = False
    except GZIP_ERRORS:
        raise InputError(BAD_GZIP) from None
    except OSError:
        raise InputError(CLOSED) from None


def _open_bytes(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path)) if is_packed(path) else path.open("rb")
