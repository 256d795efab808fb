"""Many plans queued at once on one worker, with Prefect's server on PostgreSQL."""

import time

from deploy.team.services import Team, running
from tests.faults.runs import ROWS, Outcome, entries, holds
from tests.flows.orders import Order, people
from tests.postgres import missing

EACH = 120  # seconds that a run may take on a busy machine
LOOKS = 2  # seconds between two looks at all runs
PAGE = 200  # runs that Prefect tells at once
ENDS = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


def queued(folder, plans, within=None):
    """Ask for a run of each plan at the same moment; wait until one worker has made them all.

    `within`: seconds after which those that have not ended count as lost.
    """
    from prefect.settings import PREFECT_API_URL, temporary_settings

    team = Team.of(folder, CROWDCOVER_WORKERS="1", CROWDCOVER_CRON="0 2 29 2 *")
    orders = [_order(folder, number) for number in range(plans)]
    with running(team), temporary_settings({PREFECT_API_URL: f"{team.url}/api"}):
        asked = _asked([order.document["name"] for order in orders])
        states = _ended(asked, within or EACH * plans)
    return [_outcome(order, state) for order, state in zip(orders, states, strict=True)]


def _order(folder, number):
    """A plan of a folder of plans, with a table and a vault of its own."""
    name = f"people{number:02}"
    order = Order(folder / name, people(ROWS, draws=number))
    order.releases = order.releases.with_name(name)
    order.document["name"] = name
    order.document["source"]["path"] = str(order.source)
    order.document["publish"] = {"path": str(order.releases.parent), "vault": str(order.vault)}
    order.plan = folder / "plans" / f"{name}.toml"
    order.plan.parent.mkdir(exist_ok=True)
    order.write()
    return order


def _asked(names):
    """A flow run for each plan, all scheduled for now."""
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        found = [client.read_deployment_by_name(f"release/{name}") for name in names]
        return [
            client.create_flow_run_from_deployment(each.id, parameters=each.parameters).id
            for each in found
        ]


def _ended(runs, within):
    """The last state of each flow run, in order."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

    end, states = time.monotonic() + within, {}
    with get_client(sync_client=True) as client:
        while len(states) < len(runs) and time.monotonic() < end:
            time.sleep(LOOKS)
            for first in range(0, len(runs), PAGE):
                # By id: the schedules have asked for further runs, years ahead.
                named = FlowRunFilter(id=FlowRunFilterId(any_=runs[first : first + PAGE]))
                for run in client.read_flow_runs(flow_run_filter=named, limit=PAGE):
                    if run.state.type.value in ENDS:
                        states[run.id] = run.state.type.value
    return [states.get(run, "not ended") for run in runs]


def _outcome(order, state):
    """Whether a plan was published once, and holds."""
    names = {path.name for path in order.releases.iterdir()} if order.releases.exists() else set()
    half = bool(names - {".vault", "v1"})
    name = order.document["name"]
    done = state == "COMPLETED" and entries(order) == [(name, "v1", ROWS, 1)]
    return Outcome(True, half, state != "COMPLETED", done and holds(order, order.folder_of_v1))


def needs():
    """What this machine lacks; empty if nothing."""
    return missing()
