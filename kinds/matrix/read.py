"""From one reading of a source to users and the items that each holds, as texts."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from anon_core.errors import InputError
from kinds.matrix.layout import ITEM, RECORD
from kinds.matrix.plan import MatrixPlan
from tasks.source.reading import Reading
from tasks.source.values import attempt, printable, stored

UNREADABLE = "the source holds values that cannot be read as text; convert them"


@dataclass(frozen=True)
class Entries:
    """The entries of a sparse matrix by name.

    Attributes
    ----------
    pairs : DataFrame (record: UInt32, item: String)
        Each entry once. Records are numbered in the order in which the source names their users.
    records : int
        Number of records; some may hold no item.
    users : Series of String or None
        Name of each record's user, if the source has names.
    """

    pairs: pl.DataFrame = field(repr=False)
    records: int
    users: pl.Series | None = field(repr=False)


def read_entries(reading: Reading, plan: MatrixPlan) -> Entries:
    """Read users and items as the plan's layout says; the reading is closed.

    Refused: a row without a user, a user with two lists, a repeated entry unless the plan merges
    them, items that are named like users unless the plan says what they are.
    """
    frame = reading.columns(plan.names, plan.needed)
    reading.close()
    user = _texts(frame[plan.user], plan.source.missing)
    _refuse_absent(user, plan.user)
    if plan.layout == "lists":
        pairs = _of_lists(user, frame[plan.item], plan)
    else:
        item = _texts(frame[plan.item], plan.source.missing)
        pairs = pl.DataFrame({"user": user, ITEM: item})
        if plan.undirected:
            pairs = _both_ways(pairs)
    del frame
    users = (user if plan.layout == "lists" else pairs["user"]).unique(maintain_order=True)
    _refuse_unclear(users, pairs[ITEM], plan)
    number = pl.DataFrame(
        {"user": users, RECORD: pl.int_range(len(users), dtype=pl.UInt32, eager=True)}
    )
    numbered = pairs.join(number, on="user", how="left", maintain_order="left")
    held = numbered.select(RECORD, ITEM).filter(pl.col(ITEM).is_not_null())
    return Entries(_distinct(held, plan), len(users), users)


def _of_lists(user: pl.Series, lists: pl.Series, plan: MatrixPlan) -> pl.DataFrame:
    """One row an item; a user without items has none."""
    doubled = len(user) - user.n_unique()
    if doubled:
        raise InputError(
            f"{doubled} of {len(user)} rows are of a user who has another row; "
            "leave one row for each user, or use source.layout = 'edges'"
        )
    lists = stored(lists.alias(""))
    if plan.separator is not None:
        by = plan.separator
        lists = attempt(lambda: lists.cast(pl.String).str.split(by), UNREADABLE)
    if not isinstance(lists.dtype, pl.List):
        raise InputError(
            f"column {plan.item!r} holds no lists; state columns.separator if they are texts"
        )
    long = pl.DataFrame({"user": user, "list": lists}).explode("list")
    return pl.DataFrame(
        {"user": long["user"], ITEM: _texts(long["list"].alias(plan.item), plan.source.missing)}
    )


def _both_ways(pairs: pl.DataFrame) -> pl.DataFrame:
    """Each entry and its reverse; an entry of a user with itself stays one."""
    back = pairs.filter(pl.col(ITEM).is_not_null() & (pl.col("user") != pl.col(ITEM)))
    return pl.concat([pairs, back.select(user=ITEM, item="user")])


def _distinct(pairs: pl.DataFrame, plan: MatrixPlan) -> pl.DataFrame:
    once = pairs.unique(maintain_order=True)
    repeated = pairs.height - once.height
    if repeated and not plan.merge:
        raise InputError(
            f"{repeated} of {pairs.height} entries repeat a user and an item; "
            "clean the source, or state source.repeated = 'merge' to count them once"
        )
    if not once.height:
        raise InputError("the source has no entries: no user holds an item")
    return once


def _refuse_absent(user: pl.Series, name: str) -> None:
    absent = user.null_count()
    if absent:
        raise InputError(
            f"column {name!r}: {absent} of {len(user)} rows name no user; "
            "fill it in, or leave these rows out"
        )


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


def _texts(series: pl.Series, missing: Sequence[str]) -> pl.Series:
    """Values as texts without blanks around them; null where the source gives none."""
    values = stored(series.alias(""))
    if not printable(values.dtype):
        raise InputError(
            f"column {series.name!r} holds {values.dtype.base_type().__name__}; convert it"
        )
    absent = ["", *(text.strip() for text in missing)]

    def given() -> pl.Series:
        texts = values.cast(pl.String).str.strip_chars()
        return texts.set(texts.is_in(absent), None)

    return attempt(given, UNREADABLE)
