"""Hierarchies of categories, numbers and dates: what a plan states, before data is read."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from anon_core.errors import InputError
from anon_core.specs.boxes import find_corner, name_box, read_step

TOP = "*"  # the name that every hierarchy's root has here
CALENDAR = ("day", "week", "month", "quarter", "year", "decade")
_DECIMALS = 6  # of weights: a millionth of a column of weight 1 has a price of about 1,000
_TIME = re.compile(r"(\d{1,2}):[0-5]\d(:[0-5]\d(\.\d+)?)?")


@dataclass(frozen=True)
class Hierarchy:
    """Which values are near.

    Attributes
    ----------
    paths : mapping of str to tuple of str
        Of each leaf the names from the node below the root down to its own.
    prefix : tuple of int
        Without paths: how many letters each node keeps of a category, falling. A star stands for
        the letters that it lacks.
    above : mapping of str to str
        With a prefix: of each shortest beginning the node above it. Other codes are no leaves.
    form : str
        With a prefix: a regular expression of whole codes. Other texts are no leaves.
    other : str, optional
        The node that categories belong to which are no leaf.
    levels : tuple of str
        Names of the levels of nodes, from the one below the root on; see `name_level`.
    ladder : tuple of float
        Of numbers: the widths of aligned intervals, rising; each divides the next one.
    calendar : tuple of str
        Of dates: names out of `CALENDAR`, rising.
    hours : tuple of int
        Of texts that are times of day: the widths of aligned intervals in hours, rising.
    grid : tuple of float
        Of boxes of the first of these widths, in degrees: the widths of the boxes that hold them,
        rising; each divides the next one.
    weights : tuple of float
        What a cell loses that shows a value, a node of each level from the finest on, or the root,
        in parts of the column: rising from 0 to 1, also rounded to six decimals, so that whole
        numbers can price each step. Empty: as many parts as it has values.
    """

    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    prefix: tuple[int, ...] = ()
    above: Mapping[str, str] = field(default_factory=dict, repr=False)
    form: str = field(default="", repr=False)
    other: str | None = field(default=None, repr=False)
    levels: tuple[str, ...] = field(default=(), repr=False)
    ladder: tuple[float, ...] = ()
    calendar: tuple[str, ...] = ()
    hours: tuple[int, ...] = ()
    grid: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Refuse another number of weights, and those that do not rise from 0 to 1."""
        if not self.weights:
            return
        needed = self.depth + 2
        if len(self.weights) != needed:
            raise InputError(
                f"weights has {len(self.weights)} numbers, and this hierarchy needs {needed}: one "
                "of values, one of each level of nodes from the finest on, and one of *"
            )
        # Stated as what must hold: a comparison with nan is false, so nan is refused, too.
        steps = pairwise([round(weight, _DECIMALS) for weight in self.weights])
        rise = all(low < high for low, high in steps)
        if not (rise and self.weights[0] == 0 and self.weights[-1] == 1):
            raise InputError(
                "weights must rise from 0, of values, to 1, of *, such as [0, 0.3, 0.6, 1]: a "
                f"wider node tells less. Each must be greater in the first {_DECIMALS} decimals; "
                "a smaller step would cost nothing"
            )

    @property
    def depth(self) -> int:
        """How many levels of nodes lie between a value, or the finest step, and the root."""
        if steps := self.ladder or self.calendar or self.grid:
            return len(steps) - 1
        if nested := self.prefix or self.hours:
            return len(nested) + bool(self.above)
        return max(map(len, self.paths.values()), default=1) - 1

    def weigh(self, depth: int) -> float:
        """What a node of a level loses, see `weights`; depth 1 is just below the root."""
        return self.weights[-1 - depth]

    @property
    def kind(self) -> str:
        """The kind of the columns that it belongs to."""
        return "numeric" if self.ladder else "date" if self.calendar else "categorical"

    def name_level(self, depth: int) -> str:
        """Return the name of the level of a node; depth 1 is just below the root.

        The letters that it keeps, its step, else the level's name, else the depth.
        """
        if self.calendar:
            return self.calendar[-depth]
        if steps := self.ladder or self.hours or self.grid:
            step = steps[-depth]
            return str(int(step)) if step % 1 == 0 else repr(step)
        if self.prefix and not self.levels:
            return str(self.prefix[-depth])
        return self.levels[depth - 1] if self.levels else str(depth)

    def path_of(self, category: str) -> tuple[str, ...] | None:
        """Return the names from the node below the root down to the category; None if no leaf."""
        if self.prefix:
            return self._find_beginnings(category)
        if self.hours:
            return self._find_hours(category)
        if self.grid:
            return self._find_boxes(category)
        if (path := self.paths.get(category)) is not None:
            return path
        # A cell with the name of a node could not be told from a value with this name.
        if self.other is None or category in self.nodes:
            return None
        return (*self.nodes[self.other], category)

    def _find_beginnings(self, code: str) -> tuple[str, ...] | None:
        """The path of a code; None of another form, or without the node that must be above it."""
        if self.form and re.fullmatch(self.form, code) is None:
            return None
        nodes = [code[:kept] + TOP for kept in self.prefix[::-1] if kept <= len(code)]
        if not self.above:
            return (*nodes, code)
        top = self.above.get(code[: self.prefix[-1]])
        return None if top is None else (top, *nodes, code)

    def _find_hours(self, text: str) -> tuple[str, ...] | None:
        """The path of a time of day; None for other texts."""
        found = _TIME.fullmatch(text)
        if found is None or (hour := int(found[1])) > 23:
            return None
        begins = [(hour - hour % step, step) for step in self.hours[::-1]]
        return (*(f"{hour:02}:00-{hour + step - 1:02}:59" for hour, step in begins), text)

    def _find_boxes(self, text: str) -> tuple[str, ...] | None:
        """The path of a box of the finest width; None for other texts."""
        finest, *coarser = map(read_step, self.grid)
        corner = find_corner(text, finest)
        if corner is None:
            return None
        return (*(name_box(corner, step) for step in coarser[::-1]), text)

    @cached_property
    def nodes(self) -> Mapping[str, tuple[str, ...]]:
        """Of each node that lies above leaves the names from below the root down to its own."""
        return {
            name: path[:depth]
            for path in self.paths.values()
            for depth, name in enumerate(path[:-1], start=1)
        }


@dataclass(frozen=True)
class Floor:
    """How many people must live in a place that is shown; see `anon_core.tables.categories`.

    Attributes
    ----------
    people : int
        Or as many as any record demands, if that is more.
    population : mapping of str to int, optional
        How many people live in each leaf. None: those of the source count.
    """

    people: int
    population: Mapping[str, int] | None = field(default=None, repr=False)


def read_hierarchy(lines: Iterable[tuple[int, Sequence[str]]]) -> Mapping[str, tuple[str, ...]]:
    """Read rows of a file, each from a leaf up to the top, as ARX writes them.

    Parameters
    ----------
    lines : iterable of (int, sequence of str)
        The number of each row's line, for refusals, and the row.

    Returns
    -------
    mapping of str to tuple of str
        Of each leaf the names from the node below the root down to its own.

    Raises
    ------
    InputError
        Rows of different lengths, a leaf that stands twice, no common top, a node without a name,
        one that is named like a leaf or the top, or one with two nodes above it, as every cycle
        has.
    """
    paths: dict[str, tuple[str, ...]] = {}
    above: dict[str, tuple[str, ...]] = {}
    numbered = list(lines)
    rows = [row for _, row in numbered]
    tops = {row[-1] for row in rows}
    leaves = {row[0] for row in rows}
    for line, row in numbered:
        if len(row) != len(rows[0]):
            raise InputError(
                f"line {line} has {len(row)} levels, the first one {len(rows[0])}; write each leaf "
                "with all levels up to the top"
            )
        if len(row) < 2 or row[-1] != rows[0][-1]:
            raise InputError(
                f"line {line} ends with another top than the first one ({len(tops)} tops in all); "
                "end each line with one, such as *"
            )
        if row[0] in paths:
            raise InputError(f"line {line} has a leaf that stands in a line before; leave one out")
        # A level that repeats the one below it is none of its own.
        names = [name for name, below in zip(row[:-1], [None, *row], strict=False) if name != below]
        path = tuple(names[::-1])
        for depth, name in enumerate(path[:-1], start=1):
            if not name:
                raise InputError(f"line {line} has a node without a name; name it")
            if name in leaves:
                raise InputError(f"line {line} has a node that is named like a leaf; rename it")
            if above.setdefault(name, path[:depth]) != path[:depth]:
                raise InputError(
                    f"line {line} has a node that lies below two nodes; give each node one place"
                )
        if TOP in path or row[-1] in path:
            raise InputError(f"line {line} has the name of the top, or *, below the top; rename it")
        paths[row[0]] = path
    return paths
