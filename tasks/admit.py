"""Let a plan and its source in: find their run in the vault, and stop a second release of the same table."""

from tasks.sources import Source, fingerprint
from tasks.storage import Run, SecondReleaseError, Vault


def admit(vault: Vault, source: Source, plan_sha256: str, allow_second_release: bool) -> Run:
    """The run of this plan and source."""
    source_sha256 = fingerprint(source)
    refuse_second_release(vault, plan_sha256, source_sha256, allow_second_release)
    return vault.run(plan_sha256, source_sha256)


def refuse_second_release(vault: Vault, plan_sha256: str, source_sha256: str, allow: bool) -> None:
    """Two different releases of one table can be intersected, so a second is refused unless the plan allows it."""
    others = vault.other_releases(plan_sha256, source_sha256)
    if others and not allow:
        raise SecondReleaseError(
            f"this source was released under {others} other plan(s) already; two releases of one table can be intersected. "
            "Go back to the first plan, or set [publish] allow_second_release = true"
        )
