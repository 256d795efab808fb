"""Create the automations that tell people: a release was refused, or waits for approval.

    python deploy/prefect/automations.py --webhook https://chat.example.org/hooks/1
    python deploy/prefect/automations.py --block sendgrid-email/crowdcover

`--block` names a notification block that you have made in Prefect: mail, Slack, Teams and others.
PREFECT_API_URL names the server. A second call replaces what the first has made.
"""

import argparse
from typing import Any
from urllib.parse import urlsplit

import httpx
from prefect.automations import AutomationCore, CallWebhook, EventTrigger, Posture, SendNotification
from prefect.blocks.core import Block
from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import get_client
from prefect.settings import PREFECT_API_URL

BLOCK = "crowdcover"
REFUSED = "crowdcover.release.refused"
WAITING = "crowdcover.release.waiting"
AUTOMATIONS = {
    "crowdcover: a release was refused": (
        REFUSED,
        "{{ event.resource.name }} was refused",
        "{{ event.payload.reason }}",
    ),
    "crowdcover: a release waits for approval": (
        WAITING,
        "{{ event.resource.name }} {{ event.payload.version }} waits for approval",
        "{{ event.payload.records }} records, k = {{ event.payload.k_min }} or more. "
        "{{ event.payload.verdict }}. "
        "Open the suspended run in Prefect, or use crowdcover approve.",
    ),
}


def main() -> None:
    """Create both automations; end with one line if that cannot be done."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    told = parser.add_mutually_exclusive_group(required=True)
    told.add_argument("--webhook", metavar="URL", help="receives a POST with JSON")
    told.add_argument("--block", metavar="TYPE/NAME", help="a notification block of the server")
    given = parser.parse_args()
    if not PREFECT_API_URL.value():
        raise SystemExit("set PREFECT_API_URL to the address of Prefect's server, then try again")
    try:
        made = create(given.webhook, given.block)
    except httpx.TransportError as error:
        server = PREFECT_API_URL.value()
        raise SystemExit(f"no server answers at {server} ({type(error).__name__})") from None
    for name in made:
        print("created:", name)


def create(webhook: str | None, block: str | None = None) -> list[str]:
    """Create the automations for a webhook or a notification block; their names.

    Refuses an address that is none, and a block that the server does not have.
    """
    target = _block(str(block)) if webhook is None else _webhook(webhook)
    with get_client(sync_client=True) as client:
        for name, (event, subject, body) in AUTOMATIONS.items():
            for old in client.read_automations_by_name(name):
                client.delete_automation(old.id)
            action = _action(webhook is not None, target, event, subject, body)
            client.create_automation(_automation(name, event, action))
    return list(AUTOMATIONS)


def _webhook(url: str) -> Any:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SystemExit("--webhook takes an address such as https://chat.example.org/hooks/1")
    return Webhook(method="POST", url=url).save(BLOCK, overwrite=True)


def _block(name: str) -> Any:
    try:
        return Block.load(name)._block_document_id
    except (ValueError, RuntimeError):
        raise SystemExit(
            f"Prefect has no block {name!r}; give TYPE/NAME as `prefect block ls` shows it, "
            "or make it under Blocks in Prefect's page"
        ) from None


def _automation(name: str, event: str, action: Any) -> AutomationCore:
    trigger = EventTrigger(
        expect={event},
        match={"prefect.resource.id": "crowdcover.plan.*"},
        posture=Posture.Reactive,
        threshold=1,
    )
    return AutomationCore(name=name, trigger=trigger, actions=[action])


def _action(to_webhook: bool, target: Any, event: str, subject: str, body: str) -> Any:
    if not to_webhook:
        return SendNotification(block_document_id=target, subject=subject, body=body)
    texts = {"event": event, "subject": subject, "text": body}
    # Jinja writes each text as JSON: names and reasons may hold quotes.
    fields = ", ".join(
        f'"{key}": {{% set text %}}{text}{{% endset %}}{{{{ text | tojson }}}}'
        for key, text in texts.items()
    )
    return CallWebhook(block_document_id=target, payload=f"{{{fields}}}")


if __name__ == "__main__":
    main()
