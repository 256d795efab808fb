"""What a version of a series promises beyond any release, and what its numbers mean."""

from collections.abc import Iterator, Mapping
from typing import Any

from crowdcover.reports import series
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count, is_number, percent, printable
from crowdcover.reports.words import (
    ABOVE,
    NO_LIMIT,
    NOT_MEASURED,
    WITHIN,
    Block,
    Check,
    Figure,
    Text,
)

OFTEN = 0.1  # share of the records that were followed
_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.table")


def list_series_promise_points(manifest: Manifest) -> list[Text]:
    """What holds over all versions so far."""
    findings = manifest["privacy"].get("promise", ())
    known = _MESSAGES.list_names("promised_of_series")
    return [
        text
        for finding in findings
        if finding in known
        for text in _MESSAGES.list_texts("promised_of_series", finding, **_state_series(manifest))
    ]


def describe_series_promise(manifest: Manifest) -> str:
    """What holds over all versions, in a sentence; nothing where the release is no version."""
    if series.series_of(manifest) is None:
        return ""
    number = series.version_number(manifest)
    return " " + _MESSAGES.say(
        "promise_of_series", "first" if number == 1 else "later", number=number
    )


def not_promised(manifest: Manifest) -> list[Text]:
    """What no version of a series promises."""
    carried = list_carried_columns(manifest)
    return _MESSAGES.list_texts(
        "not_promised_of_series", carried=carried, ever=_count_ever(manifest),
        **_state_series(manifest),
    )  # fmt: skip


def limit_to_new(question: str, new: str) -> str:
    """A question about risks that says which rows its figures are about."""
    return _MESSAGES.say("counts_of_series", "unless", question=question, new=new)


def _state_series(manifest: Manifest) -> dict[str, Any]:
    """What messages say of a series; `followed`: a column names each person in every version."""
    section = series.series_of(manifest) or {}
    return {
        "followed": "followed" in section,
        "constant": section.get("constant", []),
        "linked_below_k": section.get("linked_below_k"),
        "records_ever": section.get("records_ever"),
    }


def _say_count(name: str, manifest: Manifest) -> str:
    return _MESSAGES.say("counts_of_series", name, **_state_series(manifest))


def _count_ever(manifest: Manifest) -> str:
    """How many ever had a row, with what they are."""
    return _say_count("ever", manifest)


def list_carried_columns(manifest: Manifest) -> list[str]:
    """Names of the columns that are published as they are."""
    return [
        printable(name)
        for name, stated in manifest.get("columns", {}).items()
        if stated.get("role") in ("sensitive", "keep")
    ]


# ---------------------------------------------------------------- columns that change


def list_column_changes(section: Mapping[str, Any]) -> list[tuple[str, int, float]]:
    """For each column: its name, the records in which it changed, and their share; most first."""
    followed = section.get("followed", 0)
    found = section.get("changed_by", {}).items() if followed else ()
    shares = [(printable(name), number, number / followed) for name, number in found if number]
    return sorted(shares, key=lambda each: -each[1])


def list_change_warnings(section: Mapping[str, Any]) -> list[str]:
    """A warning for each column that changed in many records since the version before."""
    followed, changes = section.get("followed", 0), list_column_changes(section)
    often = [
        {"name": name, "number": number, "share": share}
        for name, number, share in changes
        if share >= OFTEN
    ]
    return [
        _MESSAGES.say("warnings_of_series", "changes", followed=followed, **each) for each in often
    ]


def list_series_warnings(manifest: Manifest) -> list[str]:
    """Columns that change often; people whose rows can be connected."""
    section = series.series_of(manifest)
    if section is None:
        return []
    linked, short = section.get("linked_below_k"), section.get("histories_below_k")
    figures = {**_state_series(manifest), "ever": _count_ever(manifest), "short": short}
    warnings = list_change_warnings(section)
    if is_number(short) and 0 < short <= _count_allowed_people(section):
        warnings.append(_MESSAGES.say("warnings_of_series", "histories", **figures))
    if is_number(linked) and linked > 0 and figures["constant"]:
        warnings.append(_MESSAGES.say("warnings_of_series", "linked", **figures))
    return warnings


def column_block(manifest: Manifest) -> Block | None:
    """How often each column changed, as a table."""
    section = series.series_of(manifest) or {}
    followed = section.get("followed", 0)
    if not followed:
        return None
    changes = list_column_changes(section)
    none = [(_MESSAGES.say("changed_columns", "none"), 0, 0.0)]
    return Block(
        _MESSAGES.say("changed_columns", "heading", followed=followed),
        _MESSAGES.list_headings("changed_columns", "columns"),
        [(name, count(number), percent(share)) for name, number, share in changes or none],
    )


# ---------------------------------------------------------------- counts


def list_series_checks(manifest: Manifest) -> list[Check]:
    """Counts over all versions on which the promise depends; each must be 0."""
    section = series.series_of(manifest)
    if section is None:
        return []
    return [
        _at_most(section.get(name), limit, _say_count(name, manifest))
        for name, limit in _list_limits(section).items()
    ]


def _list_limits(section: Mapping[str, Any]) -> dict[str, int]:
    """Limits of the counts over all versions."""
    return {"below_k": 0, "histories_below_k": _count_allowed_people(section)}


def _count_allowed_people(section: Mapping[str, Any]) -> int:
    """People who may have too few histories, as the plan states."""
    return int(section.get("allow_short_histories", 0))


def _at_most(number: object, limit: int, what: str) -> Check:
    stated = _MESSAGES.say("counts_of_series", "allowed", limit=limit) if limit else "0"
    return Check(what, stated, count(number), is_number(number) and number <= limit)


def list_linkability_figures(manifest: Manifest) -> Iterator[Figure]:
    """What comparing versions tells."""
    section = series.series_of(manifest)
    if section is None:
        return
    for name, limit in _list_limits(section).items():
        if is_number(number := section.get(name)):
            against = (
                _MESSAGES.say("counts_of_series", "allowed_figure", limit=limit)
                if limit
                else _MESSAGES.say("against", "promise")
            )
            result = WITHIN if number <= limit else ABOVE
            yield Figure(_say_count(name, manifest), count(number), against, result)
    if section.get("constant"):
        what, measured = _say_count("linked", manifest), _say_count("linked_of", manifest)
    else:
        what, measured = _say_count("connected", manifest), NOT_MEASURED
    yield Figure(what, measured, _MESSAGES.say("against", "nothing"), NO_LIMIT)


def describe_new_rows(manifest: Manifest) -> str:
    """How many rows of a version are new, for its headline; nothing where all are."""
    if not series.has_earlier_rows(manifest):
        return ""
    return _MESSAGES.say("counts_of_series", "new_rows", **manifest["series"])


def describe_movements(counts: Mapping[str, Any]) -> list[str]:
    """Sentences on who came, who went and who waits, for the log."""
    names = ["rows", *(name for name in ("pulled", "held_by_history") if counts[name])]
    return [_MESSAGES.say("movements", name, **counts) for name in names]
