"""Decide who stays, who is withdrawn and who is in the batch of a new version."""

from typing import Any

from kinds.base import Kind
from kinds.versions import Before, Following
from tasks.orchestration.stage import log, stage
from tasks.people.ledger import Ledger
from tasks.source.reading import Reading
from tasks.vault.series import Series
from tasks.vault.storage import Run, Stored


@stage("split")
def split(
    folder: Run,
    kind: Kind,
    plan: Any,
    following: Following,
    reading: Reading,
    before: Before | None,
    series: Series,
    ledger: Ledger,
) -> Stored:
    """Store the parts of the version: the rows of earlier versions that stay, and the batch.

    Made again if the source, the last version or the list of people who withdrew has changed.
    """
    versions = kind.versions
    assert versions is not None
    withdrawn = series.withdrawn()
    inputs = [
        Stored(folder.path, reading.sha256),
        Stored(folder.path, ledger.key_print),
        Stored(folder.path, b"".join(sorted(withdrawn)).hex()),
        *([] if before is None else [before.assembled, before.audited]),
    ]
    asked = ledger.key, withdrawn
    stored = folder.once(
        "split",
        inputs,
        lambda aside: versions.split(plan, following, reading, before, asked, aside),
    )
    for note in stored.notes:
        log(note)
    return stored
