"""Let a plan and its source in: find their run in the vault, and stop a second release of the same table."""

from pathlib import Path

from tasks.sources import Source, fingerprint
from tasks.storage import Run, SecondReleaseError, Vault


def admit(vault_path: Path, source: Source, plan_sha256: str, allow_second_release: bool) -> Run:
    """The run of this plan and source. Two different releases of one table can be intersected, so a second is refused."""
    vault = Vault(vault_path)
    source_sha256 = fingerprint(source)
    others = vault.other_releases(plan_sha256, source_sha256)
    if others and not allow_second_release:
        raise SecondReleaseError(
            f"this source was released under {others} other plan(s) already; two releases of one table can be intersected. "
            "Go back to the first plan, or set [publish] allow_second_release = true"
        )
    return vault.run(plan_sha256, source_sha256)
