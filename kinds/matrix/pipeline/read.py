"""From one reading of a source to users and the items that each holds, as texts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from crowdcover.kinds.columns import (
    UNREADABLE_TEXT,
    Column,
    convert_to_texts,
    respell_identifiers,
    type_source_column,
)
from crowdcover.kinds.demands import Demands, read_demands
from crowdcover.kinds.matrix.layout import ITEM, RECORD
from crowdcover.kinds.matrix.plan.sections import MatrixPlan
from crowdcover.storage.ledger.identifier_spelling import normalize_spelling
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.values import call_or_refuse, unwrap_extension

NO_ENTRIES = "the source has no entries: no user holds an item"
NO_CSR = "the arrays of the source are no CSR matrix; write it anew"


@dataclass(frozen=True)
class Read:
    """A source as the plan's layout says.

    Attributes
    ----------
    records : int
        Number of records; some may hold no item.
    pairs : DataFrame (record: UInt32, item: String or Enum) or None
        Each entry once. Records are numbered in the order in which the source names their users.
    table : DataFrame or None
        In place of the pairs, typed columns that are to become items; one row a record.
    users, spelt : Series of String or None
        Name of each record's user, if the source has names: in its one spelling, and as the source
        spells it first.
    demands : DataFrame (name: String, k: Int64) or None
        If users have a k of their own; each user once, and others than those of the matrix.
    """

    records: int
    pairs: pl.DataFrame | None = field(default=None, repr=False)
    table: pl.DataFrame | None = field(default=None, repr=False)
    users: pl.Series | None = field(default=None, repr=False)
    spelt: pl.Series | None = field(default=None, repr=False)
    demands: pl.DataFrame | None = field(default=None, repr=False)


def read_source(reading: Reading, plan: MatrixPlan) -> Read:
    """Read users and items as the plan's layout says; the reading is closed.

    Refused: a row without a user, a user with two rows, a repeated entry unless the plan merges
    them, items that are named like users unless the plan says what they are.
    """
    demands = None
    if reading.beside is not None and isinstance(plan.k, Demands):
        demands = read_demands(reading.beside, plan.k, "user", plan.source.missing)
    if plan.layout == "csr":
        arrays = reading.arrays(plan.needed)
        reading.close()
        return _of_arrays(arrays, plan)
    frame = reading.columns(plan.names, plan.needed)
    reading.close()
    named = None if plan.user is None else _read_users(frame[plan.user], plan)
    user = None if named is None else named["name"]
    if plan.layout == "table":
        if user is not None:
            _refuse_doubled(user)
        table = _type_columns(frame, plan)
        if user is not None:
            for name in (spec.name for spec in plan.specs if not spec.is_counted):
                _refuse_unclear(user, table[name], plan)
        spelt = None if named is None else named["spelt"]
        return Read(frame.height, table=table, users=user, spelt=spelt, demands=demands)
    assert user is not None
    assert named is not None
    assert plan.item is not None
    if plan.layout == "lists":
        _refuse_doubled(user)
        pairs = _of_lists(user, frame[plan.item], plan)
    else:
        item = convert_to_texts(frame[plan.item], plan.source.missing)
        if plan.undirected:  # its items are users, too
            # `item` is null already where the plan says "missing", so no text is left to look for.
            named = pl.concat([named, respell_identifiers(item, ()).drop_nulls("name")])
            item = normalize_spelling(item)
        pairs = pl.DataFrame({"user": user, ITEM: item})
        pairs = _both_ways(pairs) if plan.undirected else pairs
    del frame
    # A user with an empty list has no entry, but a row of the source.
    users = (user if plan.layout == "lists" else pairs["user"]).unique(maintain_order=True)
    spelt = users.to_frame("name").join(
        named.unique("name", keep="first"), on="name", how="left", maintain_order="left"
    )["spelt"]
    _refuse_unclear(users, pairs[ITEM], plan)
    held = _number_entries(pairs.lazy(), users)
    del pairs
    pairs = _drop_repeated_entries(held, plan)
    return Read(len(users), pairs=pairs, users=users, spelt=spelt, demands=demands)


def _number_entries(pairs: pl.LazyFrame, users: pl.Series) -> pl.DataFrame:
    """Entries with the number of the user, and the item as a number that stands for its name.

    So an entry takes 8 bytes, however long the names are.
    """
    names = pairs.select(pl.col(ITEM).drop_nulls().unique().sort()).collect()[ITEM]
    number = pl.col("user").cast(pl.Enum(users)).to_physical().cast(pl.UInt32)
    held = pairs.filter(pl.col(ITEM).is_not_null())
    return held.select(number.alias(RECORD), pl.col(ITEM).cast(pl.Enum(names))).collect()


def _type_columns(frame: pl.DataFrame, plan: MatrixPlan) -> pl.DataFrame:
    """The columns that become items, each as its kind demands."""
    columns = [
        Column(name=spec.name, role="quasi", kind=spec.kind, spec=spec) for spec in plan.specs
    ]
    return pl.DataFrame(
        {c.name: type_source_column(frame, c, plan.source.missing) for c in columns}
    )


def _of_arrays(arrays: Mapping[str, NDArray[Any]], plan: MatrixPlan) -> Read:
    """The entries of a matrix of scipy.sparse; a column's number is the item's name."""
    held, indices, shape = _rows_of(arrays), arrays["indices"], arrays["shape"]
    rows = len(held)
    if rows < 2:
        raise InputError(f"the matrix has {rows} rows; at least 2 are required to hide anyone")
    if not len(indices):
        raise InputError(NO_ENTRIES)
    if ((indices < 0) | (indices >= shape[1])).any():
        raise InputError("the arrays of the source have items outside their shape; write them anew")
    if rows == int(shape[1]) and plan.keyed is None:
        raise InputError(
            f"the matrix is square, {rows} x {rows}. If items are people, state columns.keyed = "
            "true: they are then published under fresh keys; if not, columns.keyed = false"
        )
    if empty := int(np.count_nonzero(arrays["data"] == 0)):
        raise InputError(
            f"{empty} of {len(indices)} stored values are 0; call eliminate_zeros(): each stored "
            "value counts as an entry"
        )
    pairs = pl.DataFrame(
        {RECORD: np.repeat(np.arange(rows, dtype=np.uint32), held), ITEM: _name_columns(indices)}
    )
    # Record and item in one number; each is below 2^32.
    once = pairs[RECORD].cast(pl.UInt64) * 2**32 + pairs[ITEM].to_physical()
    repeated = int((once.sort().diff() == 0).sum())
    del once
    if repeated:
        raise InputError(
            f"{repeated} of {pairs.height} entries repeat a user and an item; "
            "call sum_duplicates() before the matrix is saved"
        )
    return Read(rows, pairs=pairs)


def _name_columns(indices: NDArray[Any]) -> pl.Series:
    """Numbers of columns as texts, an Enum: 4 bytes an entry."""
    used = np.unique(indices)
    names = pl.Series(used).cast(pl.String)
    # place[i]: where the i-th used column stands by name. As texts, 10 comes before 9.
    place = np.empty(len(used), dtype=np.uint32)
    place[names.arg_sort().to_numpy()] = np.arange(len(used), dtype=np.uint32)
    return pl.Series(place[np.searchsorted(used, indices)]).cat.to(pl.Enum(names.sort()))


def _rows_of(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
    """How many entries each row has; refused: arrays that are no CSR matrix."""
    if arrays["format"].tolist() not in ("csr", b"csr"):
        raise InputError("the arrays of the source are not in CSR form; write matrix.tocsr()")
    indptr, indices, shape = arrays["indptr"], arrays["indices"], arrays["shape"]
    numbers = all(each.dtype.kind in "iu" and each.ndim == 1 for each in (indptr, indices, shape))
    if (
        not numbers
        or len(shape) != 2
        or int(shape.min()) < 0
        or len(indptr) != int(shape[0]) + 1
        or (int(indptr[0]), int(indptr[-1])) != (0, len(indices))
        or arrays["data"].shape != indices.shape
        or arrays["data"].dtype.kind not in "biufc"
    ):
        raise InputError(NO_CSR)
    # Signed first: a difference of unsigned numbers would wrap instead of falling below 0.
    # Both ends are right by now. If no difference is below 0, every row lies inside `indices`.
    held = indptr[1:].astype(np.int64) - indptr[:-1].astype(np.int64)
    if (held < 0).any():
        raise InputError(NO_CSR)
    return held


def _read_users(series: pl.Series, plan: MatrixPlan) -> pl.DataFrame:
    """The user of each row; see `respell_identifiers`."""
    named = respell_identifiers(series, plan.source.missing)
    absent = named["name"].null_count()
    if absent:
        raise InputError(
            f"column {series.name!r}: {absent} of {named.height} rows name no user; "
            "fill it in, or leave these rows out"
        )
    return named


def _refuse_doubled(user: pl.Series) -> None:
    doubled = len(user) - user.n_unique()
    if doubled:
        raise InputError(
            f"{doubled} of {len(user)} rows are of a user who has another row; "
            "leave one row for each user, or use source.layout = 'edges'"
        )


def _of_lists(user: pl.Series, lists: pl.Series, plan: MatrixPlan) -> pl.DataFrame:
    """One row an item; a user without items has none."""
    name, lists = lists.name, unwrap_extension(lists.alias(""))
    if plan.separator is not None:
        by = plan.separator
        lists = call_or_refuse(lambda: lists.cast(pl.String).str.split(by), UNREADABLE_TEXT)
    if not isinstance(lists.dtype, pl.List):
        raise InputError(
            f"column {name!r} holds no lists; state columns.separator if they are texts"
        )
    long = pl.DataFrame({"user": user, "list": lists}).explode("list")
    return pl.DataFrame(
        {
            "user": long["user"],
            ITEM: convert_to_texts(long["list"].alias(name), plan.source.missing),
        }
    )


def _both_ways(pairs: pl.DataFrame) -> pl.DataFrame:
    """Each entry and its reverse; an entry of a user with itself stays one."""
    back = pairs.filter(pl.col(ITEM).is_not_null() & (pl.col("user") != pl.col(ITEM)))
    return pl.concat([pairs, back.select(user=ITEM, item="user")])


def _drop_repeated_entries(pairs: pl.DataFrame, plan: MatrixPlan) -> pl.DataFrame:
    if not pairs.height:
        raise InputError(NO_ENTRIES)
    once = pairs.sort(RECORD, ITEM)
    first = (pl.col(RECORD) != pl.col(RECORD).shift()) | (pl.col(ITEM) != pl.col(ITEM).shift())
    # Comparing the first row with nothing gives null, and it is no repetition.
    once = once.filter(first.fill_null(value=True))
    repeated = pairs.height - once.height
    if repeated and not plan.merge:
        raise InputError(
            f"{repeated} of {pairs.height} entries repeat a user and an item; "
            "clean the source, or state source.repeated = 'merge' to count them once"
        )
    return once


def _refuse_unclear(users: pl.Series, items: pl.Series, plan: MatrixPlan) -> None:
    """Refuse items that are named like users, where the plan does not say what they are."""
    if plan.keyed is not None:
        return
    named = items.drop_nulls().unique()
    both = int(named.is_in(users.implode()).sum())
    if both:
        raise InputError(
            f"{both} of {len(named)} items have the name of a user. If items are people, state "
            "columns.keyed = true: they are then published under fresh keys. If the names only "
            "look alike, such as numbers of two lists, state columns.keyed = false"
        )
