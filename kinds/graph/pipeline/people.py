"""The people of a graph, as digests for the ledger: vertices by name, and by their edges."""

import numpy as np
import polars as pl

from crowdcover.kinds.graph.layout import EDGES
from crowdcover.storage.ledger.digests import People, read_identifiers
from crowdcover.storage.vault.run import Run, Stored

_AT = "vertex"


def build_people(key: bytes, ingested: Stored) -> People:
    """Return the people of all vertices; ingest digested their names under `key`."""
    rows = np.arange(ingested.shape[0])
    return People.digest_people(key, [_list_edge_texts(ingested)], read_identifiers(ingested), rows)


def rebuild_people(run: Run, key: bytes) -> People:
    """Return the people of a run under another key than its own: by their edges only."""
    ingested = run.whole("ingest")
    if ingested is None:
        return People(0, {}, frozenset())
    # Names were stored as digests under the run's own key: only edges can be digested anew.
    return People.digest_people(key, [_list_edge_texts(ingested)], {}, np.arange(ingested.shape[0]))


def _list_edge_texts(ingested: Stored) -> pl.DataFrame:
    """The edges of each vertex as one text: probability and number of edges at the other end."""
    n = ingested.shape[0]
    with np.load(ingested.file(EDGES)) as arrays:
        u, v, p = arrays["u"], arrays["v"], arrays["p"]
    ends = np.concatenate([u, v]).astype(np.int64)
    held = np.bincount(ends, minlength=n)
    # Each edge twice, once at each end: 2 m rows.
    each = pl.DataFrame({_AT: ends, "p": np.tile(p, 2), "other": held[np.concatenate([v, u])]})
    texts = each.select(_AT, pl.format("{} {}", "p", "other").alias("edges"))
    # Sorted, so that neither the order of the source nor the names of vertices decide a text.
    lists = texts.group_by(_AT).agg(pl.col("edges").sort().str.join("|"))
    every = pl.DataFrame({_AT: np.arange(n, dtype=np.int64)})
    # A vertex without an edge stays null and gets no digest: nothing tells it from the others.
    return every.join(lists, on=_AT, how="left", maintain_order="left").select("edges")
