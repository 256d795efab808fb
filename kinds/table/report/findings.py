"""What an audit of a table finds, by name, and the counts that a promise depends on."""

from collections.abc import Mapping, Sequence
from typing import Any

from crowdcover.kinds.table.report.facts import describe_subjects, promise_of
from crowdcover.reports import series
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import NOT_STATED, count, is_number
from crowdcover.reports.verdict import protects_nobody
from crowdcover.reports.words import Check

COMPATIBLE, MATCHABLE, TRUTHFUL = "compatible crowds", "matchable crowds", "truthful rows"
OF_EVERY_METHOD = COMPATIBLE, MATCHABLE, TRUTHFUL  # what each method of tables must promise
CLASSES, EVEN = "equivalence classes", "even seats"
_ROUNDING = 1e-9  # of a limit that a class meets exactly
_COUNTED = {  # by finding, its key in the manifest
    COMPATIBLE: "below_k",
    MATCHABLE: "matchable_below_k",
    EVEN: "likelier_than_k",
    CLASSES: "classes_below_k",
    TRUTHFUL: "untruthful_rows",
}


def shows_exchange(manifest: Manifest) -> bool:
    """Whether records exchanged rows after the draw: its chances hold for the draw only."""
    return "people" in manifest["privacy"] or "mixed" in manifest


def list_promise_counts(manifest: Manifest) -> dict[str, tuple[str, str]]:
    """For each promised finding with a count: its key in the manifest, and what is counted."""
    promise, new = promise_of(manifest), series.briefly_new(manifest)
    counted = {}
    for finding, key in _COUNTED.items():
        if finding in promise:
            label = _describe_count(finding, manifest)
            counted[finding] = (key, f"{label}, {new}" if new else label)
    return counted


def list_promise_checks(manifest: Manifest) -> Sequence[Check]:
    """The counts on which the promise depends, each must be 0; and what classes show."""
    privacy, empty = manifest["privacy"], protects_nobody(manifest)
    listed = [
        # With k = 1 for everybody any crowd is large enough, while rows must be true all the same.
        none_of(privacy.get(key), what)._replace(empty=empty and finding != TRUTHFUL)
        for finding, (key, what) in list_promise_counts(manifest).items()
    ]
    if (diverse := manifest.get("diverse")) is not None:
        listed.append(_check_values(diverse, manifest))
    if (other := manifest.get("second_release")) is not None:
        listed.append(none_of(other.get("below_k"), _describe_count("second_release", manifest)))
    return listed


def meets_limit(measure: str, limit: float, worst: float) -> bool:
    """Whether the worst class meets l, or t where the measure is a distance."""
    if measure == "distance":
        return worst <= limit + _ROUNDING
    return worst >= limit - _ROUNDING


def _check_values(diverse: Mapping[str, Any], manifest: Manifest) -> Check:
    """Whether the worst class shows of a column what the plan demands."""
    column, measure = diverse["column"], diverse["measure"]
    what = load_messages("crowdcover.kinds", "crowdcover.kinds.table").say(
        "counted", measure, column=column
    )
    key = {"distinct": "distinct", "entropy": "effective", "distance": "distance"}[measure]
    found = manifest["protection"]["sensitive"].get(column, {}).get(key)
    side, limit = ("most", "t") if measure == "distance" else ("least", "l")
    passed = is_number(found) and meets_limit(measure, diverse[limit], found)
    return Check(what, f"at {side} {_state(diverse[limit])}", _state(found), passed)


def _state(number: Any) -> str:
    return f"{number:.4g}" if is_number(number) else NOT_STATED


def _describe_count(name: str, manifest: Manifest) -> str:
    whom, exchanged = describe_subjects(manifest), shows_exchange(manifest)
    messages = load_messages("crowdcover.kinds", "crowdcover.kinds.table")
    return messages.say("counted", name, whom=whom, exchanged=exchanged)


def none_of(number: object, what: str) -> Check:
    """A check that a count is 0; a missing count fails."""
    return Check(what, "0", count(number), is_number(number) and number == 0)
