"""From typed columns to encoded records, and encoded records as a stage keeps them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.specs.demands import Demand
from anon_core.tables.categories import ANYWHERE
from anon_core.tables.codebook import codebook_from_json, codebook_to_json
from anon_core.tables.demands import of_people, resolve_demands
from anon_core.tables.diverse import DiverseDemand
from anon_core.tables.encoding import encode, find_complete_records, fit_codebook
from anon_core.tables.records import BinaryTable
from crowdcover.kinds.arrays import convert_to_arrays
from crowdcover.kinds.columns import Column
from crowdcover.kinds.partial_files import ColumnFile
from crowdcover.kinds.section import refuse_alone
from crowdcover.kinds.table.layout import (
    BITS,
    CODEBOOK,
    DEMAND,
    LEARNT_FROM,
    PERSON_NUMBERS,
    TABLE,
    WEIGHTS,
)
from crowdcover.kinds.table.pipeline.coarsening import coarsen_values
from crowdcover.kinds.table.plan.diverse import Diverse
from crowdcover.kinds.table.plan.purpose import weigh_columns
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.storage.vault.run import Stored


class Encoded(NamedTuple):
    """Encoded records, which rows they are of, and levels that joined others, by column."""

    table: BinaryTable
    kept: NDArray[np.bool_]
    joined: Mapping[str, int]


class _Arrays(Mapping[str, NDArray[Any]]):
    """Columns as the core takes them, each made when it is asked for; some rows, or all."""

    def __init__(
        self,
        columns: pl.DataFrame | ColumnFile,
        names: Sequence[str],
        rows: NDArray[np.bool_] | None = None,
    ) -> None:
        self._columns, self._names, self._rows = columns, names, rows

    def __getitem__(self, name: str) -> NDArray[Any]:
        values = convert_to_arrays(pl.DataFrame({name: self._columns[name]}))[name]
        return values if self._rows is None else values[self._rows]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def encode_records(
    frame: pl.DataFrame | ColumnFile,
    k_values: pl.DataFrame | None,
    columns: tuple[Column, ...],
    demand: Demand,
    person: NDArray[np.int32] | None = None,
    leave_out: float = 0.0,
    diverse: Diverse | None = None,
    learnt_from: NDArray[np.bool_] | None = None,
) -> Encoded:
    """Encode a typed frame under a codebook fitted to it.

    A group of numbers holds at least as many people as any record demands. `person` int32 (rows,):
    number of the person of each row. All rows of a person demand the greatest k of those that stay.
    `leave_out`: the share of the records that does not stay at most, see `choose_left_out`.
    `diverse`: what classes must show of a column of the frame. `learnt_from` bool (rows,): rows
    that are not released, since weights are learnt from them.
    """
    quasi = [column for column in columns if column.role == "quasi"]
    specs = [column.spec for column in quasi if column.spec is not None]
    values = None if k_values is None else convert_to_arrays(k_values)[k_values.columns[0]]
    names = [column.name for column in quasi]
    stays = find_complete_records(specs, _Arrays(frame, names))
    if learnt_from is not None:
        stays &= ~learnt_from
    # k int32 and kept bool, both (rows of the source,).
    k, kept = resolve_demands(demand, stays, values)

    def encode_kept() -> Encoded:
        data = _Arrays(frame, names, kept)
        persons = None if person is None else person[kept]
        fitted = fit_codebook(specs, data, int(k[kept].max()), persons)
        table = encode(fitted.codebook, data, k[kept], fitted.places)
        # After encoding: all records of a person get the greatest k among those that stay.
        owned = table if persons is None else of_people(table, persons)
        return Encoded(owned, kept, fitted.joined)

    encoded = encode_kept()
    if leave_out > 0:
        from anon_core.anonymizers.local_search.leaving_out import choose_left_out  # and numba

        # `kept` shrinks, and levels are fitted anew: who is left out must not shape the codebook.
        kept[kept] = ~choose_left_out(encoded.table, leave_out)
        encoded = encode_kept()
    if diverse is not None:
        # The alias: polars takes a name such as ^a$ for a pattern.
        shown = frame[diverse.column].alias("").filter(pl.Series(kept))
        column = next(each for each in columns if each.name == diverse.column)
        if column.coarse is not None:  # published values count: several become one
            persons = None if person is None else person[kept]
            shown, _ = coarsen_values(shown, column, int(encoded.table.k.max()), persons)
        # Rank 0 is a missing value, which counts as one value more.
        rank = shown.rank("dense").fill_null(0).to_numpy()
        demand_of_values = DiverseDemand.of(
            rank, diverse.measure, diverse.limit, ordered=diverse.ordered
        )
        encoded = encoded._replace(table=replace(encoded.table, diverse=demand_of_values))
    return encoded


def encode_for_plan(
    plan: TablePlan,
    frame: pl.DataFrame | ColumnFile,
    k_values: pl.DataFrame | None,
    person: NDArray[np.int32] | None,
    weights: Mapping[str, float] | None,
    learnt_from: NDArray[np.bool_] | None,
) -> Encoded:
    """Encode what was ingested as a plan wants it; see `encode_records`.

    Records whose demand cannot be met do not stay where the plan drops them. Refuses k = 1 for
    anybody unless the plan allows it.
    """
    columns = plan.columns if weights is None else weigh_columns(plan.columns, weights)
    encoded = encode_records(
        *(frame, k_values, columns, plan.demand, person, plan.leave_out, plan.diverse, learnt_from)
    )
    if not plan.allow_unprotected:
        refuse_alone(encoded.table.k, "records")
    return encoded


def write_encoded(plan: TablePlan, ingested: Stored, folder: Path) -> Mapping[str, Any]:
    """Store the codebook and the encoded records that stay; refused as by `encode_for_plan`."""
    frame = ColumnFile(ingested.file(TABLE))
    demands = ingested.file(DEMAND)
    k_values = pl.read_parquet(demands, glob=False) if demands.exists() else None
    owners = ingested.file(PERSON_NUMBERS)
    person = np.load(owners) if owners.exists() else None
    learnt_from, weights = ingested.file(LEARNT_FROM), ingested.file(WEIGHTS)
    learnt = json.loads(weights.read_text(encoding="utf-8")) if weights.exists() else None
    rows = np.load(learnt_from) if learnt_from.exists() else None
    table, kept, joined = encode_for_plan(plan, frame, k_values, person, learnt, rows)
    codebook = json.dumps(codebook_to_json(table.codebook), ensure_ascii=False)
    (folder / CODEBOOK).write_text(codebook, encoding="utf-8")
    others = {"bits": table.bits, "kept": np.flatnonzero(kept)}
    packed: dict[str, Any] = {**table.pack_arrays()[1], **others}
    np.savez(folder / BITS, **packed)
    features, dropped = table.codebook.features, int((~kept).sum())
    note = f"binarized {table.records} records into {features} features; {dropped} dropped"
    notes = [note, *list_encoding_notes(joined, table)]
    return {"shape": [table.records, features], "dropped": dropped, "notes": notes}


def list_encoding_notes(joined: Mapping[str, int], table: BinaryTable) -> list[str]:
    """What the log says of levels that too few people hold."""
    least, notes = int(table.k.max()), []
    for attribute in table.codebook.attributes:
        if attribute.floor is not None and ANYWHERE in attribute.labels:
            notes.append(
                f"column {attribute.name!r} says nothing: its hierarchy has no node to show that "
                f"{attribute.floor} people live in; lower the floor, or drop the column"
            )
        if number := joined.get(attribute.name):
            what = "groups joined a neighbour" if attribute.binned else "values share a level"
            notes.append(
                f"column {attribute.name!r}: {number} {what}, since fewer than {least} people "
                f"held some of them; {attribute.levels} levels are left"
            )
    return notes


def load_encoded(stored: Stored) -> tuple[BinaryTable, NDArray[np.int64]]:
    """Return the encoded records of a stage and the source row of each."""
    codebook = codebook_from_json(json.loads(stored.file(CODEBOOK).read_text(encoding="utf-8")))
    with np.load(stored.file(BITS)) as data:
        return BinaryTable.from_arrays(codebook, data), data["kept"]


def load_bits(stored: Stored) -> NDArray[np.uint64]:
    """Return the packed bits of the encoded records as they were stored, uint64 (n, words)."""
    with np.load(stored.file(BITS)) as data:
        bits: NDArray[np.uint64] = data["bits"]
        return bits


def load_source_rows(stored: Stored) -> NDArray[np.int64]:
    """Return the source row of each encoded record; the packed bits are not read."""
    with np.load(stored.file(BITS)) as data:
        rows: NDArray[np.int64] = data["kept"]
        return rows
