"""columns.<name>.hierarchy: which values are near, from a file, first letters, or steps.

columns.<name>.floor: how many people a node must have to be shown.
"""

import csv
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from anon_core.errors import InputError
from anon_core.specs.hierarchies import CALENDAR, Floor, Hierarchy, read_hierarchy
from crowdcover.kinds.section import Section
from crowdcover.kinds.table.plan.known_trees import (
    CountryCode,
    NaceCode,
    build_country_tree,
    build_nace_tree,
)

_Found = TypeVar("_Found")
_SEPARATORS = (";", ",", "\t", "|")
_FORM = (
    "must be a file, {path = file, other = node}, {prefix = [5, 3, 1]}, {countries = 'alpha-2'}, "
    "{nace = 'dotted'}, {ladder = [5, 10, 20]}, {calendar = ['month', 'year']}, {hours = [1, 6]}, "
    "or of a point {grid = [0.1, 1, 10]}"
)
_STEPS = ("ladder", "calendar", "hours", "grid")
_NESTED = {"hours": "[1, 6, 24]", "grid": "[0.1, 1, 10]"}
_FORMS = ("path", "prefix", "countries", "nace", *_STEPS)
CalendarStep = Literal["day", "week", "month", "quarter", "year", "decade"]
_Line = tuple[int, Sequence[str]]  # its number and its fields
_Rows = Sequence[_Line]

FLOOR = "must be a number of people, or {people = number, population = file}"


class HierarchySection(Section):
    """columns.<name>.hierarchy as a table.

    Attributes
    ----------
    path : a file with a line for each leaf: the leaf, the nodes above it, the top. It starts at the
        plan's folder.
    header : whether the first line of the file names the levels, as questions to a release do.
    other : the node that values belong to which are no leaf of the file.
    prefix : instead of path: how many letters of a code each node keeps, falling.
    countries : instead of path: alpha-2 or alpha-3, codes of ISO 3166-1; nodes are regions of the
        United Nations.
    nace : instead of path: dotted or plain, codes of NACE Rev. 2 such as 62.01 or 6201; nodes are
        groups, divisions and sections.
    ladder : instead of path, of numbers: the widths of aligned intervals, rising; each divides the
        next one. Cells show nothing finer than the first.
    calendar : instead of path, of dates: day, week, month, quarter, year, decade, or some of them,
        in this order. Cells show nothing finer than the first.
    hours : instead of path, of times of day: the widths of aligned intervals in hours, rising; each
        divides the next one, and 24.
    grid : instead of path, of a point: the widths of boxes in degrees, rising; each divides the
        next one, and 90. Cells show nothing finer than the first.
    weights : what a cell loses that shows a value, a node of each level from the finest on, or *:
        numbers that rise from 0 to 1, in six decimals. Without them it loses as much as it has
        more values.
    """

    path: str | None = None
    header: bool = False
    other: str | None = None
    prefix: list[Annotated[int, Field(ge=1)]] = []
    countries: CountryCode | None = None
    nace: NaceCode | None = None
    ladder: list[Annotated[float, Field(gt=0, allow_inf_nan=False)]] = []
    calendar: list[CalendarStep] = []
    hours: list[Annotated[int, Field(ge=1, le=24)]] = []
    grid: list[Annotated[float, Field(gt=0, le=90)]] = []
    weights: list[Annotated[float, Field(ge=0, le=1)]] = []

    def hierarchy(self) -> Hierarchy:
        """The checked section as the encoder uses it."""
        return replace(self._read_stated_tree(), weights=tuple(self.weights))

    def _read_stated_tree(self) -> Hierarchy:
        if sum(bool(getattr(self, form)) for form in _FORMS) != 1:
            raise InputError(_FORM)
        if self.path is not None:
            return _read_file(Path(self.path), self.other, header=self.header)
        if self.other is not None or self.header:
            raise InputError("other and header belong to a file; leave them out")
        if self.countries is not None:
            return build_country_tree(self.countries)
        if self.nace is not None:
            return build_nace_tree(self.nace)
        if self.prefix != sorted(set(self.prefix), reverse=True):
            raise InputError("prefix must be whole numbers, falling, such as [5, 3, 1]")
        _check_nesting("ladder", self.ladder)
        _check_nesting("hours", self.hours)
        if self.hours and 24 % self.hours[-1]:
            raise InputError("hours must divide the 24 hours of a day, such as [1, 6]")
        _check_nesting("grid", self.grid)
        if self.grid and 90 % Decimal(repr(self.grid[-1])):
            raise InputError("grid must divide 90 degrees, such as [0.1, 1, 10]")
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
            grid=tuple(self.grid),
        )


def _check_nesting(form: str, steps: Sequence[float]) -> None:
    """Refuse steps that do not rise, or one that does not divide the next one."""
    # In decimals 0.3 is three times 0.1.
    widths = [Decimal(repr(step)) for step in steps]
    if any(low >= high or high % low for low, high in pairwise(widths)):
        raise InputError(
            f"{form} must be widths that rise, each a multiple of the one before, such as "
            + _NESTED.get(form, "[5, 10, 20]")
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
    steps = {form: [*given] for form in _STEPS if (given := getattr(hierarchy, form))}
    described: Any = steps or [*hierarchy.prefix] or content
    if hierarchy.above:
        described = [described, sorted(hierarchy.above.items())]
    return [described, [*hierarchy.weights]] if hierarchy.weights else described


class FloorSection(Section):
    """columns.<name>.floor as a table.

    Attributes
    ----------
    people : how many people must live in a place that any cell shows.
    population : a file with a line for each leaf: the leaf, how many people live there. It starts
        at the plan's folder. Without it, the people of the source count.
    header : whether the first line of the file names its columns.
    """

    people: Annotated[int, Field(ge=1)]
    population: str | None = None
    header: bool = False

    def floor(self) -> Floor:
        """The checked section as the encoder uses it."""
        if self.population is None:
            if self.header:
                raise InputError("header belongs to a file; leave it out")
            return Floor(self.people)
        return Floor(self.people, _read_population(Path(self.population), header=self.header))


def floor_of(stated: int | FloorSection) -> Floor:
    """The floor that a plan states; an InputError says what is wrong with it."""
    section = FloorSection(people=stated) if isinstance(stated, int) else stated
    return section.floor()


def describe_floor_for_hash(floor: Floor) -> Any:
    """What a plan's hash takes of a floor: where its file lies decides nothing."""
    if floor.population is None:
        return floor.people
    content = repr(sorted(floor.population.items())).encode()
    return [floor.people, hashlib.sha256(content).hexdigest()]


def _read_population(path: Path, *, header: bool) -> Mapping[str, int]:
    def read(rows: _Rows) -> Mapping[str, int]:
        people: dict[str, int] = {}
        for line, row in rows[header:]:
            if len(row) != 2 or not (row[1].isascii() and row[1].isdigit()):
                raise InputError(f"line {line} is no leaf with a whole number of people")
            if row[0] in people:
                raise InputError(f"line {line} has a leaf that stands in a line before")
            people[row[0]] = int(row[1])
        return people

    return _read_rows(path, read)


def _read_file(path: Path, other: str | None, *, header: bool) -> Hierarchy:
    def read(rows: _Rows) -> Hierarchy:
        levels = _read_level_names(rows) if header else ()
        paths = read_hierarchy(rows[header:])
        return Hierarchy(paths, other=other, levels=levels)

    found = _read_rows(path, read)
    if other is not None and other not in found.nodes:
        raise InputError("other names no node of the file that lies above its leaves")
    return found


def _read_rows(path: Path, read: Callable[[_Rows], _Found]) -> _Found:
    """What `read` makes of the rows of a file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        refusal = ""
    except OSError:
        refusal = "cannot be read; give the path of a file"
    except UnicodeDecodeError:
        refusal = "is not UTF-8 text; convert it"
    if not refusal:
        try:
            return read(_split_rows(text))
        except (InputError, csv.Error) as error:
            refusal = f"is refused: {error}"
    raise InputError(f"the file {path} {refusal}")


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
