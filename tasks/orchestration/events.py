"""Events of a plan that Prefect's automations can wait for, and names that carry the plan's.

    crowdcover.release.published        a version stands in its folder
    crowdcover.release.waiting          a person has to approve
    crowdcover.release.refused          nothing was published, and why
    crowdcover.release.drifted          the source or the release changed too much
    crowdcover.release.short-of-people  too few people to hide among

The resource is `crowdcover.plan.<name>`. Payloads hold counts, column names and the messages of
refusals; none holds a value of the data.

Prefect takes longer to import than a small release: it is imported by those who start a flow run.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from prefect.client.schemas.objects import FlowRun

_PLAN: ContextVar[str] = ContextVar("plan", default="")

What = Literal["published", "waiting", "refused", "drifted", "short-of-people"]


@contextmanager
def about_plan(name: str) -> Iterator[None]:
    """Let events, artifacts and spans of the work inside carry the name of a plan."""
    token = _PLAN.set(name)
    try:
        yield
    finally:
        _PLAN.reset(token)


def find_flow_run() -> "FlowRun | None":
    """The flow run that is at work; None outside of one."""
    if "prefect.context" not in sys.modules:
        return None
    from prefect.context import FlowRunContext

    context = FlowRunContext.get()
    return None if context is None else context.flow_run


def plan_name() -> str:
    """The plan that is at work; empty outside of a release."""
    return _PLAN.get()


def key_of(*parts: str) -> str:
    """An artifact's key of small letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, parts)).lower()).strip("-")


def emit_release_event(what: What, **facts: Any) -> None:
    """Emit an event of the plan's release, if a flow run is at work."""
    if find_flow_run() is None or not plan_name():
        return
    from prefect.events import emit_event

    resource = {
        "prefect.resource.id": f"crowdcover.plan.{plan_name()}",
        "prefect.resource.name": plan_name(),
    }
    emit_event(event=f"crowdcover.release.{what}", resource=resource, payload=facts)
