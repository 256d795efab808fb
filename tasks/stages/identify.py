"""Digest who is in the table, and stop here if other releases show the same people."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from kinds.table.columns import Column
from kinds.table.layout import TABLE
from kinds.table.records import load
from tasks.orchestration.gates import refusals_shown
from tasks.orchestration.stage import log, stage
from tasks.people.admit import refuse_second_release
from tasks.people.digests import People
from tasks.people.ledger import PEOPLE_FILE, Ledger, write_people
from tasks.source.sources import Source, read, require_unchanged
from tasks.vault.storage import Run, Stored


@stage("identify")
def identify(
    run: Run,
    ledger: Ledger,
    source: Source,
    columns: tuple[Column, ...],
    ingested: Stored,
    binarized: Stored,
    allow_second_release: bool,
) -> Stored:
    """Store a digest of everyone who will be released; identifiers are read here and go no further."""

    def make(folder: Path) -> Mapping[str, Any]:
        _, stays = load(binarized)
        wanted = [
            Column(name=column.name, role="drop")
            for column in columns
            if column.role == "identifier"
        ]
        identifiers = pl.DataFrame()
        if wanted:
            identifiers = read(source, [column.name for column in columns], wanted)[stays]
            require_unchanged(source, run.source_sha256)
        people = People.of(ledger.key, pl.read_parquet(ingested.file(TABLE))[stays], identifiers)
        return {"key": ledger.key_print, **write_people(people, folder / PEOPLE_FILE)}

    key = Stored(ledger.vault.path, ledger.key_print)
    stored = run.once("identify", [ingested, binarized, key], make)
    overlaps = ledger.overlapping(run, run.source_sha256, ledger.people(run))
    log(f"identified {stored.shape[0]} people; {len(overlaps)} other releases show some of them")
    if not (allow_second_release or ledger.knows(run)):
        with refusals_shown(run, "beside"):
            refuse_second_release(overlaps)
    return stored
