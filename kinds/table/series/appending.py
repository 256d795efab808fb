"""Versions whose sources have new records only: the vault keeps the values of records that wait."""

import polars as pl

from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.kinds.table.series.present import Present, is_among
from crowdcover.kinds.table.version_files import CHAIN, HELD, OWNER, PERSON, RECORD_DIGEST
from crowdcover.storage.vault.run import Stored

IDENTITY = [CHAIN, PERSON, RECORD_DIGEST, OWNER]
NO_RECORDS = pl.DataFrame(
    schema={CHAIN: pl.Int64, PERSON: pl.Int64, RECORD_DIGEST: pl.Binary, OWNER: pl.Binary}
)


def load_waiting_records(stored: Stored | None) -> pl.DataFrame:
    """Identity and values of the records that wait; nobody where sources are whole tables."""
    if stored is None or not stored.file(HELD).exists():
        return NO_RECORDS
    return pl.read_parquet(stored.file(HELD), glob=False)


def to_hold(plan: TablePlan, candidates: Present, joined: pl.DataFrame) -> pl.DataFrame:
    """Identity and values of records; `joined` has their chains and persons."""
    return pl.concat(
        [joined.select(IDENTITY), candidates.raw.select(plan.needed)],
        how="horizontal",
    )


def back_again(
    plan: TablePlan, withdrawn: frozenset[bytes], pulled: pl.DataFrame, held: pl.DataFrame
) -> pl.DataFrame:
    """Chains and values of records that may be in the batch and are in no later source.

    They are those who lost their row to hide others, and those who waited.
    """
    names = [CHAIN, OWNER, *plan.needed]
    # An empty frame may lack the columns of the source.
    frames = [frame.select(names) for frame in (pulled, held) if frame.height]
    if not frames:
        return NO_RECORDS
    back = pl.concat(frames)
    # The vault must not bring back the values of a person who withdrew.
    return back.filter(~pl.Series(is_among(back[OWNER], withdrawn)))
