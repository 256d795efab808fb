"""The versions of a series of tables; see `kinds.versions.Versions`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anon_core.tables.pasts import Pasts
from anon_core.tables.records import BinaryTable
from crowdcover.kinds.judge.audit import Finding
from crowdcover.kinds.plan.series import Following
from crowdcover.kinds.table.judge import kept as kept_of
from crowdcover.kinds.table.judge import versions as judge
from crowdcover.kinds.table.judge.rows import lay_rows_beside_records
from crowdcover.kinds.table.layout import FILES, MATCHING, PARQUET
from crowdcover.kinds.table.pipeline.encode import load_encoded
from crowdcover.kinds.table.pipeline.kept_rows import text_rows
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.kinds.table.series.assembling import assemble_version
from crowdcover.kinds.table.series.present import (
    digest_identifiers,
    read_present_records,
)
from crowdcover.kinds.table.series.splitting import divide_version
from crowdcover.kinds.table.series_rules import TableSeriesRules
from crowdcover.kinds.table.version_files import (
    BATCH,
    BORN,
    CHAIN,
    HELD,
    JOINED,
    MEMBERS,
    OWNER,
    PASTS,
    ROWS,
    SHORT,
    SINCE,
)
from crowdcover.kinds.table.version_fits import load_fits
from crowdcover.kinds.versions import Before, KnownPeople, Versions
from crowdcover.storage.ledger.digests import column_digests, of_column, read_people
from crowdcover.storage.ledger.identifier_spelling import FORM
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.run import Stored


class TableVersions(TableSeriesRules, Versions):
    """See `kinds.versions.Versions`."""

    promised = ("compatible crowds", "matchable crowds", judge.CROWDS_IN_EACH, judge.HISTORIES)

    def parts(
        self, plan: TablePlan, reading: Reading, first: str, last: str
    ) -> Iterator[tuple[str, pl.DataFrame]]:
        """Rows by the dates of a column; rows without a date are in no partition."""
        assert plan.partition is not None
        names = [column.name for column in plan.columns]
        rows, labels = plan.partition.divide_rows(reading, names, plan.needed, plan.source.missing)
        # Labels of one length of time sort as texts in the order of time.
        for label in labels.unique().drop_nulls().sort().to_list():
            if first <= label <= last:
                yield label, rows.filter(labels == label)

    def nothing(self, plan: TablePlan, reading: Reading) -> pl.DataFrame:
        """The columns that the plan uses."""
        return reading.columns([column.name for column in plan.columns], plan.needed).clear()

    def split(
        self,
        plan: TablePlan,
        following: Following,
        reading: Reading,
        before: Before | None,
        asked: KnownPeople,
        folder: Path,
    ) -> Mapping[str, Any]:
        """By digests of records and values."""
        return divide_version(plan, following, reading, before, asked, folder)

    def batch(self, split: Stored) -> Path:
        """A Parquet file with the columns that the plan uses."""
        return split.file(BATCH)

    def load(self, encoded: Stored, split: Stored) -> BinaryTable:
        """With pasts where columns link rows and somebody of the batch had a row before."""
        table, stays = load_encoded(encoded)
        path = split.file(PASTS)
        if not path.exists():
            return table
        with np.load(path) as kept:
            # `pasts` has the batch, `stays` the part of it that encoding left in.
            pasts = Pasts(kept["value"], kept["start"], kept["values"], kept["ways"])
        return replace(table, pasts=pasts.at(stays))

    def assemble(
        self,
        following: Following,
        stages: tuple[Stored, Stored, Stored],
        before: Before | None,
        number: int,
        key: bytes,
        folder: Path,
    ) -> Mapping[str, Any]:
        """Rows by their keys, as always."""
        return assemble_version(following, stages, before, number, key, folder)

    def audit(
        self,
        plan: TablePlan,
        following: Following,
        stages: tuple[Stored, Stored, Stored, Stored],
        before: Before | None,
        readings: tuple[Reading, Reading],
        asked: KnownPeople,
        folder: Path,
    ) -> tuple[list[Finding], Mapping[str, Any]]:
        """From the source, the batch and the assembled files."""
        _, identified, assembled, anonymized = stages
        number = 1 if before is None else before.number + 1
        listed = pl.read_parquet(assembled.file(ROWS), glob=False)
        schema = pl.scan_parquet(anonymized.file(PARQUET), glob=False).collect_schema()
        schema = schema | {SINCE: pl.Int32()}
        shown = judge.ShownVersion(assembled.folder, list(FILES), schema)
        rows, findings = judge.of_files(shown, listed, number, asked.key)
        if rows is None:
            return findings, {}
        earlier = None
        if before is not None:
            earlier = pl.read_parquet(before.assembled.file(ROWS), glob=False)
        named = following.record is not None
        findings.append(judge.of_history(listed, earlier, number, named=named))
        source, batch = readings
        form = FORM if before is None else before.form  # a series keeps that of its first version
        known = read_present_records(plan, following, source, asked.key, form).known
        members = pl.read_parquet(assembled.file(MEMBERS), glob=False)
        of_batches = (*(() if before is None else before.identified), identified)
        history = judge.of_records(listed, of_batches, following.record, form)
        findings.append(judge.of_members(members, history, known, asked.withdrawn))
        laid = lay_rows_beside_records(
            plan, batch, text_rows(anonymized), anonymized.file(MATCHING)
        )
        new = rows.filter(pl.col(SINCE) == number).drop(SINCE)
        born = history.filter(pl.col(BORN) == number)
        records = judge.of_source(batch.again(), plan, following.record, asked.key, form)
        findings.append(judge.of_batch(new, laid, born, records))
        # All in one file: a later version reads this stage only, those before it may be gone.
        audited = None if before is None else before.audited
        fits = load_fits(audited, number - 1).also(*judge.fits_of(laid))
        fits.write(folder)
        more, section, short = judge.of_crowds(history, fits, following.short_histories, number)
        inside = born[CHAIN].is_in(short.tolist()).to_numpy()
        # `history` numbers chains anew, and the maker waits by its own numbers: look up by place.
        chains = listed.filter(pl.col(BORN) == number)[CHAIN].to_numpy()[inside]
        np.save(folder / SHORT, np.append(chains, len(short)))  # the last one counts people
        kept = kept_of.of_all(
            kept_of.of_rows(laid), None if before is None else before.audited.folder
        )
        kept.write_parquet(folder / kept_of.KEPT_ROWS)
        return [*findings, *more], {
            **section,
            **kept_of.summarize_version_utility(kept, listed, number),
        }

    def audit_published(
        self,
        following: Following,
        folder: Path,
        formats: Sequence[str],
        number: int,
        kept: Before,
        key: bytes,
    ) -> tuple[list[Finding], Mapping[str, Any]]:
        """From the rows, and from what the vault keeps of every batch."""
        listed = pl.read_parquet(kept.assembled.file(ROWS), glob=False)
        schema = pl.scan_parquet(kept.assembled.file(PARQUET), glob=False).collect_schema()
        rows, findings = judge.of_files(
            judge.ShownVersion(folder, formats, schema), listed, number, key
        )
        if rows is None:
            return findings, {}
        history = judge.of_records(listed, kept.identified, following.record, kept.form)
        more, section, _ = judge.of_crowds(
            # The vault's list may go on past this version.
            judge.rewind_history(history, number),
            load_fits(kept.audited, number),
            following.short_histories,
        )
        measured = pl.read_parquet(kept.audited.file(kept_of.KEPT_ROWS), glob=False)
        return [*findings, *more], {
            **section,
            **kept_of.summarize_version_utility(measured, listed, number),
        }

    def digests(self, values: Sequence[str], key: bytes, form: int) -> list[bytes]:
        """Digests of identifiers as `divide_version` knows people by."""
        return digest_identifiers(pl.Series(values, dtype=pl.String), key, form).to_list()

    def find_published(
        self, following: Following, values: Sequence[str], kept: Before, key: bytes
    ) -> list[bool]:
        """By the digests of all batches."""
        assert following.owner is not None
        given = pl.Series(following.owner, values, dtype=pl.String)
        known = {
            each
            for stored in kept.identified
            for each in of_column(read_people(stored), following.owner, kept.form)
        }
        return [each in known for each in column_digests(key, given, kept.form)]

    def short(self, audited: Stored) -> tuple[frozenset[int], int]:
        """As the audit kept them."""
        *chains, people = np.load(audited.file(SHORT)).tolist()
        return frozenset(chains), people

    def owners(self, kept: Before) -> frozenset[bytes]:
        """As `divide_version` noted them."""
        members = pl.read_parquet(kept.assembled.file(MEMBERS), glob=False, columns=[OWNER])
        return frozenset(members[OWNER].drop_nulls().to_list())

    def owners_waiting(self, stages: Sequence[Stored]) -> frozenset[bytes]:
        """As `divide_version` and `assemble_version` noted them."""
        found = frozenset[bytes]()
        for path in (stored.file(name) for stored in stages for name in (JOINED, HELD)):
            if path.exists():
                frame = pl.read_parquet(path, glob=False, columns=[OWNER])
                found |= frozenset(frame[OWNER].drop_nulls().to_list())
        return found
