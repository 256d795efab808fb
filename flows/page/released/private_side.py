"""What the plan and its vault know of a released table: private, and for the page only."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import polars as pl

from anon_core.errors import AnonymityError
from crowdcover.flows.page.draft import Draft
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.columns import type_source_column
from crowdcover.kinds.judge.files import read_matching
from crowdcover.kinds.table.layout import KEY, MATCHING, TABLE, list_released_columns
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.kinds.table.version_files import CHAIN, MEMBERS, ROW_KEY, ROWS
from crowdcover.storage.places.place import Place
from crowdcover.storage.series.retractions import same_place
from crowdcover.storage.series.series import Series
from crowdcover.storage.shelf.content import has_version_files
from crowdcover.storage.vault.run import Run
from crowdcover.storage.vault.vault import Vault


class KnownRows(NamedTuple):
    """Source rows of the people behind released rows.

    `keys` are those of the released rows, `table` has the typed values. `is_newer` says that the
    values are those of the newest version, in which the person has another row.
    """

    keys: pl.Series
    table: pl.DataFrame
    is_newer: pl.Series


class PrivateSide(Protocol):
    """The source behind a released table.

    `is_version` says that the release is a version of a series. Of people who have no row in the
    newest version the vault keeps no values.
    """

    is_version: bool

    @property
    def is_newest(self) -> bool:
        """Whether no version came after the release."""

    @property
    def names(self) -> Sequence[str]:
        """The columns that the release may show."""

    def read(self, names: Sequence[str], keys: pl.Series) -> KnownRows:
        """These columns, of the people behind rows with these keys, as far as they are known."""


@dataclass(frozen=True)
class SideOfRun:
    """The snapshot of the source that one run released."""

    run: Run
    is_version = False
    is_newest = True

    @property
    def names(self) -> Sequence[str]:
        """See `PrivateSide`."""
        return list(pl.read_parquet_schema(self._table))

    def read(self, names: Sequence[str], keys: pl.Series) -> KnownRows:
        """See `PrivateSide`."""
        matching = read_matching(self.run.folder_of("anonymize") / MATCHING)
        matching = matching.filter(pl.col(KEY).is_in(keys.implode()))
        own = pl.read_parquet(self._table, columns=list(names), glob=False)
        is_newer = pl.repeat(value=False, n=matching.height, eager=True)
        return KnownRows(matching[KEY], own[matching["record"]], is_newer)

    @property
    def _table(self) -> Path:
        return self.run.folder_of("ingest") / TABLE


@dataclass(frozen=True)
class SideOfSeries:
    """What the last run of a series keeps of everybody who has a row now."""

    run: Run
    plan: TablePlan
    is_newest: bool
    is_version = True

    @property
    def names(self) -> Sequence[str]:
        """See `PrivateSide`."""
        kept = pl.read_parquet_schema(self._members)
        released = list_released_columns(self.plan.columns)
        return [column.name for column in released if column.name in kept]

    def read(self, names: Sequence[str], keys: pl.Series) -> KnownRows:
        """See `PrivateSide`."""
        folder = self.run.folder_of("assemble")
        raw = pl.read_parquet(self._members, columns=[*names, ROW_KEY], glob=False)
        # Every row ever published names its record by a number, the chain.
        rows = pl.read_parquet(folder / ROWS, columns=[ROW_KEY, CHAIN], glob=False)
        now = raw.select(pl.col(ROW_KEY).alias("now")).with_row_index("member")
        members = now.join(rows, left_on="now", right_on=ROW_KEY)
        asked = rows.filter(pl.col(ROW_KEY).is_in(keys.implode()))
        found = asked.join(members, on=CHAIN, maintain_order="left")
        typed = {
            column.name: type_source_column(raw, column, self.plan.source.missing)
            for column in list_released_columns(self.plan.columns)
            if column.name in names
        }
        return KnownRows(
            found[ROW_KEY], pl.DataFrame(typed)[found["member"]], found[ROW_KEY] != found["now"]
        )

    @property
    def _members(self) -> Path:
        return self.run.folder_of("assemble") / MEMBERS


def find_private_side(draft: Draft | None, folder: Place) -> PrivateSide | None:
    """The source behind a release of a table; None without its plan and vault.

    None, too, where manifest or signature are not those that a run of the vault published.
    """
    if draft is None or draft.saved is None:
        return None
    try:
        plan = ReleasePlan.load(draft.path)
    except AnonymityError:  # the page of the plan shows the refusal
        return None
    vault = Vault(Path(plan.publish.vault))
    if plan.kind.name != "table" or not vault.runs.is_dir():
        return None
    if plan.series is not None:
        versions = Series(vault, plan.name).versions()
        of = [each.run for each in versions if _has_published(each.run, folder)]
        if not of or not (last := versions[-1].run).has("assemble"):
            return None
        return SideOfSeries(last, plan.data, is_newest=last in of)
    published = (run for run in vault.every_run() if _has_published(run, folder))
    run = next((run for run in published if run.has("ingest") and run.has("anonymize")), None)
    return None if run is None else SideOfRun(run)


def _has_published(run: Run, folder: Place) -> bool:
    """Whether a run published the release in a folder, as it stands there now."""
    return any(
        # Another release may have taken the place since.
        same_place(each.folder, folder) and has_version_files(folder, each.files)
        for each in run.ever_visible()
    )


def read_released_source(side: PrivateSide, name: str, keys: pl.Series) -> pl.Series | None:
    """A column of the source, of the people with these rows; None where it is not known of all."""
    if name not in side.names:
        return None
    found = side.read([name], keys)
    if len(found.keys) < len(keys) or found.is_newer.any():
        return None
    return found.table.to_series()
