"""Take from the reading of the source what the release needs; identifiers end here as digests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anon_core.tables.demands import Demand
from kinds.table.columns import Column, arrays
from kinds.table.layout import DEMAND, TABLE
from kinds.table.people import write_identifiers
from kinds.table.profile import remembered
from kinds.table.read import read_table
from tasks.orchestration.stage import log, stage
from tasks.people.ledger import Ledger
from tasks.source.reading import Reading
from tasks.vault.storage import Run, Stored


@stage("ingest")
def ingest(
    run: Run, reading: Reading, columns: tuple[Column, ...], demand: Demand, ledger: Ledger
) -> Stored:
    """Store the columns that may be released, typed, and the column that k is read from, if any.

    Identifiers are digested under the ledger's key; under another key they are digested again.
    The reading is closed.
    """

    def make(folder: Path) -> Mapping[str, Any]:
        table, k_values, identifiers = read_table(reading, columns, demand)
        table.write_parquet(folder / TABLE)
        absent = 0
        digested: Mapping[str, Any] = {}
        if k_values is not None:
            k_values.write_parquet(folder / DEMAND)
        if k_values is not None and demand.by:
            absent = demand.absent(arrays(k_values)[k_values.columns[0]])
        if identifiers.width:
            digested = write_identifiers(ledger.key, ledger.key_print, identifiers, folder)
        return {
            "shape": [table.height, table.width],
            "source_columns": len(columns),
            "profile": remembered(table, columns),
            "absent_groups": absent,
            **digested,
        }

    identified = any(column.role == "identifier" for column in columns)
    key = [Stored(ledger.vault.path, ledger.key_print)] if identified else []
    stored = run.once("ingest", key, make)
    reading.close()
    log(f"ingested {stored.shape[0]} rows, {stored.shape[1]} of {len(columns)} columns")
    if absent := stored.facts.get("absent_groups"):
        log(
            f"{absent} of the {len(demand.levels)} groups that privacy.k names have no row; "
            "are they spelt as in the source?"
        )
    return stored
