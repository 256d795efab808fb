"""From typed data to the arrays of an anonymizer, and the k of every record."""

from typing import Any

from crowdcover.kinds.base import Kind
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.tasks.orchestration.stage import log_line, stage


@stage("encode")
def encode(run: Run, kind: Kind, plan: Any, ingested: Stored) -> Stored:
    """Store the codebook and the encoded records that stay."""
    make = lambda folder: kind.encode(plan, ingested, folder)  # noqa: E731 - one line reads better
    stored = run.once(kind.encoded, [ingested], make)
    for note in stored.notes:
        log_line(note)
    return stored
