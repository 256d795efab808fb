"""[env.NAME] of a plan: keys of one place, such as production, that --env NAME puts into the plan.

The plan that runs is the merged one: it is checked, hashed and frozen, and knows no [env].
"""

from collections.abc import Mapping, Sequence
from typing import Any

from crowdcover.flows.plan.named_overlay import Overlay
from crowdcover.flows.plan.passwords import refuse_stated_passwords
from crowdcover.kinds.nearest import did_you_mean
from crowdcover.kinds.section import PlanError, toml_key

OVERLAYS = "env"


def take_overlay(document: dict[str, Any], overrides: Sequence[str]) -> Mapping[str, Any]:
    """Take [env] out of a document; the keys of the overlay that the overrides name.

    An overlay that is not named must be a table without passwords, no more.
    """
    overlays = document.pop(OVERLAYS, {})
    if not isinstance(overlays, dict):
        raise PlanError("env must be a table of overlays, such as [env.prod.publish]")
    for name, overlay in overlays.items():
        if not isinstance(overlay, dict) or OVERLAYS in overlay:
            raise PlanError(
                f"env.{toml_key(name)} must be a table of the plan's keys, such as "
                "[env.prod.publish], without an env of its own"
            )
        refuse_stated_passwords(overlay)
    named = [each for each in overrides if isinstance(each, Overlay)]
    if not named:
        return {}
    if len(named) > 1:
        raise PlanError("--env names one overlay of the plan; give it once")
    (name,) = named
    if name not in overlays:
        known = ", ".join(map(toml_key, overlays)) or "none"
        raise PlanError(
            f"--env names an overlay that the plan lacks; [env] of the plan has: {known}"
            + did_you_mean(name, overlays)
        )
    chosen: Mapping[str, Any] = overlays[name]
    return chosen
