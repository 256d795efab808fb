"""Decide who stays, who is withdrawn and who is in the batch of a new version."""

from typing import Any

from crowdcover.kinds.base import Kind
from crowdcover.kinds.plan.series import Following
from crowdcover.kinds.versions import Before, KnownPeople
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.tasks.orchestration.stage import log_line, stage


@stage("split")
def split(
    folder: Run,
    kind: Kind,
    plan: Any,
    following: Following,
    reading: Reading,
    before: Before | None,
    asked: KnownPeople,
    key_print: str,
) -> Stored:
    """Store the parts of the version: the rows of earlier versions that stay, and the batch.

    Made again if the source, the key, the last version, or who must wait or was withdrawn has
    changed.
    """
    versions = kind.versions
    assert versions is not None
    inputs = [
        Stored(folder.path, reading.sha256),
        Stored(folder.path, key_print),
        # A set has no order: sorted, equal sets are equal inputs.
        Stored(folder.path, b"".join(sorted(asked.withdrawn)).hex()),
        Stored(folder.path, str(sorted(asked.waiting))),
        *([] if before is None else [before.assembled, before.audited]),
        *([] if asked.held is None else [asked.held]),
    ]
    stored = folder.once(
        "split",
        inputs,
        lambda aside: versions.split(plan, following, reading, before, asked, aside),
    )
    for note in stored.notes:
        log_line(note)
    return stored
