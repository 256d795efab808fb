"""Workbooks: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods)."""

import io
from collections.abc import Sequence
from typing import Any, ClassVar

import polars as pl

from anon_core.errors import InputError
from crowdcover.storage.source.file_bytes import File, read_bytes
from crowdcover.storage.source.formats.base import Dialect, Format
from crowdcover.storage.source.formats.cells import text_of, type_column
from crowdcover.storage.source.packing import ArchiveMembers
from crowdcover.storage.source.values import call_or_refuse

SHEETS = "application/vnd.oasis.opendocument.spreadsheet"
OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # of .xls, and of workbooks with a password
UNREADABLE_SHEET = (
    "the source looks like a workbook (Excel .xlsx or .xls, OpenDocument .ods) and cannot be read: "
    "it is damaged or has a password; save it anew without one, or export the sheet as CSV"
)


class Workbook(Format):
    """A sheet of a workbook. Its first row that is not blank holds the names, or cells."""

    name: ClassVar[str] = "excel"
    ends: ClassVar[tuple[str, ...]] = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
    zip_ends: ClassVar[tuple[str, ...]] = (".xlsx", ".ods")
    options: ClassVar[frozenset[str]] = frozenset({"header", "sheet"})

    def fits(self, head: bytes) -> bool:
        """An old workbook; newer ones are zip archives."""
        return head.startswith(OLD)

    def fits_members(self, members: ArchiveMembers) -> bool:
        """An OpenDocument sheet states its type, Excel has a folder of its own."""
        if members.mimetype:
            return members.mimetype.startswith(SHEETS)
        return any(name.startswith("xl/") for name in members.names)

    def first_rows(self, file: File, dialect: Dialect, number: int) -> list[list[str]] | None:
        """The first rows as texts."""
        return [
            ["" if cell is None else text_of(cell) for cell in row]
            for row in _read_rows(file, dialect)[:number]
        ]

    def columns(
        self, file: File, dialect: Dialect, width: int, places: Sequence[int]
    ) -> pl.DataFrame:
        """Columns in the types of their cells."""
        first, *rest = _read_rows(file, dialect)
        rows = rest if dialect.header else [first, *rest]
        if len(first) != width:
            raise InputError(f"the sheet has {len(first)} columns, not {width}; correct [columns]")
        labels = [text_of(cell) if dialect.header and cell is not None else "" for cell in first]
        return pl.DataFrame(
            {
                str(place): type_column(labels[place].strip(), [row[place] for row in rows])
                for place in places
            }
        )


def _read_rows(file: File, dialect: Dialect) -> list[list[Any]]:
    """The rows of the sheet that are not blank, all as wide; an empty cell is None."""
    data = read_bytes(file)
    rows = call_or_refuse(lambda: _read_sheet(data, dialect.sheet), UNREADABLE_SHEET)
    given = [[None if cell == "" else cell for cell in row] for row in rows]
    return [row for row in given if any(cell is not None for cell in row)]


def _read_sheet(data: bytes, sheet: str | None) -> list[list[Any]]:
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    if sheet is not None:
        if sheet not in book.sheet_names:
            raise InputError(
                "the workbook has no sheet of the name in source.sheet; it has: "
                + ", ".join(book.sheet_names)
            )
        return book.get_sheet_by_name(sheet).to_python()
    filled = [each for each in map(book.get_sheet_by_name, book.sheet_names) if each.height]
    if len(filled) > 1:
        raise InputError(
            f"the workbook has {len(filled)} sheets with cells; name one by source.sheet: "
            + ", ".join(each.name for each in filled)
        )
    return filled[0].to_python() if filled else []
