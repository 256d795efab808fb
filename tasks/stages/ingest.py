"""Read the source once; identifiers and dropped columns end here."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anon_core.specs.demands import Demand
from kinds.table.columns import Column, arrays
from kinds.table.layout import TABLE
from kinds.table.profile import remembered
from kinds.table.read import read_order
from tasks.orchestration.stage import log, stage
from tasks.source.sources import Source, require_unchanged
from tasks.vault.storage import Run, Stored

DEMAND = "demand.parquet"


@stage("ingest")
def ingest(run: Run, source: Source, columns: tuple[Column, ...], demand: Demand) -> Stored:
    """Store the columns that may be released, typed, and the column that k is read from, if any."""

    def make(folder: Path) -> Mapping[str, Any]:
        table, k_values = read_order(source, columns, demand)
        table.write_parquet(folder / TABLE)
        if k_values is not None:
            k_values.write_parquet(folder / DEMAND)
        require_unchanged(source, run.source_sha256)
        absent = (
            demand.absent(arrays(k_values)[k_values.columns[0]])
            if k_values is not None and demand.by
            else 0
        )
        facts = {
            "source_columns": len(columns),
            "profile": remembered(table, columns),
            "absent_groups": absent,
        }
        return {"shape": [table.height, table.width], **facts}

    stored = run.once("ingest", [], make)
    log(f"ingested {stored.shape[0]} rows, {stored.shape[1]} of {len(columns)} columns")
    if absent := stored.facts.get("absent_groups"):
        log(
            f"{absent} of the {len(demand.levels)} groups that privacy.k names have no row; are they spelt as in the source?"
        )
    return stored
