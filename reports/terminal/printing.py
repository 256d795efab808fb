"""Tables on a terminal, in a pipe or in a file: no word, number, name or command is cut.

Alone, rich cuts columns that do not wrap, and breaks words, where a terminal is narrow. Here a
table takes the room that it needs, and the terminal breaks its lines.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table

ENDLESS = 10_000


def print_tables(tables: Iterable["Table"], *, piped: int | None = None) -> None:
    """Print tables to standard output; `piped` is their width where that is no terminal."""
    console = create_console()
    width = console.width if piped is None or console.is_terminal else piped
    for table in tables:
        # A console of the table's own width: what is too long is broken by the terminal, not cut by
        # rich.
        create_console(_fit_columns(table, console, width)).print(table)


def create_console(width: int | None = None) -> "Console":
    """Open standard output; names with [brackets] or :colons: are shown as they are."""
    from rich.console import Console

    return Console(width=width, markup=False, emoji=False)


def _fit_columns(table: "Table", console: "Console", width: int) -> int:
    """Let the widest columns give way, one after another; returns the width that is left."""
    from rich.measure import Measurement

    # Measured in endless room: in that of the terminal, rich would cut what it measures.
    room = console.options.update(width=ENDLESS)
    spare = Measurement.get(console, room, table).maximum - width
    if spare <= 0:
        return width
    limits = [_width_limits(column, console) for column in table.columns]
    for column, (least, whole) in sorted(
        zip(table.columns, limits, strict=True), key=lambda each: -each[1][1]
    ):
        # A column gives what is missing, but never more than it can without breaking a word.
        given = max(0, min(spare, whole - least))
        column.width = whole - given
        spare -= given
    return width + spare


def _width_limits(column: "Column", console: "Console") -> tuple[int, int]:
    """The least and the whole width: headings and texts break between words, numbers never."""
    from rich.measure import Measurement

    room = console.options.update(width=ENDLESS)
    heading = Measurement.get(console, room, column.header)
    cells = [Measurement.get(console, room, cell) for cell in column.cells]
    # Columns aligned right hold numbers, which must not break.
    unbroken = column.no_wrap or column.justify == "right"
    least = [each.maximum if unbroken else each.minimum for each in cells]
    first = heading.maximum if column.no_wrap else heading.minimum
    return max([first, *least]), max([heading.maximum, *(each.maximum for each in cells)])
