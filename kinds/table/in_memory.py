"""The course of a table's release in memory: rows in, checked rows out, nothing written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.anonymizers.base import Anonymizer
from anon_core.engines import local
from anon_core.tables.settled import Unsettled
from crowdcover.kinds.judge.audit import Audit
from crowdcover.kinds.table.judge import audit_release
from crowdcover.kinds.table.judge.released import Claims, ReleasedFrame
from crowdcover.kinds.table.pipeline.encode import encode_for_plan, list_encoding_notes
from crowdcover.kinds.table.pipeline.ingest import take_columns
from crowdcover.kinds.table.pipeline.warm import compile_judge_beside
from crowdcover.kinds.table.pipeline.write import list_carried_columns, seat_records
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault import secret_streams


@dataclass(frozen=True)
class CheckedRows:
    """Released rows, and what must stay private of them.

    Attributes
    ----------
    typed, texts : DataFrame
        The rows by ascending key, as data.parquet and as data.csv.gz have them.
    codebook : dict
        As a release publishes it.
    matching : DataFrame
        Source row and key of each record: private.
    law : DataFrame, optional
        The source rows that hold the shares of each row: private.
    audit : Audit
    iterations : list of dict
        The steps of the method, as a manifest states them.
    notes : tuple of str
        Sentences with counts and names of columns.
    """

    typed: pl.DataFrame = field(repr=False)
    texts: pl.DataFrame = field(repr=False)
    codebook: Mapping[str, Any] = field(repr=False)
    matching: pl.DataFrame = field(repr=False)
    law: pl.DataFrame | None = field(repr=False)
    audit: Audit = field(repr=False)
    iterations: list[dict[str, Any]]
    notes: tuple[str, ...]


def release_in_memory(
    plan: TablePlan,
    reading: Reading,
    anonymizer: Anonymizer[Any],
    seed: bytes,
    *,
    threads: int,
    memory: int,
) -> CheckedRows:
    """Release the rows of a source without a file, and audit what would be published.

    The rows are those of the pipeline with the same seed. Whether every guarantee holds is for the
    caller to look at: see `Audit.passed`.
    """
    with compile_judge_beside():
        taken = take_columns(plan, reading.again())
        table, kept, joined = encode_for_plan(
            plan, taken.table, taken.k_values, taken.person, taken.weights, taken.learnt_from
        )
        source_row = np.flatnonzero(kept)
        # All records, before a part is taken: k may exceed the size of the part.
        anonymizer.admit(table)
        tie_order = secret_streams.draw_permutation(seed, "order", table.records)
        part = Unsettled.of(table, tie_order)
        made = local.run(
            anonymizer, part.data, tie_order=part.tie_order, threads=threads, memory=memory
        )
        masked = part.restore_whole(made)
        frame = _cut_columns(taken.table, list_carried_columns(plan), source_row)
        person = None if taken.person is None else taken.person[source_row]
        released = seat_records(plan, seed, masked, frame, taken.table.schema, person)
        every = slice(0, len(released.drawn_keys))
        shown = ReleasedFrame(
            released.rows.cut_native(every), released.rows.cut_text(every), dict(released.codebook)
        )
        matching = released.rows.match_keys(source_row)(every)
        cut = released.cut_law(source_row)
        law = None if cut is None else cut(every)
    audit = audit_release(
        *(shown, reading.again(), plan.columns, plan.demand, Claims(matching, law)),
        anonymizer.promise, **plan.audited,
    )  # fmt: skip
    steps = [{"number": step.number, **step.figures} for step in masked.steps]
    notes = (*taken.notes, *list_encoding_notes(joined, table))
    return CheckedRows(shown.typed, shown.texts, shown.codebook, matching, law, audit, steps, notes)


def _cut_columns(frame: pl.DataFrame, names: list[str], rows: NDArray[np.int64]) -> pl.DataFrame:
    """Some rows of these columns, by place: polars takes a name such as ^a$ for a pattern."""
    return pl.DataFrame([frame.to_series(frame.columns.index(name))[rows] for name in names])
