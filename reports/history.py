"""Approval of a release, and its comparison with earlier releases."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from crowdcover.reports.facts import Fact, Manifest, list_facts
from crowdcover.reports.messages import capitalize_first, load_messages
from crowdcover.reports.quantities import NOT_STATED, count, digits, is_number, printable

_MESSAGES = load_messages("crowdcover.reports")


class Part(NamedTuple):
    """Facts under a heading, and the sentence to show if there are none."""

    heading: str
    facts: Sequence[Fact]
    otherwise: str


def list_history_parts(manifest: Manifest) -> list[Part]:
    """Approval, earlier releases and changes, as the manifest records them."""
    facts = {
        "approval": _describe_approval(manifest),
        "second_release": _explain_entries(manifest.get("second_release"), "second_release"),
        "drift": _explain_entries(
            manifest.get("drift"), "drift", *(["drift_of_version"] if "series" in manifest else [])
        ),
    }
    return [
        Part(
            _MESSAGES.say("history", name, "heading"),
            facts[name],
            _MESSAGES.say("history", name, "otherwise"),
        )
        for name in facts
    ]


def _describe_approval(manifest: Manifest) -> list[Fact]:
    """Name, time and note, how the person is known, and who asked; empty if none is recorded."""
    approval = manifest.get("approval")
    if not approval:
        return []
    asked = approval.get("requested_by") or {}
    systems = [f"{printable(name)} ({printable(system)})" for system, name in asked.items()]
    also = approval.get("also")
    entries = [*(also if isinstance(also, list) else []), approval]
    # All of them answered one request, so who asked stands once, at the end.
    askers = [*[""] * (len(entries) - 1), ", ".join(systems)]
    return [
        fact
        for each, asked in zip(entries, askers, strict=True)
        for fact in _describe_person(each, asked)
    ]


def _describe_person(approval: Manifest, asked: str) -> list[Fact]:
    """The approval of one person, as the manifest records it."""
    how, place = approval.get("authenticated"), approval.get("in_place_of")
    return list_facts(
        _MESSAGES,
        "approval",
        by=printable(approval["by"]) if approval.get("by") else NOT_STATED,
        place=printable(place) if place else "",
        at=approval.get("at"),
        note=printable(approval["note"]) if approval.get("note") else "none",
        known=_describe_proof(how, approval.get("identity") or "") if how else "",
        asked=asked,
    )


def _describe_proof(how: str, identity: str) -> str:
    """How the person who approved is known."""
    if how not in _MESSAGES.list_names("authenticated"):
        return printable(how)
    return _MESSAGES.say("authenticated", how, identity=printable(identity))


def approval_lacks(manifest: Manifest) -> bool:
    """Whether the plan required an approval, but none is recorded."""
    approval = manifest.get("approval") or {}
    # A name is what makes it an approval: a note or a time alone is none.
    return bool(approval.get("required")) and not approval.get("by")


def _explain_entries(section: Mapping[str, Any] | None, *groups: str) -> list[Fact]:
    """The entries of a section: known names first, in their order; others under their own."""
    if not section:
        return []
    # A later group replaces labels of an earlier one and keeps their places.
    names = {key: texts for group in groups for key, *texts in _MESSAGES.list_lines(group)}
    expected = [
        Fact(label, _print_entry(section[key]), meaning)
        for key, (label, meaning) in names.items()
        if key in section
    ]
    return expected + [
        Fact(_label_of(key), _print_entry(value))
        for key, value in section.items()
        if key not in names
    ]


def _label_of(key: Any) -> str:
    return capitalize_first(printable(key).replace("_", " "))


def _print_entry(value: Any) -> str:
    """Any entry of a manifest as printable text."""
    # Before numbers: in Python, True is a number.
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return printable(value) or "none"
    if isinstance(value, Mapping):
        return (
            "; ".join(f"{printable(name)}: {_print_entry(entry)}" for name, entry in value.items())
            or "none"
        )
    if isinstance(value, Sequence):
        return ", ".join(_print_entry(entry) for entry in value) or "none"
    if not is_number(value):
        return NOT_STATED
    return count(value) if value == int(value) else digits(value)
