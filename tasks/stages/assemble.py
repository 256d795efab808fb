"""Lay a version together: rows that stay, byte for byte, and the batch."""

from crowdcover.kinds.base import Kind
from crowdcover.kinds.plan.series import Following
from crowdcover.kinds.versions import Before
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.tasks.orchestration.stage import log_line, stage


@stage("assemble")
def assemble(
    run: Run,
    kind: Kind,
    following: Following,
    stages: tuple[Stored, Stored, Stored],
    before: Before | None,
    key: bytes,
) -> Stored:
    """Store the files of the version; the stages are split, encoded and anonymized."""
    versions = kind.versions
    assert versions is not None
    number = 1 if before is None else before.number + 1
    inputs = [*stages, *([] if before is None else [before.assembled])]
    stored = run.once(
        "assemble",
        inputs,
        lambda folder: versions.assemble(following, stages, before, number, key, folder),
    )
    for note in stored.notes:
        log_line(note)
    return stored
