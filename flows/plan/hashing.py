"""The hash of a plan: of what shapes its release."""

import hashlib
import json
from typing import Any

from crowdcover.flows.plan.settings import list_field_metadata

# What does not shape the release: where it runs, is read from and is written to, its checks, and
# what readers are told about it.
NOT_SHAPING: dict[str, Any] = {
    "about": True,
    "compute": True,
    "checks": True,
    "series": {"allow_short_histories"},
    "source": {"kind", "path", "uri", "credentials", "at", "part", "optional"},
    "publish": {
        "path", "vault", "allow_second_release", "ledger", "ledger_credentials", "approval",
        "approval_timeout", "approvers", "requester_may_approve", "reports", "signing_key",
        "into", "approvals", "deputies", "approval_valid", "sign_in",
    },
}  # fmt: skip


def hash_plan(plan: Any) -> str:
    """Hash what shapes the release; see `ReleasePlan.sha256`."""
    shaping = plan.model_dump(exclude=NOT_SHAPING)
    # Older vaults stay valid.
    if plan.series is None:
        del shaping["series"]
    before = list_field_metadata(plan.method_settings, "before")
    shaping["anonymizer"] = {
        name: value
        for name, value in plan.anonymizer_settings.items()
        if name not in before or value != before[name]
    }
    shaping.pop("purpose", None)  # its kind states it, if there is one
    shaping |= plan.rules.sections_for_hash(plan)
    # Plans of before these keys keep their hash, and so their runs in the vault.
    for younger in ("partition", "sheet"):
        if shaping["source"].get(younger) is None:
            shaping["source"].pop(younger, None)
    return hashlib.sha256(json.dumps(shaping, sort_keys=True).encode()).hexdigest()
