"""A table's release beside all others of the same people, and what is left of the crowds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.attackers.intersection import ReleaseRows, crowds_left
from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import Classes, ReleasedCells
from crowdcover.kinds.table.layout import KEY
from crowdcover.kinds.table.pipeline.encode import load_encoded
from crowdcover.kinds.table.pipeline.kept_rows import text_rows
from crowdcover.storage.ledger.digests import match_people
from crowdcover.storage.ledger.identifier_spelling import spell_plainly
from crowdcover.storage.ledger.ledger import Ledger, Overlap
from crowdcover.storage.ledger.other_releases import build_incomparable_error, runs_of
from crowdcover.storage.vault.refusals import SecondReleaseError
from crowdcover.storage.vault.run import Run

_STAGES = ("ingest", "binarize", "anonymize")  # of which a release can be laid beside others


@dataclass(frozen=True)
class Side:
    """One of the releases: its people as coded for it, what they demand, and its rows.

    `source_row` counts from the source's last row, since another plan may read the first row as a
    header. It is None where the number of source rows is not known any more.
    """

    run: Run
    source_row: NDArray[np.int64] | None
    k: NDArray[np.int32]
    quasi: tuple[str, ...]
    classes: Classes
    carried: Mapping[str, pl.Series]

    @classmethod
    def of(cls, run: Run, rows: pl.DataFrame | None = None) -> "Side | None":
        """From the run's stages, or from these rows; None where a stage is missing."""
        ingested, binarized, anonymized = map(run.whole, _STAGES)
        if binarized is None or anonymized is None:
            return None
        table, row = load_encoded(binarized)
        source_row = None if ingested is None else ingested.shape[0] - 1 - row
        made = text_rows(anonymized)
        rows = made if rows is None else rows
        quasi = tuple(attribute.name for attribute in table.codebook.attributes)
        cells = [
            read_cells(a, rows[a.name].cast(pl.String).to_list()) for a in table.codebook.attributes
        ]
        classes = Classes.of(table.codes, ReleasedCells.of(cells))
        # a CSV file holds texts
        carried = {
            s.name: spell_plainly(rows[s.name].alias("").cast(s.dtype, strict=False))
            for s in made
            if s.name not in (KEY, *quasi)
        }
        return cls(run, source_row, table.k, quasi, classes, carried)


def intersect_releases(
    run: Run, ledger: Ledger, overlaps: Sequence[Overlap], rows: pl.DataFrame | None = None
) -> dict[str, int]:
    """How many people several releases show, and what is left of their crowds in each."""
    own, others = Side.of(run, rows), [Side.of(other) for other in runs_of(ledger, overlaps)]
    sides = [side for side in (own, *others) if side is not None]
    if own is None or len(sides) < 1 + len(others):
        raise build_incomparable_error(1 + len(others) - len(sides))
    _require_one_role(sides)
    record = np.stack(
        [np.arange(len(own.k)), *(_find_partners(ledger, own, other) for other in sides[1:])]
    )
    # int64 (releases, people): only people whom another release shows, too.
    record = record[:, (record[1:] >= 0).any(axis=0)]
    counts = {
        "overlapping": len(overlaps),
        "people": record.shape[1],
        "below_k": 0,
        "least_margin": 0,
    }
    if record.shape[1]:
        left = crowds_left(_number_carried_values(sides), record)
        there = record >= 0
        k = np.stack([side.k[at] for side, at in zip(sides, record, strict=True)])
        # A release without the person must not be the least.
        margin = np.where(there, left - k, np.iinfo(np.int64).max)
        counts |= {
            "below_k": int((margin < 0).any(axis=0).sum()),
            "least_margin": int(margin.min()),
        }
    return counts


def _require_one_role(sides: Sequence[Side]) -> None:
    """Refuse a quasi-identifier of one release that another release publishes unmasked."""
    known = {attribute for side in sides for attribute in side.quasi}
    if both := sorted(known & {name for side in sides for name in side.carried}):
        raise SecondReleaseError(
            f"{', '.join(map(repr, both))}: quasi-identifiers in one of the releases that show the "
            "same people, published unmasked in another, where anyone who knows them finds the "
            "row; give each column the same role, or drop it"
        )


def _find_partners(ledger: Ledger, own: Side, other: Side) -> NDArray[np.int64]:
    """Each record's record in the other release, -1 where there is none."""
    if own.run.source_sha256 != other.run.source_sha256:
        return match_people(ledger.people(own.run), ledger.people(other.run))
    if own.source_row is None or other.source_row is None:
        raise build_incomparable_error(1)
    # One source: its rows tell the people, without any identifier.
    place = np.full(int(max(own.source_row.max(), other.source_row.max())) + 1, -1, dtype=np.int64)
    place[other.source_row] = np.arange(len(other.source_row))
    return place[own.source_row]


def _number_carried_values(sides: Sequence[Side]) -> list[ReleaseRows]:
    """Number what the rows carry, one number for one value in all releases."""
    numbered: list[dict[str, NDArray[np.int64]]] = [{} for _ in sides]
    for name in dict.fromkeys(name for side in sides for name in side.carried):
        holders = [at for at, side in enumerate(sides) if name in side.carried]
        # Ranked in one column: only then does a number mean one value in all releases.
        texts = pl.concat([sides[at].carried[name].alias("") for at in holders])
        ranks = texts.rank("dense").fill_null(0).to_numpy().astype(np.int64)
        ends = np.cumsum([len(sides[at].carried[name]) for at in holders])
        for at, part in zip(holders, np.split(ranks, ends[:-1]), strict=True):
            numbered[at][name] = part
    return [
        ReleaseRows(side.classes, carried) for side, carried in zip(sides, numbered, strict=True)
    ]
