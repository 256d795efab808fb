"""The released rows and their codebook, as the audit reads them."""

import json
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.row_order import BEYOND_CHANCE, order_hits
from crowdcover.kinds.judge.audit import Finding
from crowdcover.kinds.judge.seats import KEY_FORM
from crowdcover.kinds.matrix.layout import CODEBOOK, ITEM, ITEM_KEYS, ITEMS, KEY, READING
from crowdcover.storage.source.panics import silence_panics
from crowdcover.storage.source.values import FOREIGN_ERRORS


@dataclass(frozen=True)
class ReleasedRows:
    """The items of each released row by number.

    Attributes
    ----------
    indptr : int64 (rows + 1,)
    items : int64 (entries,)
        Row r has items[indptr[r] : indptr[r + 1]].
    number : int
        Number of items in the codebook.
    """

    indptr: NDArray[np.int64] = field(repr=False)
    items: NDArray[np.int64] = field(repr=False)
    number: int


class ReadCodebook(NamedTuple):
    """The published codebook: what it says of each item, and whether that is all it says."""

    labels: list[str]
    plain: bool


def read_codebook(folder: Path, keyed: bool) -> ReadCodebook:
    """Read the published codebook; without labels if it cannot be read."""
    try:
        text = (folder / CODEBOOK).read_text(encoding="utf-8")
        labels = json.loads(text)["items"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ReadCodebook([], plain=False)
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        return ReadCodebook([], plain=False)
    # Compared as text: blanks, doubled keys and escapes could also tell something.
    expected = {"reading": READING, "keyed": keyed, "items": labels}
    return ReadCodebook(labels, text == json.dumps(expected, ensure_ascii=False))


def read_items(rows: pl.DataFrame, items: int) -> tuple[ReleasedRows | None, Finding]:
    """The rows by number, None if an item cannot be read, and whether the codebook has all."""
    lists = rows[ITEMS]
    if lists.dtype == pl.String:
        # A CSV file: "" is the row without items, which splits into one empty text.
        texts = (
            lists.fill_null("").str.split(" ").list.eval(pl.element().filter(pl.element() != ""))
        )
        lists = texts.list.eval(pl.element().cast(pl.Int64, strict=False))
    if not isinstance(lists.dtype, pl.List) or not lists.dtype.inner.is_integer():
        return None, _judge_items(rows.height, rows.height)
    held = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
    indptr = np.concatenate([[0], np.cumsum(held)]).astype(np.int64)
    # A missing list would explode to a null that is no item.
    values = lists.filter(lists.list.len() > 0).explode()
    item = values.cast(pl.Int64).fill_null(-1).to_numpy()
    row = np.repeat(np.arange(len(held)), held)
    odd = (item < 0) | (item >= items)
    # Strictly ascending within a row, so its order carries nothing and no item comes twice.
    odd[1:] |= (item[1:] <= item[:-1]) & (row[1:] == row[:-1])
    bad = len(np.unique(row[odd])) + lists.null_count()
    if bad:
        return None, _judge_items(bad, rows.height)
    return ReleasedRows(indptr, item, items), _judge_items(0, rows.height)


def _judge_items(bad: int, rows: int) -> Finding:
    detail = f"{bad} of {rows} rows have items that the codebook does not name once, in order"
    return Finding("readable items", bad == 0, detail)


def judge_codebook(
    book: ReadCodebook, rows: ReleasedRows, names: pl.Series, keyed: bool, secrets: Path
) -> tuple[pl.DataFrame, Finding]:
    """Number of each released item by its name in the source, and whether the codebook is true.

    It must name exactly the items that some row has, in the order of names, or of fresh keys where
    items are people: then the vault says whose key is whose, as a claim. That order must tell
    nothing of the names.
    """
    labels = book.labels
    unused = rows.number - len(np.unique(rows.items))
    ordered = all(a < b for a, b in pairwise(labels))
    own, odd, hits = pl.Series(labels, dtype=pl.String), 0, 0
    if keyed:
        claimed = _item_keys(secrets / ITEM_KEYS)
        odd = int((~own.str.contains(KEY_FORM)).sum())
        # A claim that gives one key to two items lengthens the join; then no item counts as known.
        joined = pl.DataFrame({KEY: own}).join(claimed, on=KEY, how="left", maintain_order="left")
        own = (
            joined[ITEM]
            if joined.height == len(own)
            else own.clear().extend_constant(None, len(own))
        )
        # Published in the order of keys. The rank by name is what that order must not follow.
        place = own.rank("ordinal").fill_null(0).to_numpy().astype(np.int64) - 1
        hits = max(int(right.sum()) for right in order_hits(place).values())
    known = pl.DataFrame({ITEM: own}).join(pl.DataFrame({ITEM: names}), on=ITEM)
    strays = len(own) - known.height
    twice = len(own) - own.n_unique()
    said = "nothing" if book.plain else "something"
    detail = (
        f"of {len(labels)} items {strays} are not in the source, {unused} are in no row, "
        f"{twice} occur twice, {odd} have no key of the stated form, and {hits} have the key that "
        f"the order of names suggests; the file says {said} else"
    )
    passed = ordered and book.plain and strays + unused + twice + odd == 0 and hits < BEYOND_CHANCE
    numbers = pl.DataFrame({ITEM: own, "number": np.arange(len(own), dtype=np.int64)})
    finding = Finding("codebook of the source", passed, detail)
    # A name with two numbers would double entries in later joins.
    return numbers.drop_nulls().unique(ITEM, keep="first"), finding


def _item_keys(path: Path) -> pl.DataFrame:
    schema: dict[str, Any] = {ITEM: pl.String, KEY: pl.String}
    try:
        with silence_panics():
            return pl.read_parquet(path, glob=False, schema=schema)
    except FOREIGN_ERRORS:
        return pl.DataFrame(schema=schema)
