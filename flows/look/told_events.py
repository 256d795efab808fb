"""Events of a plan that happen outside of its flow runs, for the alarms of a Prefect server.

    crowdcover.audit.failed      a guarantee of a release does not hold
    crowdcover.vault.backed-up   the vault of the plan was backed up
    crowdcover.care.failed       scheduled care found what is not well

Only a server that is named is told: none is started for it.
"""

import sys
from collections.abc import Iterable
from typing import Literal

from crowdcover.tasks.orchestration.named_server import find_server_address


def tell_server(
    what: Literal["audit.failed", "vault.backed-up", "care.failed"],
    plans: Iterable[str],
    **facts: int | str,
) -> None:
    """Send an event of each plan. One that cannot be sent stops nothing, and is said."""
    if not find_server_address():
        return
    # Prefect takes seconds to import.
    from prefect.client.orchestration import get_client
    from prefect.events import Event

    events = [
        Event.model_validate(
            {
                "event": f"crowdcover.{what}",
                "resource": {
                    "prefect.resource.id": f"crowdcover.plan.{name}",
                    "prefect.resource.name": name,
                },
                "payload": facts,
            }
        )
        for name in plans
    ]
    try:
        with get_client(sync_client=True) as client:
            client.request(
                "POST", "/events", json=[each.model_dump(mode="json") for each in events]
            )
    except Exception as error:  # noqa: BLE001 - the command has done its work
        sys.stderr.write(
            f"crowdcover: Prefect's server was not told of {what} ({type(error).__name__})\n"
        )
