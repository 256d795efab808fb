"""What an audit of a graph finds, by name, and the count that a promise depends on."""

from collections.abc import Sequence

from crowdcover.kinds.words import list_promised_findings
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count, is_number
from crowdcover.reports.verdict import protects_nobody
from crowdcover.reports.words import Check

OBFUSCATED = "obfuscated"


def list_promise_checks(manifest: Manifest) -> Sequence[Check]:
    """The count on which the promise depends."""
    privacy, messages = (
        manifest["privacy"],
        load_messages("crowdcover.kinds", "crowdcover.kinds.graph"),
    )
    if OBFUSCATED not in list_promised_findings(manifest):
        return []
    below, exempt = privacy.get("below"), privacy.get("exempt")
    return [
        Check(
            messages.say("counted", OBFUSCATED),
            messages.say("counted", "allowed", exempt=exempt),
            count(below),
            is_number(below) and is_number(exempt) and below <= exempt,
            protects_nobody(manifest),
        )
    ]
