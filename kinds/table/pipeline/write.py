"""The released rows of a table: masked cells, carried columns, random keys, and who sits where."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.seating.matching import Draw, random_matching
from anon_core.seating.reseating import mix_values
from anon_core.tables.cells import MaskedColumn, cell_texts, list_shown_cells
from anon_core.tables.records import Attribute, MaskedTable
from kinds.columns import Column
from kinds.rows import key_texts, write_csv, write_parquet
from kinds.table.layout import (
    CELLS,
    CODEBOOK,
    CSV,
    KEY,
    LAW,
    MATCHING,
    PARQUET,
    TABLE,
    list_released_columns,
)
from kinds.table.pipeline.native import build_published_codebook, native_cells
from kinds.table.plan.sections import TablePlan
from storage.vault import secret_streams
from storage.vault.run import Stored


@dataclass(frozen=True)
class MaskedRows:
    """The rows of a release in the order of their random keys.

    Cells are typed values in `native`, and text in `text`; each is made when it is asked for, so
    that both need not be held at once.

    Attributes
    ----------
    columns : tuple of Column
    keys : bytes (n,), ascending
    person : int64 (n,)
        Record whose own values each row carries.
    frame : DataFrame
        The records' values of the columns that are carried.
    schema : Schema
        The types of the source's columns.
    attributes : dict of Attribute
        The quasi-identifiers.
    cells : dict of MaskedColumn
        Of each quasi-identifier, by row.
    """

    columns: tuple[Column, ...]
    keys: NDArray[np.bytes_]
    person: NDArray[np.int64]
    frame: pl.DataFrame
    schema: pl.Schema
    attributes: Mapping[str, Attribute]
    cells: Mapping[str, MaskedColumn]

    @property
    def text(self) -> pl.DataFrame:
        """The rows as data.csv.gz has them."""

        def texts(column: Column) -> pl.Series:
            attribute = self.attributes[column.name]
            found = cell_texts(attribute, self.cells[column.name].levels)
            return pl.Series(found, dtype=pl.String)

        return self._build_frame(texts)

    @property
    def native(self) -> pl.DataFrame:
        """The rows as data.parquet has them."""

        def cells(column: Column) -> pl.Series:
            attribute, levels = self.attributes[column.name], self.cells[column.name].levels
            return native_cells(attribute, column, levels, self.schema[column.name])

        return self._build_frame(cells)

    @property
    def keys_of_records(self) -> pl.DataFrame:
        """Record -> key, by record."""
        return pl.DataFrame({"record": self.person, KEY: key_texts(self.keys)}).sort("record")

    def _build_frame(self, cells: Callable[[Column], pl.Series]) -> pl.DataFrame:
        """Key, cells and carried values; `cells` gives the distinct cells of a quasi-identifier."""
        laid = {KEY: key_texts(self.keys)}
        for column in list_released_columns(self.columns):
            name = column.name
            if column.role == "quasi":
                laid[name] = cells(column)[self.cells[name].cell]
            else:
                laid[name] = self.frame[name][self.person]
        return pl.DataFrame(laid)


def write_release(
    plan: TablePlan,
    seed: bytes,
    masked: MaskedTable,
    source_row: NDArray[np.int64],
    ingested: Stored,
    folder: Path,
) -> Mapping[str, Any]:
    """Write the rows in each format, the codebook and, apart, the secret matching and its law.

    `source_row` is the source row of each record, int64 (n,).
    """
    path = ingested.file(TABLE)
    schema = pl.scan_parquet(path, glob=False).collect_schema()
    carried = [each.name for each in list_released_columns(plan.columns) if each.role != "quasi"]
    frame = _read_carried_values(path, [schema.names().index(name) for name in carried], source_row)
    # One stream for both: mixing goes on with the words behind those of the draw.
    draw = secret_streams.seed_random_stream(seed, "matching")
    seat = random_matching(masked, draw)
    if plan.mix is not None:
        seat = _mix_seats(frame[plan.mix], masked, seat, draw)
    keys = secret_streams.distinct_keys(seed, "keys", masked.table.records)
    rows = lay_out_released_rows(plan.columns, keys, masked, seat, frame, schema)
    write_masked_rows(rows, folder)
    book = build_published_codebook(masked.table.codebook, plan.columns, schema)
    (folder / CODEBOOK).write_text(json.dumps(book, ensure_ascii=False), encoding="utf-8")
    matching = rows.keys_of_records
    # The vault names source rows, since the audit encodes the source anew.
    record = pl.Series(source_row)[matching["record"]]
    matching.with_columns(record=record).write_parquet(folder / MATCHING)
    if masked.holders is not None:
        _build_law(keys, masked.holders, source_row).write_parquet(folder / LAW)
    return {"shape": [len(keys), 1 + len(list_released_columns(plan.columns))]}


def write_masked_rows(rows: MaskedRows, folder: Path) -> None:
    """Write the rows in each format, and for the vault as text with typed columns."""
    text = rows.text
    write_csv(text, folder / CSV)
    text.write_parquet(folder / CELLS)
    del text  # typed cells are made next
    write_parquet(rows.native, folder / PARQUET)


def _read_carried_values(
    path: Path, places: Sequence[int], rows: NDArray[np.int64]
) -> pl.DataFrame:
    """Some rows of the columns that are released as they are; no other column is read.

    Columns are asked for by place: a name such as * would be read as a pattern.
    """
    if not places:
        return pl.DataFrame()
    return pl.read_parquet(path, glob=False, columns=list(places))[rows]


def _mix_seats(
    values: pl.Series, masked: MaskedTable, seat: NDArray[np.int64], draw: Draw
) -> NDArray[np.int64]:
    """Exchange seats so that fewer crowds show one of these values only; a missing one is one."""
    assert masked.holders is not None  # the plan is refused where the method makes none
    number = values.alias("").cast(pl.String).rank("dense").fill_null(0).cast(pl.Int64)
    return mix_values(masked.table, masked.hidden, masked.holders, seat, number.to_numpy(), draw)


def lay_out_released_rows(
    columns: tuple[Column, ...],
    keys: NDArray[Any],
    masked: MaskedTable,
    seat: NDArray[np.int64],
    frame: pl.DataFrame,
    schema: pl.Schema,
) -> MaskedRows:
    """Lay out the rows.

    `frame` holds the records' values of the columns that are carried, `schema` the types of all.
    """
    attributes = {attribute.name: attribute for attribute in masked.table.codebook.attributes}
    order = np.argsort(keys)
    cells = {
        name: MaskedColumn(shown.cell[order], shown.levels)
        for name, shown in zip(
            attributes, list_shown_cells(masked.table, masked.hidden), strict=True
        )
    }
    # `seat` is a permutation, which argsort inverts: to the record in each row.
    return MaskedRows(
        columns, keys[order], np.argsort(seat)[order], frame, schema, attributes, cells
    )


def _build_law(
    keys: NDArray[Any], holders: NDArray[np.int32], source_row: NDArray[np.int64]
) -> pl.DataFrame:
    """The source rows of the records that hold the shares of each row, in the order of the keys."""
    order = np.argsort(keys)
    held = pl.Series(source_row[holders[order]], dtype=pl.Array(pl.Int64, holders.shape[1]))
    return pl.DataFrame({KEY: key_texts(keys[order]), "records": held.cast(pl.List(pl.Int64))})
