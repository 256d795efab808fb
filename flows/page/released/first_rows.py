"""A release as tables of text: its first rows, and what it keeps of each column."""

import csv
import gzip
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crowdcover.kinds import kind_called
from crowdcover.reports.quantities import percent
from crowdcover.reports.words import Block, ShareCell
from crowdcover.storage.places.place import Place, local_copy
from crowdcover.storage.shelf.content import read_document

if TYPE_CHECKING:
    from rich.table import Table

FIRST = 10


class ShownTable(NamedTuple):
    """A table of text; `numbers` are the columns that are aligned right."""

    heading: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[int]


class FirstRows(NamedTuple):
    """The first rows of a release, cells as text, with its codebook."""

    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    codebook: Mapping[str, Any]

    @property
    def reading(self) -> str:
        """How to read a row, as the codebook says it; empty for a table."""
        return str(self.codebook.get("reading", ""))

    @property
    def roles(self) -> list[str]:
        """The role of each column; empty where the codebook names none."""
        columns = self.codebook.get("columns", ())
        known = {each["name"]: each.get("role", "") for each in columns if isinstance(each, dict)}
        return [str(known.get(name, "")) for name in self.names]


def read_first_rows(folder: Place, manifest: Mapping[str, Any]) -> FirstRows | None:
    """The first rows of the CSV file; None where the release has none."""
    kind = kind_called(str(manifest["source"].get("kind", "table")))
    name = kind.files.get("csv")
    with local_copy(folder) as copy:
        if name is None or not (copy / name).is_file():
            return None
        names, rows = _read_text_rows(copy / name)
        return FirstRows(names, rows, read_document(copy / kind.codebook))


def list_shown_blocks(blocks: Iterable[Block]) -> list[ShownTable]:
    """Tables of a summary, with shares as percentages."""
    return [_show_block(each) for each in blocks]


def show_tables(tables: Iterable["Table"]) -> list[ShownTable]:
    """Tables for a terminal as tables of the page."""
    return [
        ShownTable(
            str(table.title),
            [str(column.header) for column in table.columns],
            list(
                zip(
                    *([str(cell) for cell in column.cells] for column in table.columns), strict=True
                )
            ),
            frozenset(
                place for place, column in enumerate(table.columns) if column.justify == "right"
            ),
        )
        for table in tables
    ]


def _show_block(block: Block) -> ShownTable:
    rows = [
        [percent(cell.value) if isinstance(cell, ShareCell) else str(cell) for cell in row]
        for row in block.rows
    ]
    if not block.headings:
        return ShownTable(block.heading, ("Number", "Value", "Meaning"), rows, frozenset({1}))
    places = range(1, len(block.headings)) if block.right is None else block.right
    return ShownTable(block.heading, block.headings, rows, frozenset(places))


def _read_text_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """Names and first rows of a CSV file, which may be packed; every cell as it is written."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as handle:
        rows = list(islice(csv.reader(handle), FIRST + 1))
    return (rows[0], rows[1:]) if rows else ([], [])
