"""What a matrix's release keeps of its source."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kinds.matrix.layout import DEMAND, ENTRIES
from kinds.matrix.people import write_identifiers
from kinds.matrix.plan import MatrixPlan
from kinds.matrix.read import read_entries
from tasks.people.ledger import Ledger
from tasks.source.reading import Reading


def ingested(plan: MatrixPlan, reading: Reading, ledger: Ledger, folder: Path) -> Mapping[str, Any]:
    """Store the entries, and the k of each record.

    Users are stored as digests under the ledger's key only.
    """
    entries = read_entries(reading, plan)
    entries.pairs.write_parquet(folder / ENTRIES)
    np.save(folder / DEMAND, np.full(entries.records, plan.k, dtype=np.int32))
    items = entries.pairs["item"].n_unique()
    digested: Mapping[str, Any] = {}
    if entries.users is not None:
        digested = write_identifiers(ledger, plan.user, entries.users, folder)
    return {
        "shape": [entries.records, items],
        "source_columns": len(plan.needed),
        "profile": {"rows": entries.records, "items": items, "entries": entries.pairs.height},
        "notes": [
            f"ingested {entries.records} users, {items} items, {entries.pairs.height} entries"
        ],
        **digested,
    }
