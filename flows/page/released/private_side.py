"""What the plan and its vault know of a released table: private, and for the page only."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from anon_core.errors import AnonymityError
from crowdcover.flows.page.session import Session
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.judge.files import read_matching
from crowdcover.kinds.table.layout import KEY, MATCHING, TABLE
from crowdcover.storage.places.place import Place
from crowdcover.storage.series.retractions import same_place
from crowdcover.storage.shelf.content import has_version_files
from crowdcover.storage.vault.run import Run
from crowdcover.storage.vault.vault import Vault


class Owned(NamedTuple):
    """Released cells above the values of the person whose row it is, column by column."""

    names: Sequence[str]
    shown: Sequence[Sequence[str]]
    own: Sequence[Sequence[str]]


def find_run_of(session: Session, folder: Place) -> Run | None:
    """The run that published a release of a table; None without its plan and vault.

    None, too, where manifest or signature are not those that it published. A version of a series
    has rows of several runs, so it has none.
    """
    draft = session.draft
    if draft is None or draft.saved is None:
        return None
    try:
        plan = ReleasePlan.load(draft.path)
    except AnonymityError:  # the page of the plan shows the refusal
        return None
    vault = Vault(Path(plan.publish.vault))
    if plan.kind.name != "table" or plan.series is not None or not vault.runs.is_dir():
        return None
    published = (
        run
        for run in vault.every_run()
        if any(
            # Another release may have taken the place since.
            same_place(each.folder, folder) and has_version_files(folder, each.files)
            for each in run.ever_visible()
        )
    )
    return next((run for run in published if run.has("ingest") and run.has("anonymize")), None)


def read_owned_rows(run: Run, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Owned | None:
    """These released rows and the source rows of the people behind them; None of another run."""
    keys = [row[names.index(KEY)] for row in rows] if KEY in names else []
    matching = read_matching(run.folder_of("anonymize") / MATCHING)
    places = dict(matching.filter(pl.col(KEY).is_in(keys)).select(KEY, "record").iter_rows())
    if not keys or set(keys) - set(places):
        return None
    released = [name for name in names if name != KEY]
    own = read_source_columns(run, released)[[places[key] for key in keys]]
    kept = [names.index(name) for name in released]
    return Owned(
        released,
        [[row[place] for place in kept] for row in rows],
        [["(missing)" if cell is None else str(cell) for cell in row] for row in own.iter_rows()],
    )


def read_source_columns(run: Run, names: Sequence[str]) -> pl.DataFrame:
    """Columns of the source as they were read for a release, a row for each row of the source."""
    return pl.read_parquet(run.folder_of("ingest") / TABLE, columns=list(names), glob=False)


def read_released_source(run: Run, name: str) -> pl.Series:
    """A column of the source, of the records that were released."""
    records = read_matching(run.folder_of("anonymize") / MATCHING)["record"]
    return read_source_columns(run, [name])[name].gather(records)
