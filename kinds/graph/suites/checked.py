"""The checks of a graph in Great Expectations: each suite with the columns that it is about."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.specs.graphs import ONE
from crowdcover.kinds.graph.judge.measured import Measured
from crowdcover.kinds.graph.layout import EDGES, KEY, MATCHING, RECORD, U, V
from crowdcover.kinds.graph.pipeline.encode import load_encoded
from crowdcover.kinds.graph.suites import encoded as of_encoded
from crowdcover.kinds.graph.suites import ingested as of_ingested
from crowdcover.kinds.graph.suites import released as of_released
from crowdcover.storage.vault.run import Stored

Suite = tuple[Any, Mapping[str, NDArray[Any]]]


def build_ingested_suite(stored: Stored) -> Suite:
    """The edges as they were read."""
    with np.load(stored.file(EDGES)) as arrays:
        columns = {name: arrays[name] for name in arrays.files}
    pairs = np.stack([columns[U].astype(np.int64), columns[V]], axis=1)
    # np.unique gives the first row of each pair; what is left repeats an earlier one.
    again = np.ones(len(pairs), dtype=np.bool_)
    again[np.unique(pairs, axis=0, return_index=True)[1]] = False
    vertices, edges = stored.shape
    return of_ingested.build_suite(vertices, edges), {**columns, of_ingested.AGAIN: again}


def build_encoded_suite(stored: Stored) -> Suite:
    """The uncertain graph; a vertex that is no edge's lesser end has no least and greatest."""
    graph = load_encoded(stored)
    n, u, v = graph.records, graph.u, graph.v
    ascending = np.ones(n, dtype=np.bool_)
    falls = (np.diff(u) < 0) | ((np.diff(u) == 0) & (np.diff(v) <= 0))
    ascending[u[1:][falls]] = False
    columns = {
        of_encoded.VERTEX_K: graph.k.astype(np.int64),
        of_encoded.LEAST_END: _at_ends(np.fmin, n, [(u, v - u)]),
        of_encoded.GREATEST_END: _at_ends(np.fmax, n, [(u, v)]),
        of_encoded.ENDS_ASCEND: ascending,
        of_encoded.LEAST_P: _at_ends(np.fmin, n, [(u, graph.p)]),
        of_encoded.GREATEST_P: _at_ends(np.fmax, n, [(u, graph.p)]),
    }
    return of_encoded.build_suite(n), columns


def build_released_suite(measured: Measured, anonymized: Stored) -> Suite:
    """The keys of all vertices, and of each vertex whether it hides, and its edges."""
    claim = pl.read_parquet(anonymized.file(MATCHING), glob=False).sort(RECORD)
    edges, n = measured.after, len(measured.k)
    ends = [(edges.u, edges.p / ONE), (edges.v, edges.p / ONE)]
    columns = {
        of_released.KEY: np.array(claim[KEY].to_list(), dtype=object),
        of_released.BELOW: measured.hiding.below.astype(np.int64),
        of_released.RELEASED_EDGES: np.bincount(np.concatenate([edges.u, edges.v]), minlength=n),
        of_released.LEAST_RELEASED_P: _at_ends(np.fmin, n, ends),
        of_released.GREATEST_RELEASED_P: _at_ends(np.fmax, n, ends),
    }
    return of_released.build_suite(n, measured.exempt, len(edges.p)), columns


def _at_ends(
    pick: np.ufunc, n: int, ends: list[tuple[NDArray[Any], NDArray[Any]]]
) -> NDArray[np.float64]:
    """The least or greatest value of each vertex's edges, nan where it has none."""
    found = np.full(n, np.nan)
    for end, value in ends:
        # `at` takes every edge of a repeated end; fmin and fmax pass over the nan it starts with.
        pick.at(found, end, value)
    return found
