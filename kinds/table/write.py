"""The released rows of a table: masked cells, carried columns, random keys, and who sits where."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.seating.matching import Draw, random_matching
from anon_core.seating.reseating import mixed
from anon_core.tables.cells import write_cells
from anon_core.tables.records import MaskedTable
from kinds.columns import Column
from kinds.rows import write_csv
from kinds.table.layout import CODEBOOK, CSV, KEY, LAW, MATCHING, PARQUET, TABLE, released_columns
from kinds.table.plan import TablePlan
from tasks.vault import secrecy
from tasks.vault.storage import Stored


def write_release(
    plan: TablePlan,
    seed: bytes,
    masked: MaskedTable,
    source_row: NDArray[np.int64],
    ingested: Stored,
    encoded: Stored,
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
    rows, matching = _rows(plan.columns, keys, masked, seat, frame)
    rows.write_parquet(folder / PARQUET)
    write_csv(rows, folder / CSV)
    (folder / CODEBOOK).write_bytes(encoded.file(CODEBOOK).read_bytes())
    record = pl.Series(source_row)[matching["record"]]
    matching.with_columns(record=record).write_parquet(folder / MATCHING)
    if masked.holders is not None:
        _law(keys, masked.holders, source_row).write_parquet(folder / LAW)
    return {"shape": [rows.height, rows.width]}


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


def _rows(
    columns: tuple[Column, ...],
    keys: NDArray[Any],
    masked: MaskedTable,
    seat: NDArray[np.int64],
    frame: pl.DataFrame,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The release's rows in the order of their random keys, and record -> key."""
    cells = write_cells(masked.table, masked.hidden)
    person = np.argsort(seat)
    carried = frame[person]
    data = {KEY: pl.Series(keys.tolist(), dtype=pl.String)}
    for column in released_columns(columns):
        if column.role == "quasi":
            data[column.name] = pl.Series(cells[column.name].tolist(), dtype=pl.String)
        else:
            data[column.name] = carried[column.name]
    order = np.argsort(keys)
    matching = pl.DataFrame({"record": person[order], KEY: keys[order].tolist()})
    return pl.DataFrame(data)[order], matching.sort("record")


def _law(
    keys: NDArray[Any], holders: NDArray[np.int32], source_row: NDArray[np.int64]
) -> pl.DataFrame:
    """The source rows of the records that hold the shares of each row, in the order of the keys."""
    order = np.argsort(keys)
    held = pl.Series(source_row[holders[order]], dtype=pl.Array(pl.Int64, holders.shape[1]))
    return pl.DataFrame({KEY: keys[order].tolist(), "records": held.cast(pl.List(pl.Int64))})
