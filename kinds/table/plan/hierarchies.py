"""columns.<name>.hierarchy: which categories are near, from a file or from their first letters."""

import csv
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from anon_core.errors import InputError
from anon_core.specs.hierarchies import Hierarchy, read_hierarchy
from kinds.section import Section

_SEPARATORS = (";", ",", "\t", "|")
_FORM = "must be a file, {path = file, other = node}, or {prefix = [5, 3, 1]}"


class HierarchySection(Section):
    """columns.<name>.hierarchy as a table.

    Attributes
    ----------
    path : a file with a line for each leaf: the leaf, the nodes above it, the top. It starts at the
        plan's folder.
    header : whether the first line of the file names the levels, as questions to a release do.
    other : the node that values belong to which are no leaf of the file.
    prefix : instead of path: how many letters of a code each node keeps, falling.
    """

    path: str | None = None
    header: bool = False
    other: str | None = None
    prefix: list[Annotated[int, Field(ge=1)]] = []

    def hierarchy(self) -> Hierarchy:
        """The checked section as the encoder uses it."""
        if (self.path is None) == (not self.prefix):
            raise InputError(_FORM)
        if self.path is not None:
            return _read_file(Path(self.path), self.other, header=self.header)
        if self.other is not None or self.header:
            raise InputError("other and header belong to a file; leave them out")
        if self.prefix != sorted(set(self.prefix), reverse=True):
            raise InputError("prefix must be whole numbers, falling, such as [5, 3, 1]")
        return Hierarchy(prefix=tuple(self.prefix))


def hierarchy_of(stated: str | HierarchySection) -> Hierarchy:
    """The hierarchy that a plan states; an InputError says what is wrong with it."""
    section = HierarchySection(path=stated) if isinstance(stated, str) else stated
    return section.hierarchy()


def describe_for_hash(hierarchy: Hierarchy) -> Any:
    """What a plan's hash takes of a hierarchy: where its file lies decides nothing."""
    paths = sorted(hierarchy.paths.items())
    named = (hierarchy.levels,) if hierarchy.levels else ()
    content = hashlib.sha256(repr((paths, hierarchy.other, *named)).encode()).hexdigest()
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
            paths = read_hierarchy(rows[header:], 1 + header)
        except (InputError, csv.Error) as error:
            refusal = f"is refused: {error}"
    if refusal:
        raise InputError(f"the file {path} {refusal}")
    if other is not None and not any(other in names[:-1] for names in paths.values()):
        raise InputError("other names no node of the file that lies above its leaves")
    return Hierarchy(paths, other=other, levels=levels)


def _read_level_names(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The names of the levels between top and leaf, from the top on, as the first line has them."""
    names = rows[0]
    if len({*names}) < len(names) or not all(names) or len(names) != len(rows[-1]):
        raise InputError(
            f"line 1 has {len(names)} names of levels, the lines below {len(rows[-1])} levels; "
            "give each level a name of its own"
        )
    return tuple(names[-2:0:-1])


def _split_rows(text: str) -> Sequence[Sequence[str]]:
    """The fields of each line, without blanks around them, by the separator of the first line."""
    lines = text.splitlines()
    if not lines:
        raise InputError("it is empty")
    separator = max(_SEPARATORS, key=lines[0].count)
    return [
        [field.strip() for field in row] for row in csv.reader(lines, delimiter=separator) if row
    ]
