"""Store who will be released, as digests; refuse if other releases show the same people."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinds.table.people import people
from tasks.orchestration.gates import refusals_shown
from tasks.orchestration.stage import log, stage
from tasks.people.admit import refuse_second_release
from tasks.people.digests import PEOPLE_FILE, write_people
from tasks.people.ledger import Ledger
from tasks.vault.storage import Run, Stored


@stage("identify")
def identify(
    run: Run, ledger: Ledger, ingested: Stored, binarized: Stored, allow_second_release: bool
) -> Stored:
    """Store a digest of every person whose row stays; the source is not read."""

    def make(folder: Path) -> Mapping[str, Any]:
        persons = people(ledger.key, ingested, binarized)
        return {"key": ledger.key_print, **write_people(persons, folder / PEOPLE_FILE)}

    key = Stored(ledger.vault.path, ledger.key_print)
    stored = run.once("identify", [ingested, binarized, key], make)
    overlaps = ledger.overlapping(run, run.source_sha256, ledger.people(run))
    log(f"identified {stored.shape[0]} people; {len(overlaps)} other releases show some of them")
    if not (allow_second_release or ledger.knows(run)):
        with refusals_shown(run, "beside"):
            refuse_second_release(overlaps)
    return stored
