"""From entries by name to the sparse matrix of an anonymizer."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anon_core.matrices.records import SparseMatrix
from crowdcover.kinds.matrix.layout import DEMAND, ENTRIES, ITEM, MATRIX, NAMES, RECORD
from crowdcover.kinds.matrix.plan.sections import MatrixPlan
from crowdcover.kinds.section import refuse_alone
from crowdcover.storage.vault.run import Stored


def write_encoded(plan: MatrixPlan, ingested: Stored, folder: Path) -> Mapping[str, Any]:
    """Store the matrix, and the names of its items in their order.

    Refuses k = 1 for anybody unless the plan allows it.
    """
    pairs = pl.read_parquet(ingested.file(ENTRIES), glob=False)
    k = np.load(ingested.file(DEMAND))
    if not plan.allow_unprotected:
        refuse_alone(k, "users")
    matrix, names = encode_entries(pairs, k)
    document, arrays = matrix.pack_arrays()
    packed: dict[str, Any] = {**document, **arrays}
    np.savez(folder / MATRIX, **packed)
    names.to_frame().write_parquet(folder / NAMES)
    note = f"encoded {matrix.entries} entries of {matrix.records} users and {matrix.items} items"
    return {"shape": [matrix.records, matrix.items], "notes": [note]}


def encode_entries(pairs: pl.DataFrame, k: Any) -> tuple[SparseMatrix, pl.Series]:
    """Number the items by name; return the matrix and the names."""
    # Items are numbered by name, which the order of rows in the source cannot change.
    names = pairs[ITEM].unique().cast(pl.String).sort()
    row = pl.int_range(len(names), dtype=pl.Int32, eager=True)
    # Back to the type of the entries, often an Enum: a join needs one type on both sides.
    number = pl.DataFrame({ITEM: names.cast(pairs[ITEM].dtype), "number": row})
    coded = pairs.join(number, on=ITEM, how="left").select(RECORD, "number").sort(RECORD, "number")
    # Records without an item count, too, also those behind the last entry.
    held = np.bincount(coded[RECORD].to_numpy(), minlength=len(k))
    indptr = np.concatenate([[0], np.cumsum(held)]).astype(np.int64)
    matrix = SparseMatrix(indptr, coded["number"].to_numpy(), len(names), k)
    matrix.check()
    matrix.refuse_impossible_demands()
    return matrix, names


def load_encoded(stored: Stored) -> SparseMatrix:
    """Return the matrix of a stage."""
    with np.load(stored.file(MATRIX)) as arrays:
        return SparseMatrix.unpack_arrays({"items": int(arrays["items"])}, arrays)
