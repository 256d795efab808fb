"""What `crowdcover try` has printed so far, as a table and bar charts over k."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from crowdcover.kinds.bars import draw_labelled_bars
from crowdcover.reports.drawing import ACCENT, DANGER, MUTED, SECOND
from crowdcover.reports.quantities import is_number, percent

_COLOURS = {"attack": DANGER, "uniform": DANGER, "cells_exact": SECOND}
# Shares, of which each kind of data has some.
_CHARTED = (
    *("ncp", "cells_exact", "uniform", "attack"),
    *("jaccard", "false", "missing", "discrepancy"),
)

_OF_SETTING = ("records", "numbers", "shown", "per_column", "refused", "seconds")


class ColumnLoss(NamedTuple):
    """A column, and its loss under each setting."""

    name: str
    losses: Sequence[str]


class Tried(NamedTuple):
    """The settings that were measured so far.

    `unique` is the number of records of the source that no other record resembles; None where it is
    not measured.
    """

    records: int
    unique: int | None
    headings: Sequence[str]
    settings: Sequence[Mapping[str, Any]]
    columns: Sequence[ColumnLoss]
    charts: Sequence["Chart"]


class Chart(NamedTuple):
    """A bar chart and what it shows."""

    caption: str
    picture: Markup


def read_answer(text: str, *needed: str) -> dict[str, Any] | None:
    """The JSON object that a command printed; None where that is cut off, or something else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.keys() >= set(needed) else None


def read_tried(lines: Sequence[str]) -> Tried | None:
    """The settings of `crowdcover try --lines`; None before the first one."""
    settings = [{**each, "label": name_setting(each)} for each in _read_settings(lines)]
    if not settings:
        return None
    measured = [each for each in settings if each["numbers"]]
    first: Mapping[str, Any] = measured[0] if measured else {}
    return Tried(
        max(int(each["records"]) for each in settings),
        first.get("unique_records"),
        list(first.get("shown", ())),
        settings,
        _list_losses(settings, first),
        list(_draw_measures(measured)),
    )


def name_setting(setting: Mapping[str, Any]) -> str:
    """A setting as people read it."""
    return f"k = {setting['k']}" if "k" in setting else "as the plan states"


def describe_settings(lines: Sequence[str]) -> list[str]:
    """The settings of `crowdcover try --lines` for people."""
    found = []
    for setting in _read_settings(lines):
        numbers = "; ".join(f"{name} {shown}" for name, shown in setting["shown"].items())
        found.append(f"{name_setting(setting)}: {numbers or 'no numbers'}")
    return found


def _read_settings(lines: Sequence[str]) -> list[dict[str, Any]]:
    """Each setting; lines of a stopped command, or of a library, may be none."""
    answers = (read_answer(line, *_OF_SETTING) for line in lines)
    return [each for each in answers if each is not None]


def _list_losses(
    settings: Sequence[Mapping[str, Any]], first: Mapping[str, Any]
) -> list[ColumnLoss]:
    """The loss of each column, in the order of the plan."""
    found = []
    for name in first.get("per_column", {}):
        losses = [each["per_column"].get(name, {}).get("ncp") for each in settings]
        if any(map(is_number, losses)):
            found.append(
                ColumnLoss(name, [percent(each) if is_number(each) else "-" for each in losses])
            )
    return found


def _draw_measures(measured: Sequence[Mapping[str, Any]]) -> Iterator[Chart]:
    """A chart for each measure that is a share under every setting, and one of the time."""
    if not measured:
        return
    names = [each["label"] for each in measured]
    headings = zip(measured[0]["numbers"], measured[0]["shown"], strict=True)
    for key, heading in headings:
        values = [each["numbers"].get(key) for each in measured]
        shares = [value for value in values if is_number(value) and 0 <= value <= 1]
        if key in _CHARTED and len(shares) == len(measured):
            labels = [each["shown"][heading] for each in measured]
            yield _draw_measure(key, heading, (names, shares, labels))
    seconds = [each["seconds"] for each in measured]
    longest = max([*seconds, 1e-9])
    parts = [each / longest for each in seconds]
    yield _draw_measure("seconds", "time", (names, parts, [f"{each:g} s" for each in seconds]))


def _draw_measure(key: str, heading: str, bars: tuple[list[str], list[float], list[str]]) -> Chart:
    names, values, labels = bars
    colour = MUTED if key == "seconds" else _COLOURS.get(key, ACCENT)
    svg = draw_labelled_bars(
        f"tried-{key.replace('_', '-')}",
        f"Bar chart of {heading}, by setting",
        names,
        values,
        labels,
        [colour] * len(names),
    )
    return Chart(heading, Markup(svg))  # noqa: S704 - drawn by this program
