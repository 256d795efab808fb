"""Who may be in the batch of a new version, with chain and person of each."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.kinds.plan.series import Following
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.kinds.table.series.appending import IDENTITY, back_again, to_hold
from crowdcover.kinds.table.series.earlier import Earlier
from crowdcover.kinds.table.series.present import Present, is_among, present_of
from crowdcover.kinds.table.version_files import CHAIN, OWNER, PERSON, RECORD_DIGEST
from crowdcover.kinds.versions import KnownPeople


@dataclass(frozen=True)
class Returning:
    """Finds the people who may be in the batch: those of the source who keep no row.

    Where no column names records, rows of earlier versions are in no later source: those who are
    pulled along come from what the vault keeps of them.
    """

    plan: TablePlan
    following: Following
    asked: KnownPeople

    def __call__(
        self, earlier: Earlier, found: Present, members: pl.DataFrame, out: pl.DataFrame
    ) -> tuple[Present, pl.DataFrame]:
        """The candidates, with chain and person of each; `members` keep a row, `out` do not."""
        if self.following.record is not None:
            keep = is_among(found.known[RECORD_DIGEST], frozenset(members[RECORD_DIGEST].to_list()))
            # by digest: the order of the source is nobody's business
            order = found.known[RECORD_DIGEST].arg_sort().to_numpy().astype(np.int64)
            candidates = found.only(order[~keep[order]])
            chains = candidates.known.join(
                earlier.had, on=RECORD_DIGEST, how="left", maintain_order="left"
            )[CHAIN]
        else:
            # No later source holds records of earlier ones: they come from the vault, or are lost.
            back = back_again(self.plan, self.asked.withdrawn, out, earlier.held)
            candidates, chains = found, pl.Series([None] * found.table.height, dtype=pl.Int64)
            if back.height:
                raw = back.select(self.plan.needed)
                candidates = found.also(
                    present_of(self.plan, self.following, raw, self.asked.key, earlier.form)
                )
                chains = pl.concat([chains, back[CHAIN]])
        chains = _fill_in_numbers(chains, _find_next_number(earlier, CHAIN)).alias(CHAIN)
        return candidates, self._people(earlier, candidates.known.with_columns(chains))

    def held(
        self, candidates: Present, joined: pl.DataFrame, waits: NDArray[np.int64]
    ) -> pl.DataFrame | None:
        """Those who wait, with their values; None where the next source has them, too."""
        if self.following.record is not None:
            return None
        return to_hold(self.plan, candidates.only(waits), joined[waits])

    def _people(self, earlier: Earlier, known: pl.DataFrame) -> pl.DataFrame:
        """Number the persons: as before, or anew."""
        if self.following.owner in (None, self.following.record):
            return known.with_columns(pl.col(CHAIN).alias(PERSON))
        # A person keeps one number over rows and waiting records, or would count twice in a crowd.
        had = pl.concat([earlier.members.select(IDENTITY), earlier.held.select(IDENTITY)])
        persons = had.select(OWNER, PERSON).unique(OWNER, keep="first", maintain_order=True)
        known = known.join(persons, on=OWNER, how="left", maintain_order="left")
        # Sorted by digest, so that new numbers tell nothing of the source's order.
        fresh = known.filter(pl.col(PERSON).is_null())[OWNER].unique().sort()
        first = _find_next_number(earlier, PERSON)
        numbers = pl.DataFrame(
            {OWNER: fresh, "new": np.arange(first, first + len(fresh), dtype=np.int64)}
        )
        known = known.join(numbers, on=OWNER, how="left", maintain_order="left")
        return known.with_columns(pl.coalesce(PERSON, "new").alias(PERSON)).drop("new")


def _fill_in_numbers(known: pl.Series, first: int) -> pl.Series:
    """Fill in numbers from `first` on."""
    absent = known.is_null().to_numpy()
    numbers = known.fill_null(0).to_numpy().copy()
    numbers[absent] = np.arange(first, first + absent.sum())
    return pl.Series(numbers, dtype=pl.Int64)


def _find_next_number(earlier: Earlier, name: str) -> int:
    """The next free number of a chain or a person; numbers are never used again."""
    # Records that wait have numbers, and perhaps no row yet.
    used = np.concatenate([frame[name].to_numpy() for frame in (earlier.rows, earlier.held)])
    return int(used.max(initial=-1)) + 1
