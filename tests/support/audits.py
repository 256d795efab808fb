"""An audit as the command makes it."""

from crowdcover.flows.look.audit import recompute_guarantees
from crowdcover.flows.look.named_release import require_release
from crowdcover.flows.plan.plan import ReleasePlan


def audit_release(folder, plan_path, overrides=()):
    """Refuse a folder that is no release, then load the plan and audit."""
    require_release(folder)
    return recompute_guarantees(folder, ReleasePlan.load(plan_path, overrides))
