"""Store who will be released, as digests; refuse if other releases show the same people."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdcover.kinds.base import Kind
from crowdcover.storage.ledger.admission import refuse_second_release
from crowdcover.storage.ledger.digests import PEOPLE_FILE, read_people, write_people
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.tasks.orchestration.gates import refusals_shown
from crowdcover.tasks.orchestration.stage import log_line, stage


@stage("identify")
def identify(
    run: Run,
    kind: Kind,
    ledger: Ledger,
    ingested: Stored,
    encoded: Stored,
    allow_second_release: bool,
) -> Stored:
    """Store a digest of every person whose record stays; the source is not read."""

    def make(folder: Path) -> Mapping[str, Any]:
        persons = kind.people(ledger.key, ingested, encoded)
        return {"key": ledger.key_print, **write_people(persons, folder / PEOPLE_FILE)}

    key = Stored(ledger.vault.path, ledger.key_print)  # another key makes other digests
    stored = run.once("identify", [ingested, encoded, key], make)
    overlaps = ledger.find_overlaps(run, run.source_sha256, read_people(stored))
    log_line(
        f"identified {stored.shape[0]} records; {len(overlaps)} other releases show some of them"
    )
    if not (allow_second_release or ledger.knows(run)):
        with refusals_shown(run, "beside"):
            refuse_second_release(overlaps)
    return stored
