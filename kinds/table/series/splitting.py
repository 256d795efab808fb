"""Who stays, who is withdrawn, and who is in the batch of a new version.

A row stays as long as its record is in the source with the same values and its crowd holds. The
batch is everybody else: new records, records with other values, and records that were pulled along
so that those who go and those who stay hide among each other (docs/theory.md, Series).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.tables.pasts import MOST_WAYS, Pasts
from crowdcover.kinds.plan.series import Following
from crowdcover.kinds.table.layout import TABLE
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.kinds.table.profile import build_table_profile
from crowdcover.kinds.table.report.series_words import describe_movements, list_change_warnings
from crowdcover.kinds.table.series.changes import count_changed_records, describe_telling_columns
from crowdcover.kinds.table.series.earlier import Earlier
from crowdcover.kinds.table.series.linking import Linking
from crowdcover.kinds.table.series.present import Present, is_among, read_present_records
from crowdcover.kinds.table.series.returning import Returning
from crowdcover.kinds.table.series.widening import find_gone_rows
from crowdcover.kinds.table.version_files import (
    BATCH,
    CHAIN,
    CONSTANT,
    DEMANDED_K,
    DIED,
    HELD,
    JOINED,
    MEMBERS,
    OWNER,
    PASTS,
    PERSON,
    RECORD_DIGEST,
    ROW_KEY,
    ROWS,
    VALUES,
)
from crowdcover.kinds.versions import Before, KnownPeople
from crowdcover.storage.source.reading import Reading

ROOM = 3  # times the greatest k: people in a batch, where enough can be pulled along


def divide_version(
    plan: TablePlan,
    following: Following,
    reading: Reading,
    before: Before | None,
    asked: KnownPeople,
    folder: Path,
) -> Mapping[str, Any]:
    """See `Versions.split`."""
    key, withdrawn = asked.key, asked.withdrawn
    earlier = Earlier.of(before, following.record, asked.held)
    found = read_present_records(plan, following, reading, key, earlier.form)
    _require_types(earlier, found)
    source_rows = found.table.height
    found = found.only(np.flatnonzero(~is_among(found.known[OWNER], withdrawn)))
    found.table.write_parquet(folder / TABLE)
    _require_constant(earlier, found, following)
    linking = Linking.of(earlier) if following.constant else None
    going = _find_going_rows(earlier, found, withdrawn, append=following.record is None)
    parts = _divide_people(earlier, found, going, Returning(plan, following, asked), linking)
    parts.write(folder)
    counts = {
        "source_rows": source_rows,
        **_count_people(parts, earlier, found, going, following, asked),
    }
    if following.record is not None:
        counts["changed_by"] = count_changed_records(plan, earlier.members, found, going)
    return {
        "shape": [parts.batch.raw.height, parts.batch.raw.width],
        "source_columns": len(plan.columns),
        "profile": build_table_profile(found.table, plan.columns),
        "counts": counts,
        "notes": [
            *describe_movements(counts),
            *list_change_warnings(counts),
            *(describe_telling_columns(plan, found.table) if before is None else ()),
        ],
    }


def _count_people(
    parts: "SplitVersion",
    earlier: Earlier,
    found: Present,
    going: NDArray[np.bool_],
    following: Following,
    asked: KnownPeople,
) -> dict[str, Any]:
    """The counts of a version: who came, who went, who waits, and why."""
    members = earlier.members
    erased = is_among(members[OWNER], asked.withdrawn)
    left = going
    if following.record is not None:
        left = (
            going & ~members[RECORD_DIGEST].is_in(found.known[RECORD_DIGEST].implode()).to_numpy()
        )
    counts: dict[str, Any] = {
        "frozen": parts.members.height,
        "new": int(parts.new.sum()),
        "changed": int((going & ~left).sum()) if following.record else 0,
        "pulled": int((parts.gone & ~going).sum()),
        "left": int((left & ~erased).sum()),
        "withdrawn": int(erased.sum()),
        "batch": parts.batch.raw.height,
        "reissued": parts.reissued,
        "returned": parts.returned,
        "held_back": parts.held_back,
        "held_by_history": parts.short,
    }
    if following.record is None:
        return {**counts, "waited": parts.waited}
    return {**counts, "followed": int((~left).sum())}


@dataclass(frozen=True)
class SplitVersion:
    """A version split: everybody is in one part.

    `gone` bool (members,) says of each earlier member whether the row is withdrawn; `new`
    bool (batch,) of each record of the batch whether it never had a row and did not wait. `waited`
    records of the batch waited, `reissued` had a row in the version before, `returned` in an
    earlier one only. `held_back` records wait, `short` of them since they would have too few
    histories. `cramped` lost a row and cannot hide, since the batch is too small. `pasts` are those
    of the batch, where rows are linked. `held` are records that wait, with their values.
    """

    rows: pl.DataFrame
    members: pl.DataFrame
    gone: NDArray[np.bool_]
    batch: Present
    joined: pl.DataFrame
    pasts: Pasts | None
    new: NDArray[np.bool_]
    reissued: int
    returned: int
    held_back: int
    short: int
    cramped: int
    waited: int
    held: pl.DataFrame | None

    def write(self, folder: Path) -> None:
        """Store them."""
        self.rows.write_parquet(folder / ROWS)
        self.members.write_parquet(folder / MEMBERS)
        self.batch.raw.write_parquet(folder / BATCH)
        self.joined.write_parquet(folder / JOINED)
        if self.held is not None:
            self.held.write_parquet(folder / HELD)
        if self.pasts is not None and len(self.pasts.values):
            np.savez(
                folder / PASTS, value=self.pasts.value, start=self.pasts.start,
                values=self.pasts.values, ways=self.pasts.ways,
            )  # fmt: skip


def _find_going_rows(
    earlier: Earlier, found: Present, withdrawn: frozenset[bytes], *, append: bool
) -> NDArray[np.bool_]:
    """Whether each member's row must go: the record left, was withdrawn, or has other values."""
    members = earlier.members
    going = is_among(members[OWNER], withdrawn)
    if append or not members.height:
        return going
    now = found.known.select(RECORD_DIGEST, pl.col(VALUES).alias("now"))
    values = members.join(now, on=RECORD_DIGEST, how="left", maintain_order="left")
    same = (values[VALUES] == values["now"]).fill_null(value=False).to_numpy()
    return np.asarray(going | ~same, dtype=np.bool_)


def _divide_people(
    earlier: Earlier,
    found: Present,
    going: NDArray[np.bool_],
    returning: Returning,
    linking: Linking | None,
) -> SplitVersion:
    """Withdraw rows, and more rows, until the records that are in the batch can hide there.

    Where rows are withdrawn, the batch gets room: in a batch of hardly k people all would look
    alike, and a level that is to be of k people might have none. A record that waits since it would
    have too few histories does not ask for more room: a larger batch seldom helps.
    """
    k = int(np.concatenate([found.k, earlier.rows[DEMANDED_K].to_numpy()]).max(initial=0))
    for least in _list_steps(k, earlier.members.height):
        gone = find_gone_rows(earlier, going, least if going.any() else 0, linking)
        parts = _build_parts(earlier, found, gone, returning, linking)
        small = parts.batch.raw.height < ROOM * k and least < ROOM * k
        if not gone.any() or not (small or parts.cramped or not parts.batch.raw.height):
            break
    return parts


def _list_steps(k: int, members: int) -> list[int]:
    """How many others are withdrawn at least, step by step, for records that cannot hide yet."""
    steps = [0, k]
    # People may own several records each, so that 3 k records are fewer than k people.
    while 0 < steps[-1] * ROOM < members:
        steps.append(steps[-1] * ROOM)
    # Every member goes in the last step, which is always an answer.
    return [*steps, max(1, members)]


def _build_parts(
    earlier: Earlier,
    found: Present,
    gone: NDArray[np.bool_],
    returning: Returning,
    linking: Linking | None,
) -> SplitVersion:
    """The parts if these rows are withdrawn."""
    members, out = (earlier.members.filter(pl.Series(each)) for each in (~gone, gone))
    candidates, joined = returning(earlier, found, members, out)
    dies = earlier.rows[ROW_KEY].is_in(out[ROW_KEY].implode())
    pasts = None
    if linking is not None:
        pasts = linking.pasts(linking.count(dies.to_numpy()), joined)
    waits = joined[CHAIN].is_in(sorted(returning.asked.waiting)).to_numpy()
    person = joined[PERSON].to_numpy()
    may = candidates.stays & ~waits  # bool (candidates,)
    hides, short = _find_hiding(candidates.k, may, person, pasts)
    short |= waits & candidates.stays
    order = np.flatnonzero(hides)
    batch = joined[order]
    waited = batch[CHAIN].is_in(earlier.held[CHAIN].implode())
    had = joined[CHAIN].is_in(earlier.had[CHAIN].implode()).to_numpy()
    lost = joined[CHAIN].is_in(out[CHAIN].implode()).to_numpy()
    died = pl.when(dies).then(earlier.number + 1).otherwise(pl.col(DIED)).alias(DIED)
    return SplitVersion(
        earlier.rows.drop(RECORD_DIGEST).with_columns(died),
        members,
        gone,
        candidates.only(order),
        batch,
        None if pasts is None else pasts.at(order),
        ~had[order] & ~waited.to_numpy(),
        int((hides & lost).sum()),
        int((hides & had & ~lost).sum()),
        int((~hides & candidates.stays).sum()),
        int(short.sum()),
        int((~hides & lost & candidates.stays & ~short).sum()),
        int(waited.sum()),
        returning.held(candidates, joined, np.flatnonzero(~hides & candidates.stays)),
    )


def _find_hiding(
    k: NDArray[np.int32],
    may: NDArray[np.bool_],
    person: NDArray[np.int64],
    pasts: Pasts | None,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which records can hide in the batch, and which of the others wait for want of histories.

    At least k people are in the batch, and k histories are left even if the whole batch were one
    crowd. All records of a person wait together.
    """
    hides, short = may.copy(), np.zeros(len(may), dtype=np.bool_)
    while True:
        beyond = hides & (k > len(np.unique(person[hides])))  # k counts people
        if not beyond.any() and pasts is not None:
            beyond = hides & (_count_at_most(pasts, hides) < k)
            short |= beyond
        if not beyond.any():
            return hides, short
        # `hides` only shrinks, so this ends. Each record that waits may leave others too few.
        hides &= ~np.isin(person, person[beyond])


def _count_at_most(pasts: Pasts, hides: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Histories of each record if everybody in the batch were in its crowd, int64 (n,)."""
    people = np.bincount(pasts.value[hides], minlength=int(pasts.values.max(initial=0)) + 1)
    ways = pasts.ways * people[pasts.values]  # below 2^63: ways <= MOST_WAYS, people < 2^32
    total = np.bincount(pasts.record, ways.astype(np.float64), len(hides))
    fresh = np.diff(pasts.start) == 0  # no row before: each row leaves one history
    return np.where(fresh, int(hides.sum()), np.minimum(total, MOST_WAYS)).astype(np.int64)


def _require_types(earlier: Earlier, found: Present) -> None:
    """Refuse a source whose columns have other types than in the versions before."""
    known = earlier.members, earlier.held
    other = [
        name
        for name, dtype in found.raw.schema.items()
        if {dtype} != {dtype, *(frame.schema.get(name, dtype) for frame in known)}
    ]
    if other:
        raise InputError(
            f"{', '.join(map(repr, other))}: other types than in the versions before, so rows "
            "could not stay as they are; give the columns their former types"
        )


def _require_constant(earlier: Earlier, found: Present, following: Following) -> None:
    """Refuse a record whose value changed in a column that was said never to change."""
    if not (following.constant and following.record and earlier.rows.height):
        return
    shown = earlier.rows.select(RECORD_DIGEST, CONSTANT).unique(RECORD_DIGEST, keep="last")
    both = shown.join(
        found.known.select(RECORD_DIGEST, pl.col(CONSTANT).alias("now")), on=RECORD_DIGEST
    )
    other = both.filter(pl.col(CONSTANT) != pl.col("now")).height
    if other:
        names = ", ".join(map(repr, following.constant))
        raise InputError(
            f"{other} records have another value in {names} than in an earlier version; "
            "series.constant says that this never happens: correct the source, or take the column "
            "out of series.constant in a new series"
        )
