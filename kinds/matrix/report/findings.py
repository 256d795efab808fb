"""What an audit of a matrix finds, by name, and the counts that a promise depends on."""

from collections.abc import Sequence

from crowdcover.kinds.words import list_promised_findings
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count, is_number
from crowdcover.reports.verdict import protects_nobody
from crowdcover.reports.words import Check

CLASSES, MAJORITY = "equivalence classes", "smooth majority"
_COUNTED = {CLASSES: "classes_below_k", MAJORITY: "minorities"}


def list_promise_checks(manifest: Manifest) -> Sequence[Check]:
    """The counts on which the promise depends; each must be 0."""
    privacy, empty = manifest["privacy"], protects_nobody(manifest)
    return [
        Check(
            load_messages("crowdcover.kinds", "crowdcover.kinds.matrix").say("counted", finding),
            "0",
            count(privacy.get(key)),
            is_number(privacy.get(key)) and privacy[key] == 0,
            empty and finding == CLASSES,
        )
        for finding, key in _COUNTED.items()
        if finding in list_promised_findings(manifest)
    ]
