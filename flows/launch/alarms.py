"""Automations of a Prefect server that tell people: of refusals, crashes and of silence.

What is sent holds names of plans and runs, counts, and the messages of refusals; no value of the
data.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
from prefect.automations import (
    AutomationCore,
    CallWebhook,
    EventTrigger,
    Posture,
    SendNotification,
)
from prefect.blocks.core import Block
from prefect.blocks.notifications import SendgridEmail
from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.events.schemas.automations import Automation
from prefect.exceptions import PrefectHTTPStatusError
from prefect.settings import PREFECT_API_URL
from pydantic import SecretStr

from anon_core.errors import AnonymityError
from crowdcover.flows.runs.states import FINAL_STATES
from crowdcover.kinds.section import PlanError
from crowdcover.storage.places.credentials import without_password

BLOCK = "crowdcover"
KEY = "SENDGRID_API_KEY"
PREFIX = "crowdcover: "
# Prefect sends a sign of life of each run every three minutes.
SILENT = timedelta(minutes=7)
_OF_A_PLAN: dict[str, str | list[str]] = {"prefect.resource.id": "crowdcover.plan.*"}
_OF_A_RUN: dict[str, str | list[str]] = {"prefect.resource.id": "prefect.flow-run.*"}
_OF_A_RELEASE: dict[str, str | list[str]] = {
    "prefect.resource.role": "flow",
    "prefect.resource.name": ["release", "care"],
}
# Prefect calls an event by the name of the state. Completed and Failed are ends that a run did not
# choose, such as one that a person sets.
_OF_PREFECT = ("Completed", "Failed", "Crashed", "Cancelling", "Cancelled", "Paused", "Suspended")
_ENDS = (*FINAL_STATES, *_OF_PREFECT)
# A run that has not started may have a random name: its deployment has the plan's.
_DEPLOYMENT = (
    "{% for each in event.related if each.role == 'deployment' %} of {{ each.name }}{% endfor %}"
)
_NAME = "{{ event.resource.name }}"
_RUN = f"The run {_NAME}{_DEPLOYMENT}"


@dataclass(frozen=True)
class Alarm:
    """When people are told, and what: texts are templates of Prefect."""

    name: str
    event: str
    trigger: EventTrigger
    subject: str
    text: str


@dataclass(frozen=True)
class Patience:
    """How long is waited for a run to start, for its end, and for a backup after a release."""

    start: timedelta = timedelta(minutes=15)
    end: timedelta = timedelta(days=1)
    backup: timedelta = timedelta(days=7)


def list_alarms(patience: Patience) -> list[Alarm]:
    """Every alarm, by how long is waited."""
    return [*_of_plans(patience), *_of_runs(patience)]


def _of_runs(patience: Patience) -> list[Alarm]:
    """Alarms about flow runs: events of Prefect."""
    return [
        Alarm(
            "a run crashed",
            "prefect.flow-run.Crashed",
            _on_event("prefect.flow-run.Crashed", _OF_A_RUN, _OF_A_RELEASE),
            f"{_NAME} crashed",
            f"{_RUN} was killed. Run it again: it goes on where it was.",
        ),
        Alarm(
            "a run is silent",
            "crowdcover.run.silent",
            _on_silence(["heartbeat"], ["*"], SILENT),
            f"{_NAME} is silent",
            f"{_RUN} gives no sign of life any more, and has not ended. Look at its machine, then "
            "run it again: it goes on where it was.",
        ),
        Alarm(
            "a run is late",
            "crowdcover.run.late",
            _on_silence(["Late"], ["Pending", "Running", *_ENDS], patience.start),
            f"{_NAME} is late",
            f"{_RUN} should have started, and has not. Is crowdcover serve, or a worker, at work?",
        ),
        Alarm(
            "a run does not end",
            "crowdcover.run.unended",
            _on_silence(["Running"], _ENDS, patience.end),
            f"{_NAME} does not end",
            f"{_RUN} is still at work.",
        ),
    ]


def _of_plans(patience: Patience) -> list[Alarm]:
    """Alarms about plans: events of crowdcover."""
    return [
        Alarm(
            "a release was refused",
            "crowdcover.release.refused",
            _on_event("crowdcover.release.refused", _OF_A_PLAN),
            f"{_NAME} was refused",
            "{{ event.payload.reason }}",
        ),
        Alarm(
            "a release waits for approval",
            "crowdcover.release.waiting",
            _on_event("crowdcover.release.waiting", _OF_A_PLAN),
            f"{_NAME} {{{{ event.payload.version }}}} waits for approval",
            "{{ event.payload.records }} records, k = {{ event.payload.k_min }} or more. "
            "{{ event.payload.verdict }}. "
            "Open the suspended run in Prefect, or use crowdcover approve.",
        ),
        Alarm(
            "an audit failed",
            "crowdcover.audit.failed",
            _on_event("crowdcover.audit.failed", _OF_A_PLAN),
            f"an audit of {_NAME} failed",
            "{{ event.payload.broken }} of {{ event.payload.findings }} guarantees of "
            "{{ event.payload.version }} do not hold. Run crowdcover audit to see which.",
        ),
        Alarm(
            "care failed",
            "crowdcover.care.failed",
            _on_event("crowdcover.care.failed", _OF_A_PLAN),
            f"care of {_NAME} failed",
            "Not well: {{ event.payload.failed }}. The run of care says in its message and its "
            "artifacts what was found.",
        ),
        Alarm(
            "a vault was not backed up",
            "crowdcover.vault.not-backed-up",
            EventTrigger(
                after={"crowdcover.release.published"},
                expect={"crowdcover.vault.backed-up"},
                match=_OF_A_PLAN,
                for_each={"prefect.resource.id"},
                posture=Posture.Proactive,
                within=patience.backup,
            ),
            f"the vault of {_NAME} was not backed up",
            f"{_NAME} was published, and no backup of its vault followed. Run crowdcover vault "
            "backup.",
        ),
    ]


def _on_event(event: str, of: Any, related: Any = None) -> EventTrigger:
    return EventTrigger(
        expect={event}, match=of, match_related=related or {}, posture=Posture.Reactive
    )


def _on_silence(after: Sequence[str], expect: Sequence[str], within: timedelta) -> EventTrigger:
    """Fires if a flow run has the first events, and none of the others within a time."""
    return EventTrigger(
        after={f"prefect.flow-run.{each}" for each in after},
        expect={f"prefect.flow-run.{each}" for each in expect},
        match=_OF_A_RUN,
        match_related=_OF_A_RELEASE,
        for_each={"prefect.resource.id"},
        posture=Posture.Proactive,
        within=within,
    )


def install_alarms(target: Block, patience: Patience) -> list[str]:
    """Create every alarm with a saved block to call; those of an earlier call are replaced."""
    with _ask_server() as client:
        _delete_alarms(client)
        for alarm in list_alarms(patience):
            action = _build_action(target, alarm)
            client.create_automation(
                AutomationCore(name=PREFIX + alarm.name, trigger=alarm.trigger, actions=[action])
            )
    return [alarm.name for alarm in list_alarms(patience)]


def remove_alarms() -> list[str]:
    """Delete every alarm; the names of those that there were."""
    with _ask_server() as client:
        return _delete_alarms(client)


def read_alarms() -> list[tuple[str, bool]]:
    """The name of each alarm of the server, and whether it is switched on."""
    with _ask_server() as client:
        found = [(each.name.removeprefix(PREFIX), each.enabled) for each in _find_alarms(client)]
    return sorted(found)


def _delete_alarms(client: SyncPrefectClient) -> list[str]:
    found = _find_alarms(client)
    for each in found:
        assert each.id is not None
        client.delete_automation(each.id)
    return sorted({each.name.removeprefix(PREFIX) for each in found})


def _find_alarms(client: SyncPrefectClient) -> list[Automation]:
    names = [PREFIX + alarm.name for alarm in list_alarms(Patience())]
    return [each for name in names for each in client.read_automations_by_name(name)]


@contextmanager
def _ask_server() -> Iterator[SyncPrefectClient]:
    """A client of the server that PREFECT_API_URL names, or a refusal in one line."""
    if not (address := PREFECT_API_URL.value()):
        raise PlanError(
            "alarms need a server that stays; set PREFECT_API_URL to its address, then try again"
        )
    shown = without_password(address)
    try:
        with get_client(sync_client=True) as client:
            yield client
    except httpx.TransportError as error:
        raise AnonymityError(f"no server answers at {shown} ({type(error).__name__})") from None
    except PrefectHTTPStatusError as error:
        raise AnonymityError(
            f"the server at {shown} answers {error.response.status_code}; check "
            "PREFECT_API_AUTH_STRING or PREFECT_API_KEY, and its version"
        ) from None


def save_webhook(url: str) -> Block:
    """A webhook as a block of the server."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise PlanError("--webhook takes an address such as https://chat.example.org/hooks/1")
    return _save(Webhook(method="POST", url=SecretStr(url)))


def save_email(address: str) -> Block:
    """Mail by Sendgrid, which is the one way to send mail that Prefect's server has built in."""
    if "@" not in address:
        raise PlanError("--email takes an address such as officer@example.org")
    if not (key := os.environ.get(KEY)):
        raise PlanError(
            f"Prefect sends mail by Sendgrid: set {KEY}, or give --webhook or --block instead"
        )
    return _save(SendgridEmail(api_key=SecretStr(key), sender_email=address, to_emails=[address]))


def load_block(name: str) -> Block:
    """A notification block that a person has made in Prefect."""
    with _ask_server():
        try:
            return cast("Block", Block.load(name))
        except (ValueError, RuntimeError):
            raise PlanError(
                f"Prefect has no block {name!r}; give TYPE/NAME as `prefect block ls` shows it, "
                "or make it under Blocks in Prefect's page"
            ) from None


def _save(block: Block) -> Block:
    with _ask_server():
        block.save(BLOCK, overwrite=True)
    return block


def _build_action(target: Block, alarm: Alarm) -> Any:
    block = target._block_document_id
    assert block is not None
    if not isinstance(target, Webhook):
        return SendNotification(block_document_id=block, subject=alarm.subject, body=alarm.text)
    texts = {"event": alarm.event, "subject": alarm.subject, "text": alarm.text}
    # Jinja writes each text as JSON: names and reasons may hold quotes.
    fields = ", ".join(
        f'"{key}": {{% set text %}}{text}{{% endset %}}{{{{ text | tojson }}}}'
        for key, text in texts.items()
    )
    return CallWebhook(block_document_id=block, payload=f"{{{fields}}}")
