"""What Prefect's server answers. It writes down what happened a moment later: wait for it."""

import time

from prefect.client.orchestration import get_client

LONGEST = 180  # seconds until it must have written
ENDS = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED", "PAUSED")
PAGE = 200  # the most that it tells at once


def ask(path, body=None):
    """The answer to one question."""
    with get_client(sync_client=True) as client:
        return client._client.post(path, json=body or {}).raise_for_status().json()


def ask_all(what):
    """All of a kind, such as `flow_runs`, page by page."""
    found = []
    while page := ask(f"/{what}/filter", {"limit": PAGE, "offset": len(found)}):
        found += page
    return found


def until(found, ready, longest=LONGEST):
    """Ask until the answer is ready."""
    end = time.monotonic() + longest
    while not ready(answer := found()) and time.monotonic() < end:
        time.sleep(0.2)
    assert ready(answer), answer
    return answer


def have_ended(runs, number):
    """Whether so many runs of flows or tasks have the state that they end with."""
    return len(runs) == number and all(run["state_type"] in ENDS for run in runs)
