"""Cells as others write them: values, intervals, sets, prefixes, nodes of a tree."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import inf
from typing import Any

from crowdcover.assessing.ranges import GONE, HIGHEST, LOWEST, Range, Ranges
from crowdcover.reader.coded.levels import MISSING

ReadCell = Callable[[Any], Ranges | None]

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_DAY = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?"
_END = rf"({_DAY}|{_NUMBER}|[-+]?inf|)"
_BRACKETS = re.compile(rf"([\[\](])\s*{_END}\s*[,;]\s*{_END}\s*([\[\])])")
_BETWEEN = re.compile(rf"{_END}\s*(?:\.\.|~|–|-|,|/| to )\s*{_END}")  # noqa: RUF001 - a dash
_BEYOND = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_DAY}|{_NUMBER})")
_OR_MORE = re.compile(rf"({_DAY}|{_NUMBER})\+()")
_UP_TO = ("<", "<=", "≤")
_PREFIX = re.compile(r"(.*[^*])\*+", re.DOTALL)
_LAST = "\U0010ffff"  # no text has a sign behind it
_SEPARATORS = ("|", "~", ",")


def read_typed_cell(cell: Any) -> Ranges | None:
    """A value of a type of its own: a number, a date, a list, or a struct with lo and hi."""
    if isinstance(cell, tuple):
        if cell and all(isinstance(each, tuple) and isinstance(each[0], str) for each in cell):
            return _read_struct(dict(cell))
        parts = [(GONE,) if each is None else read_typed_cell(each) for each in cell]
        return None if None in parts else tuple(ends for part in parts for ends in part or ())
    value = _order_value(cell)
    return None if value is None else (((value, 0), (value, 0)),)


def _read_struct(cell: Mapping[str, Any]) -> Ranges | None:
    if not {"lo", "hi"} <= cell.keys():
        return None
    gone = cell.get("missing", False)  # as our releases have it: None where it may be
    if gone:
        return (GONE,)
    low, high = (_order_value(cell[side]) for side in ("lo", "hi"))
    given = (LOWEST if low is None else (low, 0), HIGHEST if high is None else (high, 0))
    return (given,) if gone is False else (given, GONE)


def _order_value(value: Any) -> float | str | None:
    """A number that has the order of the values; a text is its own."""
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        moment = value.replace(tzinfo=None)
        return (moment - datetime.min) / timedelta(days=1) + 1
    if isinstance(value, date):
        return float(value.toordinal())
    if isinstance(value, time):
        return _order_value(datetime.combine(date.min, value))
    if isinstance(value, timedelta):
        return value / timedelta(days=1)
    return float(value) if isinstance(value, int | float | Decimal) else None


def read_ordered_cell(text: Any) -> Ranges | None:
    """A number, a date, an interval of them, or a set of all these between bars or in braces."""
    if not isinstance(text, str):
        return read_typed_cell(text)
    text = text.strip()
    if text.startswith("{") and text.endswith("}"):
        parts = text[1:-1].split(",")
    else:
        parts = text.split("|")
    found: list[Range | None] = []
    for part in map(str.strip, parts):
        if part.startswith(MISSING):  # also (missing)..22, as our releases have it
            found.append(GONE)
        if part != MISSING:
            found.append(_read_interval(part.removeprefix(MISSING)))
    return None if None in found else tuple(ends for ends in found if ends is not None)


def _read_interval(text: str) -> Range | None:
    value = _parse_end(text)
    if value is not None:
        return (value, 0), (value, 0)
    if match := _BRACKETS.fullmatch(text):
        left, low, high, right = match.groups()
        return _order_ends(low, high, 0 if left == "[" else 1, 0 if right == "]" else -1)
    if match := _BEYOND.fullmatch(text):
        sign, end = match.groups()
        return (
            _order_ends("", end, 0, -(sign == "<"))
            if sign in _UP_TO
            else _order_ends(end, "", sign == ">", 0)
        )
    match = _BETWEEN.fullmatch(text) or _OR_MORE.fullmatch(text)
    return None if match is None else _order_ends(match[1], match[2], 0, 0)


def _order_ends(low: str, high: str, after: int, before: int) -> Range | None:
    """The interval, None if it is empty; an end that is not written is open."""
    begin, end = _parse_end(low or "-inf"), _parse_end(high or "inf")
    if begin is None or end is None or (not low and not high):
        return None
    ends = (begin, after), (end, before)
    if begin == -inf:
        ends = LOWEST, ends[1]
    if end == inf:
        ends = ends[0], HIGHEST
    return None if begin > end else ends


def _parse_end(text: str) -> float | None:
    if re.fullmatch(rf"{_NUMBER}|[-+]?inf", text):
        return float(text)
    if re.fullmatch(_DAY, text):
        try:
            return float(_order_value(datetime.fromisoformat(text)) or 0)
        except ValueError:
            return None
    return None


def choose_text_reader(cells: Sequence[Any], nodes: Mapping[str, Collection[str]]) -> ReadCell:
    """The rule for texts: of separators, those that no text has with a blank behind."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    marks = [mark for mark in _SEPARATORS if not any(mark + " " in text for text in texts)]
    split = re.compile("|".join(map(re.escape, marks))) if marks else None

    def read(text: Any) -> Ranges | None:
        if not isinstance(text, str):
            return read_typed_cell(text)
        if text in nodes:
            return tuple(((leaf, 0), (leaf, 0)) for leaf in sorted(nodes[text]))
        if text.startswith("{") and text.endswith("}") and text != "{}":
            parts = [part.strip().strip("'\"") for part in text[1:-1].split(",")]
        else:
            parts = split.split(text) if split else [text]
        if not all(parts):
            parts = [text]
        return tuple(_read_prefix(part) for part in parts)

    return read


def _read_prefix(text: str) -> Range:
    """A text, or all texts that begin as it does before its stars."""
    if text == MISSING:
        return GONE
    match = _PREFIX.fullmatch(text)
    if match is None:
        return (text, 0), (text, 0)
    return (match[1], 0), (match[1] + _LAST, 0)
