"""What a released matrix promises and what it does not, in plain words."""

from collections.abc import Sequence

from crowdcover.kinds.matrix.report.findings import MAJORITY
from crowdcover.kinds.words import describe_demand, list_promised_findings
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.verdict import protects_nobody
from crowdcover.reports.words import Text

_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.matrix")


def describe_no_change(manifest: Manifest) -> str:
    """That no entry was left out or added; empty where one was."""
    utility = manifest["utility"]
    if utility["jaccard"] != 1:  # rounded down
        return ""
    text = _MESSAGES.say("promise", "unchanged", **utility)
    if protects_nobody(manifest):
        return text
    return f"{text} {_MESSAGES.say('promise', 'unchanged_anyway')}"


def describe_promise(manifest: Manifest) -> str:
    """The promise as a paragraph; it ends with how many entries are false."""
    privacy, utility = manifest["privacy"], manifest["utility"]
    if protects_nobody(manifest):
        return _MESSAGES.say("promise", "nobody", **privacy)
    demand = describe_demand(manifest, _MESSAGES)
    texts = [_MESSAGES.say("promise", "rows", **privacy, demand=demand)]
    if privacy["k_min"] < 2:
        texts.append(_MESSAGES.say("promise", "unprotected", **privacy))
    if MAJORITY in list_promised_findings(manifest):
        texts.append(_MESSAGES.say("promise", "majority"))
    false = _MESSAGES.say("promise", "false", **utility, false_share=utility["false"])
    return " ".join([*texts, false])


def list_promise_points(manifest: Manifest) -> Sequence[Text]:
    """The points of the promise, one or more for each of its findings."""
    known = _MESSAGES.list_names("promised")
    return [
        text
        for finding in list_promised_findings(manifest)
        if finding in known
        for text in _MESSAGES.list_texts("promised", finding)
    ]


def not_promised(manifest: Manifest) -> Sequence[Text]:
    """The points that no finding of the promise covers."""
    texts = [
        text
        for finding in _MESSAGES.list_names("not_promised")
        if finding not in list_promised_findings(manifest)
        for text in _MESSAGES.list_texts("not_promised", finding)
    ]
    if manifest.get("keyed"):
        people = _MESSAGES.say("warnings", "people")
        texts += _MESSAGES.list_texts("not_promised_of_people", people=people)
    return texts


def not_promised_short(manifest: Manifest) -> str:
    """The points of `not_promised` in a sentence."""
    promised, short = list_promised_findings(manifest), _MESSAGES.name_entries("short_points")
    points = [text for finding, text in short.items() if finding not in promised]
    return _MESSAGES.say("short", "not_promised", points=points)
