"""Take from the reading of the source what the release needs; identifiers end here as digests."""

from typing import Any

from crowdcover.kinds.base import Kind
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.tasks.orchestration.stage import log_line, stage


@stage("ingest")
def ingest(run: Run, kind: Kind, plan: Any, reading: Reading, ledger: Ledger) -> Stored:
    """Store what may be released, typed, and digests of the people. The reading is closed.

    Digests depend on the ledger's key; under another key they are made again.
    """
    # While the content is there: the check reads it again, as it was.
    reading.keep(run.scratch)
    key = [Stored(ledger.vault.path, ledger.key_print)] if kind.identified(plan) else []
    noted = {"form": reading.source.form}
    stored = run.once(
        "ingest", key, lambda folder: {**kind.ingest(plan, reading, ledger, folder), **noted}
    )
    reading.close()
    for note in stored.notes:
        log_line(note)
    return stored
