"""Hierarchies of categories: what a plan states, before the data is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from anon_core.errors import InputError

TOP = "*"  # the name that every hierarchy's root has here


@dataclass(frozen=True)
class Hierarchy:
    """Which categories are near.

    Attributes
    ----------
    paths : mapping of str to tuple of str
        Of each leaf the names from the node below the root down to its own.
    prefix : tuple of int
        Without paths: how many letters each node keeps of a category, falling. A star stands for
        the letters that it lacks.
    other : str, optional
        The node that categories belong to which are no leaf.
    levels : tuple of str
        Names of the levels of nodes, from the one below the root on; see `name_level`.
    """

    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    prefix: tuple[int, ...] = ()
    other: str | None = field(default=None, repr=False)
    levels: tuple[str, ...] = field(default=(), repr=False)

    def name_level(self, depth: int) -> str:
        """Return the name of the level of a node; depth 1 is just below the root.

        The letters that it keeps, else the level's name, else the depth.
        """
        if self.prefix:
            return str(self.prefix[-depth])
        return self.levels[depth - 1] if self.levels else str(depth)

    def path_of(self, category: str) -> tuple[str, ...] | None:
        """Return the names from the node below the root down to the category; None if no leaf."""
        if self.prefix:
            nodes = (category[:kept] + TOP for kept in self.prefix[::-1] if kept <= len(category))
            return (*nodes, category)
        if (path := self.paths.get(category)) is not None:
            return path
        if self.other is None:
            return None
        return (*self._find_node(self.other), category)

    def _find_node(self, name: str) -> tuple[str, ...]:
        """The names from the node below the root down to this one."""
        for path in self.paths.values():
            if name in path[:-1]:
                return path[: path.index(name) + 1]
        return ()  # the root


def read_hierarchy(rows: Sequence[Sequence[str]], first_line: int) -> Mapping[str, tuple[str, ...]]:
    """Read rows of a file, each from a leaf up to the top, as ARX writes them.

    Parameters
    ----------
    rows : sequence of sequence of str
    first_line : int
        The number of the first row's line, for refusals.

    Returns
    -------
    mapping of str to tuple of str
        Of each leaf the names from the node below the root down to its own.

    Raises
    ------
    InputError
        Rows of different lengths, a leaf that stands twice, no common top, or a node with two
        nodes above it, as every cycle has.
    """
    paths: dict[str, tuple[str, ...]] = {}
    above: dict[str, tuple[str, ...]] = {}
    tops = {row[-1] for row in rows}
    leaves = {row[0] for row in rows}
    for line, row in enumerate(rows, start=first_line):
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
            if name in leaves:
                raise InputError(f"line {line} has a node that is named like a leaf; rename it")
            if above.setdefault(name, path[:depth]) != path[:depth]:
                raise InputError(
                    f"line {line} has a node that lies below two nodes; give each node one place"
                )
        if TOP in path:
            raise InputError(f"line {line} has the name * below the top; rename it")
        paths[row[0]] = path
    return paths
