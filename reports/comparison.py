"""Settings side by side: a line for each, a column for each number."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rich.table import Table


class Compared(NamedTuple):
    """A number by which settings are compared: its key, its heading, and as people read it."""

    key: str
    heading: str
    value: float | None
    shown: str


class Line(NamedTuple):
    """A setting by its keys, and its numbers; none where it is refused."""

    stated: Mapping[str, Any]
    numbers: Sequence[Compared]


def build_settings_table(lines: Sequence[Line]) -> "Table":
    """A table of settings for `print_tables`."""
    # Imported late: rich would slow down every command that prints no table.
    from rich.box import SIMPLE
    from rich.table import Table

    # A refused setting has no numbers, so headings come from the first one that has.
    numbers = next((line.numbers for line in lines if line.numbers), ())
    made = Table(box=SIMPLE, pad_edge=False, collapse_padding=True)
    for key in lines[0].stated:
        made.add_column(key, no_wrap=True)
    for each in numbers:
        made.add_column(each.heading, justify="right")
    for line in lines:
        shown = [each.shown for each in line.numbers] or ["-"] * len(numbers)
        made.add_row(*map(str, line.stated.values()), *shown)
    return made


def as_json(numbers: Sequence[Compared]) -> dict[str, Any]:
    """The numbers by their keys."""
    return {each.key: each.value for each in numbers}
