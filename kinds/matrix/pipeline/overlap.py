"""A matrix's release beside all others of the same users: who stays alike in all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.matrix.intersection import count_alike_users
from crowdcover.kinds.matrix.layout import BY_ROW, DEMAND, ITEMS, KEY, MATCHING, PARQUET, RECORD
from crowdcover.kinds.matrix.pipeline.rows import flatten_rows
from crowdcover.storage.ledger.digests import COLUMN, COLUMNS, match_people
from crowdcover.storage.ledger.ledger import Ledger, Overlap
from crowdcover.storage.ledger.other_releases import build_incomparable_error, runs_of
from crowdcover.storage.vault.run import Run

_STAGES = ("ingest", "encode", "anonymize")  # of which a release can be laid beside others


@dataclass(frozen=True)
class Side:
    """One of the releases: what its users demand, and the class of each.

    `by_row`: a row of the source is a record. Then records count from the source's last row, since
    another plan may read the first one as a header.
    """

    run: Run
    by_row: bool
    k: NDArray[np.int32] = field(repr=False)
    class_of: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, run: Run, rows: pl.DataFrame | None = None) -> "Side | None":
        """From the run's stages, or from these rows; None where a stage or a row is missing."""
        ingested, encoded, anonymized = map(run.whole, _STAGES)
        if ingested is None or encoded is None or anonymized is None:
            return None
        if rows is None:
            rows = pl.read_parquet(anonymized.file(PARQUET), glob=False)
        # Rows with equal items get one rank: their class. Rows without an item are a class, too.
        content = flatten_rows(rows)[ITEMS].fill_null("").rank("dense").cast(pl.Int64)
        # Each key once, since a repeated one would multiply rows in the join.
        classes = pl.DataFrame({KEY: rows[KEY], "class": content}).unique(KEY, keep="first")
        seats = pl.read_parquet(anonymized.file(MATCHING), glob=False).sort(RECORD)
        found = seats.join(classes, on=KEY, how="left", maintain_order="left")["class"]
        if found.null_count():
            return None
        by_row = bool(ingested.facts.get(BY_ROW))
        return cls(run, by_row, np.load(ingested.file(DEMAND)), found.to_numpy())


def intersect_releases(
    run: Run, ledger: Ledger, overlaps: Sequence[Overlap], rows: pl.DataFrame | None = None
) -> dict[str, int]:
    """How many users several releases show, and how many of them fewer than k users resemble."""
    own, others = Side.of(run, rows), [Side.of(other) for other in runs_of(ledger, overlaps)]
    sides = [side for side in others if side is not None]
    if own is None or len(sides) < len(others):
        raise build_incomparable_error(len(others) - len(sides) + (own is None))
    # (releases, n): the number of each of our records in each release, ours first; -1: not there.
    record = np.stack(
        [np.arange(len(own.k)), *(_find_partners(ledger, own, side) for side in sides)]
    )
    there = record >= 0
    several = there[1:].any(axis=0)
    counts = {"overlapping": len(overlaps), "people": int(several.sum())}
    if not several.any():
        return {**counts, "below_k": 0, "least_margin": 0}
    both = list(zip((own, *sides), record, there, strict=True))
    # An index of -1 takes the last record. `where` discards what it finds.
    left = count_alike_users(
        np.stack([np.where(shown, side.class_of[at], -1) for side, at, shown in both])
    )
    # The greatest demand counts: beside the others, each release must still keep its promise.
    k = np.stack([np.where(shown, side.k[at], 0) for side, at, shown in both]).max(axis=0)
    margin = (left - k)[several]
    return {**counts, "below_k": int((margin < 0).sum()), "least_margin": int(margin.min())}


def _find_partners(ledger: Ledger, own: Side, other: Side) -> NDArray[np.int64]:
    """Each record's record in the other release, -1 where there is none.

    Refused: one source, read in two ways that name no common users.
    """
    ours, theirs = ledger.people(own.run), ledger.people(other.run)
    if own.run.source_sha256 != other.run.source_sha256:
        return match_people(ours, theirs)
    if own.by_row and other.by_row:
        # One content, so the last rows agree; the first may be a header to one of the plans.
        place = np.arange(len(own.k)) + len(other.k) - len(own.k)
        return np.where(place < 0, -1, place)
    if any(kind.startswith((COLUMN, COLUMNS)) for kind in ours.digests.keys() & theirs.digests):
        return match_people(ours, theirs)
    raise build_incomparable_error(1)
