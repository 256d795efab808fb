"""What a released table promises and what it does not, in plain words.

The promise follows from the findings that the manifest names.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from crowdcover.kinds.table.report import series_words as versions
from crowdcover.kinds.table.report.facts import (
    count_owners,
    describe_subjects,
    describe_table_demand,
    promise_of,
)
from crowdcover.kinds.table.report.findings import CLASSES, EVEN, MATCHABLE, shows_exchange
from crowdcover.reports import series
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import is_number, printable
from crowdcover.reports.verdict import protects_nobody
from crowdcover.reports.words import Text

_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.table")


def describe_no_change(manifest: Manifest) -> str:
    """That no cell is masked, in any row of a version; empty where one is."""
    kept = series.series_of(manifest) or manifest["utility"]
    if kept.get("cells_exact") != 1:
        return ""
    whole = series.with_all_rows(manifest)
    text = _MESSAGES.say("promise", "unchanged", records=whole["privacy"]["records"])
    if protects_nobody(whole):
        return text
    return f"{text} {_MESSAGES.say('promise', 'unchanged_anyway')}"


def describe_promise(manifest: Manifest) -> str:
    """The promise as a paragraph; people with k = 1 come first, as those without it."""
    privacy, case = manifest["privacy"], _state_case(manifest)
    if protects_nobody(manifest):
        return _MESSAGES.say("promise", "nobody", **case)
    everybody, number = privacy["k_min"] > 1, privacy.get("unprotected")
    case["demand"] = (
        describe_table_demand(manifest)
        if everybody
        else _MESSAGES.say("promise", "above_one", k_max=privacy["k_max"])
    )
    hiding = _MESSAGES.say("promise", "hiding", **case)
    if everybody:
        return _MESSAGES.say("promise", "everybody", hiding=hiding, **case)
    form = "counted" if is_number(number) and number > 0 else "uncounted"
    return _MESSAGES.say("promise", form, hiding=hiding, unprotected=number, **case)


def _state_case(manifest: Manifest) -> dict[str, Any]:
    """What the messages of a promise depend on: counts, findings, what the plan says of rows."""
    promised = promise_of(manifest)
    return {
        "whom": describe_subjects(manifest),
        "records": manifest["privacy"]["records"],
        "people": count_owners(manifest),
        "rows_are_people": manifest.get("rows_are_people"),
        "exchanged": shows_exchange(manifest),
        "classes": CLASSES in promised,
        "even": EVEN in promised,
        "matchable": MATCHABLE in promised,
        "diverse": "diverse" in manifest,
        "series": series.series_of(manifest) is not None,
    }


def list_promise_points(manifest: Manifest) -> Sequence[Text]:
    """The points of the promise, one or more for each of its findings."""
    texts: list[Text] = []
    for finding in promise_of(manifest):
        if finding == EVEN and shows_exchange(manifest):
            texts += _MESSAGES.list_texts("promised_of_draw")
        elif finding in _MESSAGES.list_names("promised"):
            texts += _MESSAGES.list_texts("promised", finding)
    if "mixed" in manifest:
        texts += _MESSAGES.list_texts("promised_of_mixed", column=manifest["mixed"])
    if diverse := manifest.get("diverse"):
        texts += _MESSAGES.list_texts("promised_of_diverse", **{"l": None, "t": None, **diverse})
    if purpose := manifest.get("purpose"):
        texts += _MESSAGES.list_texts("stated_of_purpose", **_name_margins(purpose))
    if count_owners(manifest) is not None:
        even = EVEN in promise_of(manifest)
        texts += _MESSAGES.list_texts("promised_of_people", even=even)
    return texts


def _name_margins(purpose: Mapping[str, Any]) -> dict[str, Any]:
    """A purpose as the manifest states it, its margins as one text."""
    margins = [" x ".join(map(printable, margin)) for margin in purpose.get("margins", ())]
    return {**purpose, **({"margins": ", ".join(margins)} if margins else {})}


def not_promised(manifest: Manifest) -> Sequence[Text]:
    """The points that no finding of the promise covers."""
    findings = promise_of(manifest)
    texts = [
        text
        for finding in _MESSAGES.list_names("not_promised")
        if finding not in findings and not (finding == "l-diversity" and "diverse" in manifest)
        for text in _MESSAGES.list_texts("not_promised", finding)
    ]
    if left_out := manifest.get("protection", {}).get("left_out_by_choice"):
        texts += _MESSAGES.list_texts("not_promised_of_left_out", left_out=left_out)
    if series.series_of(manifest) is not None:
        return [*texts, *versions.not_promised(manifest)]
    if count_owners(manifest) is None:
        return [*texts, *_MESSAGES.list_texts("not_promised_of_rows")]
    return [*texts, *_MESSAGES.list_texts("not_promised_of_people")]


def not_promised_short(manifest: Manifest) -> str:
    """The points of `not_promised` in two sentences."""
    return _MESSAGES.say("short", "not_promised", **_state_case(manifest))
