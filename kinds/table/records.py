"""From a source to encoded records and back to arrays; shared by the stages and the audit, so no Prefect here."""

import json

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.specs.demands import Demand
from anon_core.tables.demands import resolve
from anon_core.tables.encoding import codebook_from_json, complete, encode, fit
from anon_core.tables.records import BinaryTable
from kinds.table.columns import Column, arrays
from kinds.table.layout import BITS, CODEBOOK
from tasks.vault.storage import Stored


def encoded(
    frame: pl.DataFrame, k_values: pl.DataFrame | None, columns: tuple[Column, ...], demand: Demand
) -> tuple[BinaryTable, NDArray[np.bool_]]:
    """Encode a typed frame under a codebook fitted to it; also tells which of its rows stay."""
    quasi = [column for column in columns if column.role == "quasi"]
    specs = [column.spec for column in quasi if column.spec is not None]
    values = None if k_values is None else arrays(k_values)[k_values.columns[0]]
    columns_by_name = arrays(frame[[column.name for column in quasi]])
    k, kept = resolve(demand, complete(specs, columns_by_name), values)
    data = {name: column[kept] for name, column in columns_by_name.items()}
    return encode(fit(specs, data), data, k[kept]), kept


def load(stored: Stored) -> tuple[BinaryTable, NDArray[np.int64]]:
    """The encoded records and the source row of each."""
    codebook = codebook_from_json(json.loads(stored.file(CODEBOOK).read_text(encoding="utf-8")))
    with np.load(stored.file(BITS)) as data:
        return BinaryTable(codebook, data["codes"], data["bits"], data["k"], data["blank"]), data[
            "kept"
        ]
