"""What a matrix's release keeps of its source."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdcover.kinds.matrix.layout import BY_ROW, DEMAND, ENTRIES, ITEM
from crowdcover.kinds.matrix.pipeline.binarise import demands_of, pairs_of
from crowdcover.kinds.matrix.pipeline.read import read_source
from crowdcover.kinds.matrix.plan.sections import MatrixPlan
from crowdcover.storage.ledger.digests import write_identifiers
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.source.reading import Reading


def ingest_source(
    plan: MatrixPlan, reading: Reading, ledger: Ledger, folder: Path
) -> Mapping[str, Any]:
    """Store the entries, and the k of each record.

    Users are stored as digests under the ledger's key only.
    """
    read = read_source(reading, plan)
    k = demands_of(read, plan)
    # The audit groups numbers by the greatest k, too: by another one, items would differ.
    pairs = pairs_of(read, plan, int(k.max()))
    pairs.write_parquet(folder / ENTRIES)
    np.save(folder / DEMAND, k)
    items = pairs[ITEM].n_unique()
    digested: Mapping[str, Any] = {}
    if read.spelt is not None and plan.user is not None:
        # As spelt: older builds digested this, and `write_identifiers` adds the one spelling.
        users = pl.DataFrame({plan.user: read.spelt})
        digested = write_identifiers(ledger.key, ledger.key_print, users, folder)
    return {
        "shape": [read.records, items],
        "source_columns": len(plan.needed),
        BY_ROW: plan.layout != "edges",
        "profile": {"rows": read.records, "items": items, "entries": pairs.height},
        "notes": [f"ingested {read.records} users, {items} items, {pairs.height} entries"],
        **digested,
    }
