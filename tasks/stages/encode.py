"""From typed columns to packed bits, a codebook and everybody's k."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anon_core.specs.demands import Demand
from anon_core.tables.encoding import codebook_to_json
from kinds.table.columns import Column
from kinds.table.layout import BITS, CODEBOOK, TABLE
from kinds.table.records import encoded
from tasks.orchestration.stage import log, stage
from tasks.stages.ingest import DEMAND
from tasks.vault.storage import Run, Stored


@stage("binarize")
def binarize(run: Run, ingested: Stored, columns: tuple[Column, ...], demand: Demand) -> Stored:
    """Store the encoded records that stay (a demand that cannot be met may drop some) and the codebook."""

    def make(folder: Path) -> Mapping[str, Any]:
        frame = pl.read_parquet(ingested.file(TABLE))
        demands = ingested.file(DEMAND)
        table, kept = encoded(
            frame, pl.read_parquet(demands) if demands.exists() else None, columns, demand
        )
        (folder / CODEBOOK).write_text(
            json.dumps(codebook_to_json(table.codebook), ensure_ascii=False), encoding="utf-8"
        )
        np.savez(
            folder / BITS,
            codes=table.codes,
            bits=table.bits,
            k=table.k,
            blank=table.blank,
            kept=np.flatnonzero(kept),
        )
        return {"shape": [table.records, table.codebook.features], "dropped": int((~kept).sum())}

    stored = run.once("binarize", [ingested], make)
    log(
        f"binarized {stored.shape[0]} records into {stored.shape[1]} features; {stored.facts['dropped']} records dropped"
    )
    return stored
