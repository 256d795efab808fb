"""columns.<name>.hierarchy: which values are near, from a file, first letters, or steps."""

import csv
import hashlib
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from anon_core.errors import InputError
from anon_core.specs.hierarchies import CALENDAR, Hierarchy, read_hierarchy
from kinds.section import Section

_SEPARATORS = (";", ",", "\t", "|")
_FORM = (
    "must be a file, {path = file, other = node}, {prefix = [5, 3, 1]}, {ladder = [5, 10, 20]}, "
    "{calendar = ['month', 'year']}, or {hours = [1, 6]}"
)
_STEPS = ("ladder", "calendar", "hours")
_FORMS = ("path", "prefix", *_STEPS)
_Line = tuple[int, Sequence[str]]  # its number and its fields


class HierarchySection(Section):
    """columns.<name>.hierarchy as a table.

    Attributes
    ----------
    path : a file with a line for each leaf: the leaf, the nodes above it, the top. It starts at the
        plan's folder.
    header : whether the first line of the file names the levels, as questions to a release do.
    other : the node that values belong to which are no leaf of the file.
    prefix : instead of path: how many letters of a code each node keeps, falling.
    ladder : instead of path, of numbers: the widths of aligned intervals, rising; each divides the
        next one. Cells show nothing finer than the first.
    calendar : instead of path, of dates: day, week, month, quarter, year, decade, or some of them,
        in this order. Cells show nothing finer than the first.
    hours : instead of path, of times of day: the widths of aligned intervals in hours, rising; each
        divides the next one, and 24.
    """

    path: str | None = None
    header: bool = False
    other: str | None = None
    prefix: list[Annotated[int, Field(ge=1)]] = []
    ladder: list[Annotated[float, Field(gt=0, allow_inf_nan=False)]] = []
    calendar: list[Literal["day", "week", "month", "quarter", "year", "decade"]] = []
    hours: list[Annotated[int, Field(ge=1, le=24)]] = []

    def hierarchy(self) -> Hierarchy:
        """The checked section as the encoder uses it."""
        if sum(bool(getattr(self, form)) for form in _FORMS) != 1:
            raise InputError(_FORM)
        if self.path is not None:
            return _read_file(Path(self.path), self.other, header=self.header)
        if self.other is not None or self.header:
            raise InputError("other and header belong to a file; leave them out")
        if self.prefix != sorted(set(self.prefix), reverse=True):
            raise InputError("prefix must be whole numbers, falling, such as [5, 3, 1]")
        _check_nesting("ladder", self.ladder)
        _check_nesting("hours", self.hours)
        if self.hours and 24 % self.hours[-1]:
            raise InputError("hours must divide the 24 hours of a day, such as [1, 6]")
        places = [CALENDAR.index(step) for step in self.calendar]
        if places != sorted(set(places)):
            raise InputError(f"calendar must name steps once each, in the order {CALENDAR}")
        if "week" in self.calendar and self.calendar[-1] != "week":
            raise InputError(
                "calendar has weeks, which cross the ends of months and years; leave out week, or "
                "all that is longer"
            )
        return Hierarchy(
            prefix=tuple(self.prefix),
            ladder=tuple(self.ladder),
            calendar=tuple(self.calendar),
            hours=tuple(self.hours),
        )


def _check_nesting(form: str, steps: Sequence[float]) -> None:
    """Refuse steps that do not rise, or one that does not divide the next one."""
    # In decimals 0.3 is three times 0.1.
    widths = [Decimal(repr(step)) for step in steps]
    if any(low >= high or high % low for low, high in pairwise(widths)):
        raise InputError(
            f"{form} must be widths that rise, each a multiple of the one before, such as "
            + ("[1, 6, 24]" if form == "hours" else "[5, 10, 20]")
        )


def hierarchy_of(stated: str | HierarchySection) -> Hierarchy:
    """The hierarchy that a plan states; an InputError says what is wrong with it."""
    section = HierarchySection(path=stated) if isinstance(stated, str) else stated
    return section.hierarchy()


def describe_for_hash(hierarchy: Hierarchy) -> Any:
    """What a plan's hash takes of a hierarchy: where its file lies decides nothing."""
    paths = sorted(hierarchy.paths.items())
    named = (hierarchy.levels,) if hierarchy.levels else ()
    content = hashlib.sha256(repr((paths, hierarchy.other, *named)).encode()).hexdigest()
    for form in _STEPS:
        if steps := getattr(hierarchy, form):
            return {form: list(steps)}
    return list(hierarchy.prefix) or content


def _read_file(path: Path, other: str | None, *, header: bool) -> Hierarchy:
    try:
        text = path.read_text(encoding="utf-8-sig")
        refusal = ""
    except OSError:
        refusal = "cannot be read; give the path of a file"
    except UnicodeDecodeError:
        refusal = "is not UTF-8 text; convert it"
    if not refusal:
        try:
            rows = _split_rows(text)
            levels = _read_level_names(rows) if header else ()
            paths = read_hierarchy(rows[header:])
        except (InputError, csv.Error) as error:
            refusal = f"is refused: {error}"
    if refusal:
        raise InputError(f"the file {path} {refusal}")
    hierarchy = Hierarchy(paths, other=other, levels=levels)
    if other is not None and other not in hierarchy.nodes:
        raise InputError("other names no node of the file that lies above its leaves")
    return hierarchy


def _read_level_names(rows: Sequence[_Line]) -> tuple[str, ...]:
    """The names of the levels between top and leaf, from the top on, as the first line has them."""
    (line, names), lowest = rows[0], rows[-1][1]
    if len({*names}) < len(names) or not all(names) or len(names) != len(lowest):
        raise InputError(
            f"line {line} has {len(names)} names of levels, the lines below {len(lowest)} levels; "
            "give each level a name of its own"
        )
    return tuple(names[-2:0:-1])


def _split_rows(text: str) -> Sequence[_Line]:
    """The number and the fields of each line that is not empty, without blanks around fields.

    The separator is that of the first one.
    """
    lines = text.splitlines()
    first = next(filter(str.strip, lines), None)
    if first is None:
        raise InputError("it is empty")
    separator = max(_SEPARATORS, key=first.count)
    reader = csv.reader(lines, delimiter=separator)
    return [(reader.line_num, [field.strip() for field in row]) for row in reader if row]
