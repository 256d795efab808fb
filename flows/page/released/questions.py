"""Questions that the page puts to the reader of releases: counts and means by a form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import crowdcover as cc
from crowdcover.kinds.section import PlanError
from crowdcover.reader.release import Release
from crowdcover.reports.quantities import count, digits

COMPARISONS = ("is", "at least", "at most")
CONDITIONS = 2


class Condition(NamedTuple):
    """A column, how it is compared, and with what."""

    column: str
    comparison: str
    value: str


@dataclass(frozen=True)
class ReleaseAnswer:
    """What the reader tells: numbers with their meanings, and the line of Python that asks."""

    question: str
    numbers: Sequence[tuple[str, str, str]]
    code: str


def answer_question(release: Release, folder: Path, form: Mapping[str, str]) -> ReleaseAnswer:
    """Count the rows that meet the conditions of a form, or the mean of a column."""
    if form.get("asked") == "mean":
        return _find_mean(release, folder, form.get("mean", ""))
    conditions = [
        Condition(*(form.get(f"{part}-{place}", "") for part in ("column", "comparison", "value")))
        for place in range(CONDITIONS)
    ]
    return _count(release, folder, [each for each in conditions if each.column])


def _count(release: Release, folder: Path, conditions: Sequence[Condition]) -> ReleaseAnswer:
    if not conditions:
        raise PlanError("choose a column and give its value")
    if len({each.column for each in conditions}) < len(conditions):
        raise PlanError("choose two different columns")
    asked: dict[str, Any] = {}
    code = []
    for each in conditions:
        if each.comparison not in COMPARISONS:
            raise PlanError(f"a comparison must be one of {', '.join(COMPARISONS)}")
        value = each.value.strip()
        if each.comparison == "is":
            asked[each.column], spelt = value, repr(value)
        else:
            bound = {"at least": cc.at_least, "at most": cc.at_most}[each.comparison]
            number = _parse_bound(value)
            asked[each.column], spelt = bound(number), f"cc.{bound.__name__}({number!r})"
        code.append(f"{each.column!r}: {spelt}")
    found = release.count(asked)
    numbers = [
        (
            "certain",
            _format_rows(found.certain),
            "rows that meet it, whatever their cells stand for",
        ),
        ("possible", _format_rows(found.possible), "rows that may meet it"),
        ("expected", digits(found.expected), "the estimate"),
        ("error", digits(found.error), "its standard error"),
    ]
    words = " and ".join(f"{each.column} {each.comparison} {each.value}" for each in conditions)
    call = f"count({{{', '.join(code)}}})"
    return ReleaseAnswer(f"Rows where {words}", numbers, f"cc.read({str(folder)!r}).{call}")


def _find_mean(release: Release, folder: Path, column: str) -> ReleaseAnswer:
    found = release.mean(column)
    numbers = [
        ("expected", digits(found.expected), "the estimate, over the people who have a value"),
        ("error", digits(found.error), "its standard error"),
        ("least", digits(found.lo), "the least mean that these rows allow"),
        ("greatest", digits(found.hi), "the greatest mean that these rows allow"),
    ]
    return ReleaseAnswer(f"Mean of {column}", numbers, f"cc.read({str(folder)!r}).mean({column!r})")


def _format_rows(number: float) -> str:
    """Rows; with weights of a survey they need not be whole."""
    return count(int(number)) if float(number).is_integer() else digits(number)


def _parse_bound(value: str) -> float | int | str:
    """A number, or a text such as a date."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    if not value:
        raise PlanError("give a value to compare with")
    return value
