"""The released rows of a matrix: items by number, random keys, and who sits where."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.matrices.records import GroupedMatrix
from crowdcover.kinds.matrix.layout import (
    CODEBOOK,
    CSV,
    ITEM,
    ITEM_KEYS,
    ITEMS,
    KEY,
    MATCHING,
    NAMES,
    PARQUET,
    READING,
    RECORD,
)
from crowdcover.kinds.matrix.pipeline.rows import flatten_rows
from crowdcover.kinds.matrix.plan.sections import MatrixPlan
from crowdcover.kinds.rows import key_texts, write_csv, write_parquet
from crowdcover.storage.vault import secret_streams
from crowdcover.storage.vault.run import Stored


class PublishedItems(NamedTuple):
    """The items that some row has: what is published of each, and its number in the rows."""

    labels: list[str]
    number: NDArray[np.int32]  # (items of the matrix,), -1 for an item in no row


def write_release(
    plan: MatrixPlan, seed: bytes, result: GroupedMatrix, encoded: Stored, folder: Path
) -> Mapping[str, Any]:
    """Write the rows in each format, the codebook and, apart, the secret row map.

    Items in no row are not published. Keys are drawn by the run's secret, and rows stand in their
    order.
    """
    names = pl.read_parquet(encoded.file(NAMES), glob=False).to_series()
    published = _number_items(plan, seed, result, names, folder)
    keys = secret_streams.distinct_keys(seed, "keys", result.matrix.records)
    order = np.argsort(keys)
    lists = _list_group_items(result, published.number)
    # Row i is that of the record with the i-th key, so the order of rows tells nothing.
    rows = pl.DataFrame({KEY: key_texts(keys[order]), ITEMS: lists[result.group[order]]})
    write_parquet(rows, folder / PARQUET)
    write_csv(flatten_rows(rows), folder / CSV)
    codebook = {"reading": READING, "keyed": bool(plan.keyed), "items": published.labels}
    text = json.dumps(codebook, ensure_ascii=False)
    (folder / CODEBOOK).write_text(text, encoding="utf-8")
    seats = pl.DataFrame({RECORD: np.arange(len(keys), dtype=np.int64), KEY: key_texts(keys)})
    seats.write_parquet(folder / MATCHING)
    return {"shape": [rows.height, len(published.labels)]}


def _number_items(
    plan: MatrixPlan, seed: bytes, result: GroupedMatrix, names: pl.Series, folder: Path
) -> PublishedItems:
    """Number the items that rows have by name, or by fresh keys where items are people."""
    used = np.unique(result.indices)
    labels = names[used].to_list()
    rank = np.arange(len(used), dtype=np.int32)
    if plan.keyed:
        keys = secret_streams.distinct_keys(seed, "item keys", len(used))
        texts = key_texts(keys)
        pl.DataFrame({ITEM: labels, KEY: texts}).write_parquet(folder / ITEM_KEYS)
        # rank[i]: place of the i-th item's key among all keys. Labels are published in that order.
        rank[np.argsort(keys)] = rank.copy()
        labels = sorted(texts.to_list())
    number = np.full(result.matrix.items, -1, dtype=np.int32)
    number[used] = rank
    return PublishedItems(labels, number)


def _list_group_items(result: GroupedMatrix, number: NDArray[np.int32]) -> pl.Series:
    """The published numbers of each group's items, ascending."""
    groups = len(result.indptr) - 1
    group = np.repeat(np.arange(groups, dtype=np.int64), np.diff(result.indptr))
    held = pl.DataFrame({"group": group, ITEMS: number[result.indices]}).sort("group", ITEMS)
    lists = held.group_by("group", maintain_order=True).agg(ITEMS)
    every = pl.DataFrame({"group": np.arange(groups, dtype=np.int64)})
    # group_by knows no group without items. The join gives it null, and the release an empty list.
    joined = every.join(lists, on="group", how="left", maintain_order="left")
    empty = pl.lit([], dtype=pl.List(pl.Int32))
    return joined.select(pl.col(ITEMS).cast(pl.List(pl.Int32)).fill_null(empty)).to_series()
