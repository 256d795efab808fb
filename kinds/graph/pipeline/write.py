"""The released edges of a graph: random keys, and which vertex has which key."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anon_core.graphs.records import ObfuscatedGraph
from anon_core.specs.graphs import ONE
from crowdcover.kinds.graph.layout import (
    CODEBOOK,
    CSV,
    KEY,
    MATCHING,
    PARQUET,
    RECORD,
    P,
    U,
    V,
    format_codebook,
)
from crowdcover.kinds.graph.pipeline.rows import flatten_rows
from crowdcover.kinds.rows import key_texts, write_csv, write_parquet
from crowdcover.storage.vault import secret_streams


def write_release(seed: bytes, result: ObfuscatedGraph, folder: Path) -> Mapping[str, Any]:
    """Write the edges in each format, the codebook and, apart, the secret map of keys.

    Keys are drawn by the run's secret. Edges stand in the order of their keys, the lesser key of
    each first. A vertex without an edge has a key that is nowhere published.
    """
    n = result.graph.records
    keys = secret_streams.distinct_keys(seed, "keys", n)
    # rank[x]: place of x's key among all keys. They have one length, so bytes sort as numbers do.
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(keys)] = np.arange(n)
    ends = np.sort(np.stack([rank[result.u], rank[result.v]]), axis=0)  # (2, m)
    order = np.lexsort((ends[1], ends[0]))
    named = np.sort(keys)[ends[:, order]]
    rows = pl.DataFrame(
        {U: key_texts(named[0]), V: key_texts(named[1]), P: result.p[order] / ONE},
    )
    write_parquet(rows, folder / PARQUET)
    write_csv(flatten_rows(rows), folder / CSV)
    (folder / CODEBOOK).write_text(format_codebook(n), encoding="utf-8")
    held = pl.DataFrame({RECORD: np.arange(n, dtype=np.int64), KEY: key_texts(keys)})
    held.write_parquet(folder / MATCHING)
    return {"shape": [n, rows.height]}
