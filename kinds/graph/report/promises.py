"""What a released graph promises and what it does not, in plain words."""

from collections.abc import Sequence

from crowdcover.kinds.graph.report.findings import OBFUSCATED
from crowdcover.kinds.words import describe_demand, list_promised_findings
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.verdict import protects_nobody
from crowdcover.reports.words import Text

_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.graph")


def describe_no_change(manifest: Manifest) -> str:
    """That no edge was changed; empty where one was, and where older releases do not tell."""
    utility = manifest["utility"]
    # Rounded down, so 1 means all. It is 1 as well where neither graph has an edge.
    if utility.get("same_edges") != 1 or not utility["edges_released"]:
        return ""
    text = _MESSAGES.say("promise", "unchanged", **utility)
    if protects_nobody(manifest):
        return text
    return f"{text} {_MESSAGES.say('promise', 'unchanged_anyway')}"


def describe_promise(manifest: Manifest) -> str:
    """The promise as a paragraph; it says who is left out and how far the release is off."""
    privacy, unchanged = manifest["privacy"], manifest["protection"]["unchanged"]
    if protects_nobody(manifest):
        return _MESSAGES.say("promise", "nobody", **privacy)
    same = bool(describe_no_change(manifest))  # then it is said already
    texts = [_MESSAGES.say("promise", "graph", **privacy, unchanged=unchanged, same=same)]
    if OBFUSCATED in list_promised_findings(manifest):
        texts.append(_describe_uncertainty(manifest))
        if privacy["exempt"]:
            texts.append(_MESSAGES.say("promise", "left_out", **privacy))
    if privacy["k_min"] < 2:
        texts.append(_MESSAGES.say("promise", "unprotected", **privacy))
    return " ".join([*texts, _MESSAGES.say("promise", "degree_error", **manifest["utility"])])


def _describe_uncertainty(manifest: Manifest) -> str:
    known = _MESSAGES.say("knows", manifest["privacy"]["knows"])
    demand = describe_demand(manifest, _MESSAGES)
    return _MESSAGES.say("promise", "uncertainty", knows=known, demand=demand)


def list_promise_points(manifest: Manifest) -> Sequence[Text]:
    """The points of the promise."""
    if OBFUSCATED not in list_promised_findings(manifest):
        return []
    return _MESSAGES.list_texts("promised", uncertainty=_describe_uncertainty(manifest))


def not_promised(manifest: Manifest) -> Sequence[Text]:
    """What no finding of the promise covers."""
    privacy, points = manifest["privacy"], []
    if privacy["exempt"]:
        points += _MESSAGES.list_texts("not_promised_to_all", **privacy)
    if privacy["knows"] in _MESSAGES.list_names("knows_more"):
        finer = _MESSAGES.say("knows_more", privacy["knows"])
        points += _MESSAGES.list_texts("not_promised_of_degrees", finer=finer)
    return [*points, *_MESSAGES.list_texts("not_promised")]


def not_promised_short(manifest: Manifest) -> str:
    """The points of `not_promised` in a sentence."""
    return _MESSAGES.say("short", "not_promised", **manifest["privacy"])
