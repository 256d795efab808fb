"""Choose what to hide, draw who sits where, and write the rows that may be published."""

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.anonymizers import Anonymizer
from anon_core.seating.matching import random_matching
from anon_core.tables.encoding import write_cells
from anon_core.tables.records import MaskedTable
from kinds.table.columns import Column
from kinds.table.layout import CODEBOOK, CSV, KEY, MATCHING, PARQUET, TABLE, released_columns
from kinds.table.records import load
from tasks.compute import engines
from tasks.orchestration.stage import log, stage
from tasks.vault import secrecy
from tasks.vault.checkpoint import timed
from tasks.vault.storage import Run, Stored

COVER = "cover.npz"


@stage("anonymize")
def anonymize(
    run: Run,
    ingested: Stored,
    binarized: Stored,
    columns: tuple[Column, ...],
    anonymizer: Anonymizer,
    compute: engines.Compute,
) -> Stored:
    """Store the cover, what each iteration reached, the release's rows and, apart, the canonical matching."""
    inputs = [ingested.sha256, binarized.sha256]

    def make(folder: Path) -> Mapping[str, Any]:
        table, source_row = load(binarized)
        order = secrecy.permutation(run.seed, "order", table.records)
        masked, seconds = engines.masked(run, inputs, anonymizer, table, order, compute)
        cover = masked.cover
        np.savez(folder / COVER, u=cover.u, v=cover.v, weight=cover.weight, hidden=masked.hidden)
        seat = random_matching(masked, secrecy.stream(run.seed, "matching"))
        frame = pl.read_parquet(ingested.file(TABLE))[source_row]
        rows, matching = _rows(run.seed, masked, seat, frame, columns)
        rows.write_parquet(folder / PARQUET)
        write_csv(rows, folder / CSV)
        (folder / CODEBOOK).write_bytes(binarized.file(CODEBOOK).read_bytes())
        matching.with_columns(record=pl.Series(source_row)[matching["record"]]).write_parquet(
            folder / MATCHING
        )
        return {"shape": [rows.height, rows.width], "iterations": timed(masked.iterations, seconds)}

    standing = run.whole("anonymize") if run.ever_visible() else None
    # What was published stays what it is: another version might hide other cells, and two releases can be intersected.
    stored = run.once("anonymize", [ingested, binarized], make) if standing is None else standing
    engines.discard(run)
    log(f"anonymized {stored.shape[0]} records in {len(stored.facts['iterations'])} iterations")
    return stored


def _rows(
    seed: bytes,
    masked: MaskedTable,
    seat: NDArray[np.int64],
    frame: pl.DataFrame,
    columns: Sequence[Column],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The release's rows in the order of their random keys, and record -> key."""
    keys = secrecy.distinct_keys(seed, "keys", masked.table.records)
    cells = write_cells(masked.table, masked.hidden)
    person = np.argsort(seat)
    carried = frame[person]
    data = {KEY: pl.Series(keys.tolist(), dtype=pl.String)}
    for column in released_columns(tuple(columns)):
        if column.role == "quasi":
            data[column.name] = pl.Series(cells[column.name].tolist(), dtype=pl.String)
        else:
            data[column.name] = carried[column.name]
    order = np.argsort(keys)
    matching = pl.DataFrame({"record": person[order], KEY: keys[order].tolist()})
    return pl.DataFrame(data)[order], matching.sort("record")


def write_csv(rows: pl.DataFrame, path: Path) -> None:
    """Gzip without time or name inside: the same rows give the same bytes."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed,
    ):
        rows.write_csv(cast("IO[bytes]", packed))
