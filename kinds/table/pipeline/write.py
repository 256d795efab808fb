"""The released rows of a table: masked cells, carried columns, random keys, and who sits where."""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.seating.matching import Draw, random_matching
from anon_core.seating.reseating import mix_values
from anon_core.specs.coarse import Ends
from anon_core.tables.cells import MaskedColumn, cell_texts, list_shown_cells
from anon_core.tables.orders import invert_order
from anon_core.tables.records import Attribute, MaskedTable
from crowdcover.kinds.columns import Column
from crowdcover.kinds.rows import (
    cut_evenly,
    key_texts,
    write_csv_of_batches,
    write_parquet_of_batches,
)
from crowdcover.kinds.table.layout import (
    CELLS,
    CODEBOOK,
    CSV,
    KEY,
    LAW,
    MATCHING,
    PARQUET,
    PERSON_NUMBERS,
    TABLE,
    list_released_columns,
)
from crowdcover.kinds.table.pipeline.coarsening import coarsen_columns
from crowdcover.kinds.table.pipeline.native import build_published_codebook, native_cells
from crowdcover.kinds.table.pipeline.nodes import write_nodes
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.storage.vault import secret_streams
from crowdcover.storage.vault.run import Stored


@dataclass(frozen=True)
class MaskedRows:
    """The rows of a release in the order of their random keys.

    Cells are typed values in `cut_native`, and text in `cut_text`. Both give a range of the rows:
    few need be held at once.

    Attributes
    ----------
    columns : tuple of Column
    keys : uint64 (n,), ascending
    person : int32 (n,)
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
    keys: NDArray[np.uint64]
    person: NDArray[np.int32]
    frame: pl.DataFrame
    schema: pl.Schema
    attributes: Mapping[str, Attribute]
    cells: Mapping[str, MaskedColumn]

    def cut_text(self, rows: slice) -> pl.DataFrame:
        """Return some rows as data.csv.gz has them."""
        return self._lay_out(rows, self._texts)

    def cut_native(self, rows: slice) -> pl.DataFrame:
        """Return some rows as data.parquet has them."""
        return self._lay_out(rows, self._natives)

    def match_keys(self, source_row: NDArray[np.int64]) -> Callable[[slice], pl.DataFrame]:
        """What gives the source row and the key of some records, in the order of the records."""
        # The vault names source rows, since the audit encodes the source anew.
        row = invert_order(self.person)

        def cut(records: slice) -> pl.DataFrame:
            keys = _spell_keys(self.keys[row[records]])
            return pl.DataFrame({"record": source_row[records], KEY: keys})

        return cut

    @cached_property
    def _natives(self) -> dict[str, pl.Series]:
        """The distinct cells of each quasi-identifier as typed values."""
        columns = {column.name: column for column in self.columns}
        return {
            name: native_cells(
                self.attributes[name], columns[name], shown.levels, self.schema[name]
            )
            for name, shown in self.cells.items()
        }

    @cached_property
    def _texts(self) -> dict[str, pl.Series]:
        """The distinct cells of each quasi-identifier as texts."""
        return {
            name: pl.Series(cell_texts(self.attributes[name], shown.levels), dtype=pl.String)
            for name, shown in self.cells.items()
        }

    def _lay_out(self, rows: slice, cells: Mapping[str, pl.Series]) -> pl.DataFrame:
        """Key, cells and carried values of some rows, out of the distinct cells."""
        laid = {KEY: _spell_keys(self.keys[rows])}
        for name in (column.name for column in list_released_columns(self.columns)):
            if name in self.cells:
                laid[name] = cells[name][self.cells[name].cell[rows]]
            else:
                laid[name] = self.frame[name][self.person[rows]]
        return pl.DataFrame(laid)


@dataclass(frozen=True)
class ReleasedTable:
    """A release before it is written.

    Attributes
    ----------
    rows : MaskedRows
    codebook : dict
        As it is published.
    holders : int32 (n, D), optional
        The records that hold the shares of each row, where the method makes such a law; rows in
        the order of the records' keys as they were drawn.
    drawn_keys : uint64 (n,)
        These keys.
    """

    rows: MaskedRows
    codebook: Mapping[str, Any]
    holders: NDArray[np.int32] | None
    drawn_keys: NDArray[np.uint64]

    def cut_law(self, source_row: NDArray[np.int64]) -> Callable[[slice], pl.DataFrame] | None:
        """What gives the source rows of the records that hold some rows' shares, by ascending key.

        None where the method makes no such law.
        """
        if self.holders is None:
            return None
        order, holders, of = np.argsort(self.drawn_keys), self.holders, self.holders.shape[1]

        def cut(rows: slice) -> pl.DataFrame:
            held = pl.Series(source_row[holders[order[rows]]], dtype=pl.Array(pl.Int64, of))
            keys = _spell_keys(self.rows.keys[rows])
            return pl.DataFrame({KEY: keys, "records": held.cast(pl.List(pl.Int64))})

        return cut


def seat_records(
    plan: TablePlan,
    seed: bytes,
    masked: MaskedTable,
    frame: pl.DataFrame,
    schema: pl.Schema,
    person: NDArray[np.int32] | None,
) -> ReleasedTable:
    """Draw who sits where and the keys of the rows, and lay the rows out.

    `frame` holds the records' values of the columns that are carried, `schema` the types of all
    columns of the source; `person` int32 (n,): number of the person of each record.
    """
    ends: Mapping[str, Ends] = {}
    if any(column.coarse is not None for column in plan.columns):
        frame, ends = coarsen_columns(frame, plan.columns, int(masked.table.k.max()), person)
        schema = pl.Schema({**schema, **frame.schema})
    # One stream for both: mixing goes on with the words behind those of the draw.
    draw = secret_streams.seed_random_stream(seed, "matching")
    seat = random_matching(masked, draw)
    if plan.mix is not None:
        seat = _mix_seats(frame[plan.mix], masked, seat, draw)
    keys = secret_streams.draw_key_numbers(seed, "keys", masked.table.records)
    rows = lay_out_released_rows(plan.columns, keys, masked, seat, frame, schema)
    codebook = build_published_codebook(masked.table.codebook, plan.columns, schema, ends)
    return ReleasedTable(rows, codebook, masked.holders, keys)


def write_release(
    plan: TablePlan,
    seed: bytes,
    take: Callable[[], MaskedTable],
    source_row: NDArray[np.int64],
    ingested: Stored,
    folder: Path,
) -> Mapping[str, Any]:
    """Write the rows in each format, the codebook and, apart, the secret matching and its law.

    `take` hands over what was made: its arrays are freed once they were read. `source_row` is the
    source row of each record, int64 (n,).
    """
    path, owners = ingested.file(TABLE), ingested.file(PERSON_NUMBERS)
    schema = pl.scan_parquet(path, glob=False).collect_schema()
    carried = [schema.names().index(name) for name in list_carried_columns(plan)]
    frame = _read_carried_values(path, carried, source_row)
    person = np.load(owners)[source_row] if owners.exists() else None
    released = seat_records(plan, seed, take(), frame, schema, person)
    records = len(released.drawn_keys)
    if (cut := released.cut_law(source_row)) is not None:
        write_parquet_of_batches(cut, records, folder / LAW)
    rows, document = released.rows, dict(released.codebook)
    del cut, released  # with the holders
    write_masked_rows(rows, folder)
    (folder / CODEBOOK).write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    write_nodes(document, folder)
    write_matching(rows, source_row, folder)
    return {"shape": [records, 1 + len(list_released_columns(plan.columns))]}


def list_carried_columns(plan: TablePlan) -> list[str]:
    """Names of the columns that rows carry as they are, or coarser."""
    return [each.name for each in list_released_columns(plan.columns) if each.role != "quasi"]


def write_masked_rows(rows: MaskedRows, folder: Path) -> None:
    """Write the rows in each format, and for the vault as text with typed columns."""
    number, stopped = len(rows.keys), Event()
    batches = (rows.cut_text(at) for at in cut_evenly(number) if not stopped.is_set())
    with ThreadPoolExecutor(1) as pool:
        # Packing takes a thread as long as all else here does.
        csv = pool.submit(write_csv_of_batches, batches, folder / CSV)
        try:
            write_parquet_of_batches(rows.cut_text, number, folder / CELLS)
            write_parquet_of_batches(rows.cut_native, number, folder / PARQUET)
            csv.result()
        except BaseException:
            stopped.set()  # else whoever stops a run would wait until all is packed
            raise


def write_matching(rows: MaskedRows, source_row: NDArray[np.int64], folder: Path) -> None:
    """Write the source row and the key of each record, for the vault."""
    cut = rows.match_keys(source_row)
    write_parquet_of_batches(cut, len(source_row), folder / MATCHING)


def _spell_keys(keys: NDArray[np.uint64]) -> pl.Series:
    return key_texts(secret_streams.spell_keys(keys))


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
    keys: NDArray[np.uint64],
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
    shown = list_shown_cells(masked.table, masked.hidden)
    cells = {
        name: MaskedColumn(each.cell[order], each.levels)
        for name, each in zip(attributes, shown, strict=True)
    }
    person = invert_order(seat.astype(np.int32))  # of a row: the record that has this seat
    return MaskedRows(columns, keys[order], person[order], frame, schema, attributes, cells)
