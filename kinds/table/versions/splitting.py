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
from anon_core.series.withdrawing import pulled
from kinds.table.layout import TABLE
from kinds.table.plan import TablePlan
from kinds.table.profile import remembered
from kinds.table.version_files import (
    BATCH,
    BORN,
    CHAIN,
    CONSTANT,
    DIED,
    HELD,
    JOINED,
    KEY,
    MEMBERS,
    OWNER,
    PERSON,
    RECORD,
    ROWS,
    VALUES,
    WAITING,
    K,
)
from kinds.table.versions.appending import IDENTITY
from kinds.table.versions.changes import changed_by, telling
from kinds.table.versions.earlier import Earlier
from kinds.table.versions.present import Present, among, present
from kinds.table.versions.returning import Returning
from kinds.table.versions.words import changing
from kinds.versions import Asked, Before, Following
from tasks.source.reading import Reading

ROOM = 3  # times the greatest k: people in a batch, where enough can be pulled along


def split(
    plan: TablePlan,
    following: Following,
    reading: Reading,
    before: Before | None,
    asked: Asked,
    folder: Path,
) -> Mapping[str, Any]:
    """See `Versions.split`."""
    key, withdrawn = asked.key, asked.withdrawn
    earlier = Earlier.of(before, asked.held)
    found = present(plan, following, reading, key)
    _require_types(earlier, found)
    source_rows = found.table.height
    asked_for = among(found.known[OWNER], withdrawn)
    found = found.only(np.flatnonzero(~asked_for))
    found.table.write_parquet(folder / TABLE)
    _require_constant(earlier, found, following)
    going = _going(earlier, found, withdrawn, append=following.record is None)
    parts = _parted(earlier, found, going, Returning(plan, following, asked))
    parts.write(folder)
    members = earlier.members
    erased = among(members[OWNER], withdrawn) if before is not None else np.zeros(0, dtype=np.bool_)
    gone = going
    if following.record is not None:
        gone = going & ~members[RECORD].is_in(found.known[RECORD].implode()).to_numpy()
    counts: dict[str, Any] = {
        "source_rows": source_rows,
        "frozen": parts.members.height,
        "new": int(parts.new.sum()),
        "changed": int((going & ~gone).sum()) if following.record else 0,
        "pulled": int((parts.gone & ~going).sum()),
        "left": int((gone & ~erased).sum()),
        "withdrawn": int(erased.sum()),
        "batch": parts.batch.raw.height,
        "held_back": parts.held_back,
        **({"waited": parts.waited} if following.record is None else {}),
    }
    if following.record is not None:
        counts["followed"] = int((~gone).sum())
        counts["changed_by"] = changed_by(plan, members, found, going)
    return {
        "shape": [parts.batch.raw.height, parts.batch.raw.width],
        "source_columns": len(plan.columns),
        "profile": remembered(found.table, plan.columns),
        "counts": counts,
        "notes": [
            _note(counts),
            *changing(counts),
            *(telling(plan, found.table) if before is None else ()),
        ],
    }


@dataclass(frozen=True)
class Parts:
    """A version split: everybody is in one part.

    `gone` bool (members,) says of each earlier member whether the row is withdrawn; `new`
    bool (batch,) of each record of the batch whether it never had a row and did not wait, and
    `waited` how many of the batch waited. `held` are records that wait, with their values.
    """

    rows: pl.DataFrame
    members: pl.DataFrame
    waiting: pl.DataFrame
    gone: NDArray[np.bool_]
    batch: Present
    joined: pl.DataFrame
    new: NDArray[np.bool_]
    held_back: int
    waited: int
    held: pl.DataFrame | None

    def write(self, folder: Path) -> None:
        """Store them."""
        self.rows.write_parquet(folder / ROWS)
        self.members.write_parquet(folder / MEMBERS)
        self.waiting.write_parquet(folder / WAITING)
        self.batch.raw.write_parquet(folder / BATCH)
        self.joined.write_parquet(folder / JOINED)
        if self.held is not None:
            self.held.write_parquet(folder / HELD)


def _going(
    earlier: Earlier, found: Present, withdrawn: frozenset[bytes], *, append: bool
) -> NDArray[np.bool_]:
    """Whether each member's row must go: the record left, was withdrawn, or has other values."""
    members = earlier.members
    going = among(members[OWNER], withdrawn)
    if append or not members.height:
        return going
    now = found.known.select(RECORD, pl.col(VALUES).alias("now"))
    values = members.join(now, on=RECORD, how="left", maintain_order="left")
    same = (values[VALUES] == values["now"]).fill_null(value=False).to_numpy()
    return np.asarray(going | ~same, dtype=np.bool_)


def _parted(
    earlier: Earlier, found: Present, going: NDArray[np.bool_], returning: Returning
) -> Parts:
    """Pull along who must be, until those who are in the batch can hide there.

    Where rows are withdrawn, the batch has room: in one of hardly k people all would look alike,
    and a level that is to be of k people might have none.
    """
    k = int(np.concatenate([found.k, earlier.rows[K].to_numpy()]).max(initial=0))
    for least in (0, k, ROOM * k, max(1, earlier.members.height)):
        gone = _gone(earlier, going, least if going.any() else 0)
        parts = _with(earlier, found, gone, returning)
        if not gone.any():
            break
        stuck = not parts.batch.raw.height or _had_rows(parts, earlier, gone)
        small = parts.batch.raw.height < ROOM * k and least < ROOM * k
        if not (stuck or small):
            break
    return parts


def _had_rows(parts: Parts, earlier: Earlier, gone: NDArray[np.bool_]) -> bool:
    """Whether somebody lost a row, is still in the source and has no new row."""
    back = parts.waiting.join(earlier.members.filter(pl.Series(gone)), on=CHAIN, how="semi")
    return back.height > 0


def _gone(earlier: Earlier, going: NDArray[np.bool_], least: int) -> NDArray[np.bool_]:
    """Whose row is withdrawn, batch by batch."""
    gone = going.copy()
    members = earlier.members
    alive = members.join(earlier.rows, on=KEY, how="left", maintain_order="left")
    for born in alive[BORN].unique().sort().to_list():
        of_batch = (alive[BORN] == born).to_numpy()
        if not (going[of_batch].any() or least):
            continue
        everyone = earlier.rows.filter(pl.col(BORN) == born)
        here = everyone[DIED].is_null().to_numpy()
        place = {key: at for at, key in enumerate(everyone[KEY].filter(pl.Series(here)).to_list())}
        at = np.array([place[key] for key in alive[KEY].filter(pl.Series(of_batch)).to_list()])
        must = np.zeros(len(at), dtype=np.bool_)
        must[at] = going[of_batch]
        k, person = (everyone[name].to_numpy()[here] for name in (K, PERSON))
        out = pulled(earlier.fits(born).among(here), k, must, person, least=least)
        gone[of_batch] = out[at]
    return gone


def _with(earlier: Earlier, found: Present, gone: NDArray[np.bool_], returning: Returning) -> Parts:
    """The parts if these rows are withdrawn."""
    members, out = (earlier.members.filter(pl.Series(each)) for each in (~gone, gone))
    candidates, joined = returning(earlier, found, members, out)
    may = candidates.stays & ~joined[CHAIN].is_in(sorted(returning.asked.waiting)).to_numpy()
    hides = _hides(candidates, may, joined[PERSON].to_numpy())
    order = np.flatnonzero(hides)
    had, batch = earlier.had, joined[order]
    waited = batch[CHAIN].is_in(earlier.held[CHAIN].implode())
    waits = joined.filter(pl.Series(~hides)).join(had, on=CHAIN, how="semi")
    rows = earlier.rows
    if rows.height:
        dies = rows[KEY].is_in(out[KEY].implode())
        rows = rows.with_columns(
            pl.when(dies).then(earlier.number + 1).otherwise(pl.col(DIED)).alias(DIED)
        )
    return Parts(
        rows,
        members,
        waits.select(IDENTITY),
        gone,
        candidates.only(order),
        batch,
        ~(batch[CHAIN].is_in(had[CHAIN].implode()) | waited).to_numpy(),
        int((~hides & candidates.stays).sum()),
        int(waited.sum()),
        returning.held(candidates, joined, np.flatnonzero(~hides & candidates.stays)),
    )


def _hides(
    candidates: Present, may: NDArray[np.bool_], person: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Who can hide in the batch: at least k people are in it. Whoever cannot waits."""
    hides = may.copy()
    while True:
        people = len(np.unique(person[hides]))
        beyond = hides & (candidates.k > people)
        if not beyond.any():
            return hides
        hides &= ~np.isin(person, person[beyond])


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
    shown = earlier.members.join(earlier.rows.select(KEY, CONSTANT), on=KEY)
    both = shown.join(found.known.select(RECORD, pl.col(CONSTANT).alias("now")), on=RECORD)
    other = both.filter(pl.col(CONSTANT) != pl.col("now")).height
    if other:
        names = ", ".join(map(repr, following.constant))
        raise InputError(
            f"{other} records have another value in {names} than in the version before; "
            "series.constant says that this never happens: correct the source, or take the column "
            "out of series.constant in a new series"
        )


def _note(counts: Mapping[str, Any]) -> str:
    return (
        f"{counts['frozen']} rows stay; {counts['batch']} are new: {counts['new']} of new records, "
        f"{counts['changed']} changed, {counts['pulled']} pulled along; "
        f"{counts['left']} left, {counts['withdrawn']} were withdrawn, "
        f"{counts['held_back']} wait"
    )
