"""What an audit of a matrix finds, by name, and the counts that a promise depends on."""

from collections.abc import Sequence

from kinds.words import list_promised_findings
from reports.facts import Manifest
from reports.messages import load_messages
from reports.quantities import count, is_number
from reports.verdict import protects_nobody
from reports.words import Check

CLASSES, MAJORITY = "equivalence classes", "smooth majority"
_COUNTED = {CLASSES: "classes_below_k", MAJORITY: "minorities"}


def list_promise_checks(manifest: Manifest) -> Sequence[Check]:
    """The counts on which the promise depends; each must be 0."""
    privacy, empty = manifest["privacy"], protects_nobody(manifest)
    return [
        Check(
            load_messages("kinds", "kinds.matrix").say("counted", finding),
            "0",
            count(privacy.get(key)),
            is_number(privacy.get(key)) and privacy[key] == 0,
            empty and finding == CLASSES,
        )
        for finding, key in _COUNTED.items()
        if finding in list_promised_findings(manifest)
    ]
