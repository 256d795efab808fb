"""The released rows of a table: masked cells, carried columns, random keys, and who sits where."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.seating.matching import Draw, random_matching
from anon_core.seating.reseating import mixed
from anon_core.tables.cells import cell_texts, shown_cells
from anon_core.tables.records import MaskedTable
from kinds.columns import Column
from kinds.rows import key_texts, write_csv
from kinds.table.layout import (
    CELLS,
    CODEBOOK,
    CSV,
    KEY,
    LAW,
    MATCHING,
    PARQUET,
    TABLE,
    released_columns,
)
from kinds.table.native import native_cells, published_codebook
from kinds.table.plan import TablePlan
from tasks.vault import secrecy
from tasks.vault.storage import Stored


class Rows(NamedTuple):
    """The rows of a release in the order of their random keys, and record -> key.

    Cells are typed values in `native`, and text in `text`.
    """

    native: pl.DataFrame
    text: pl.DataFrame
    matching: pl.DataFrame


def write_release(
    plan: TablePlan,
    seed: bytes,
    masked: MaskedTable,
    source_row: NDArray[np.int64],
    ingested: Stored,
    folder: Path,
) -> Mapping[str, Any]:
    """Write the rows in each format, the codebook and, apart, the secret matching and its law.

    `source_row` is the source row of each record, int64 (n,). Refused: `mix` without even seats.
    """
    frame = pl.read_parquet(ingested.file(TABLE), glob=False)[source_row]
    draw = secrecy.stream(seed, "matching")
    seat = random_matching(masked, draw)
    if plan.mix is not None:
        seat = _mixed(frame[plan.mix], masked, seat, draw)
    keys = secrecy.distinct_keys(seed, "keys", masked.table.records)
    rows = released_rows(plan.columns, keys, masked, seat, frame)
    write_rows(rows, folder)
    book = published_codebook(masked.table.codebook, plan.columns, frame.schema)
    (folder / CODEBOOK).write_text(json.dumps(book, ensure_ascii=False), encoding="utf-8")
    record = pl.Series(source_row)[rows.matching["record"]]
    rows.matching.with_columns(record=record).write_parquet(folder / MATCHING)
    if masked.holders is not None:
        _law(keys, masked.holders, source_row).write_parquet(folder / LAW)
    return {"shape": [rows.text.height, rows.text.width]}


def write_rows(rows: Rows, folder: Path) -> None:
    """Write the rows in each format, and for the vault as text with typed columns."""
    rows.native.write_parquet(folder / PARQUET)
    write_csv(rows.text, folder / CSV)
    rows.text.write_parquet(folder / CELLS)


def _mixed(
    values: pl.Series, masked: MaskedTable, seat: NDArray[np.int64], draw: Draw
) -> NDArray[np.int64]:
    """Exchange seats so that fewer crowds show one of these values only; a missing one is one."""
    if masked.holders is None:
        raise InputError(
            "privacy.mix exchanges seats that keep the chances even; set anonymizer.seats = 'even' "
            "or leave privacy.mix out"
        )
    number = values.alias("").cast(pl.String).rank("dense").fill_null(0).cast(pl.Int64)
    return mixed(masked.table, masked.hidden, masked.holders, seat, number.to_numpy(), draw)


def released_rows(
    columns: tuple[Column, ...],
    keys: NDArray[Any],
    masked: MaskedTable,
    seat: NDArray[np.int64],
    frame: pl.DataFrame,
) -> Rows:
    """Lay out the rows; `frame` holds the source's values of the records."""
    attributes = {attribute.name: attribute for attribute in masked.table.codebook.attributes}
    shown = dict(zip(attributes, shown_cells(masked.table, masked.hidden), strict=True))
    order = np.argsort(keys)
    person = np.argsort(seat)[order]
    native = {KEY: key_texts(keys[order])}
    text = dict(native)
    for column in released_columns(columns):
        name = column.name
        if column.role == "quasi":
            attribute, (cell, levels) = attributes[name], shown[name]
            texts = pl.Series(cell_texts(attribute, levels), dtype=pl.String)
            native[name] = native_cells(attribute, column, levels, frame[name].dtype)[cell[order]]
            text[name] = texts[cell[order]]
        else:
            native[name] = text[name] = frame[name][person]
    matching = pl.DataFrame({"record": person, KEY: native[KEY]})
    return Rows(pl.DataFrame(native), pl.DataFrame(text), matching.sort("record"))


def _law(
    keys: NDArray[Any], holders: NDArray[np.int32], source_row: NDArray[np.int64]
) -> pl.DataFrame:
    """The source rows of the records that hold the shares of each row, in the order of the keys."""
    order = np.argsort(keys)
    held = pl.Series(source_row[holders[order]], dtype=pl.Array(pl.Int64, holders.shape[1]))
    return pl.DataFrame({KEY: key_texts(keys[order]), "records": held.cast(pl.List(pl.Int64))})
