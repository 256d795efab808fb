"""How a vault knows a plan: as it is understood today, or as an older version understood it."""

from flows.plan.plan import ReleasePlan
from tasks.vault.storage import Vault


def standing(order: ReleasePlan, vault: Vault, source_sha256: str) -> ReleasePlan:
    """Return the plan under which the vault knows a release of this source; else the plan itself.

    A rerun gives the release that stands, and an audit holds it to the promise that it made.
    """
    earlier = order.earlier
    if vault.find(order.sha256, source_sha256) is None:
        run = vault.find(earlier.sha256, source_sha256)
        if run is not None and run.ever_visible():
            return earlier
    return order
