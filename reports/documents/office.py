"""A filled document as DOCX, for those who fill its gaps in a word processor.

It takes the Markdown of `filled` and no other: headings, paragraphs, one level of lists, tables,
bold text and code.
"""

import io
import re
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

_NEEDED = "a DOCX document needs python-docx: pip install 'crowdcover[office]'"
_MARKS = re.compile(r"\*\*(?P<bold>.+?)\*\*|`(?P<code>[^`]+)`")
_GAP = "[to be filled in: "
_MONOSPACED = "Courier New"


def render_document(text: str) -> bytes:
    """The DOCX file of a filled document.

    Gaps for a person stay marked: bold, on yellow. `ImportError` where python-docx is not
    installed.
    """
    try:
        from docx import Document
    except ImportError:
        raise ImportError(_NEEDED) from None
    document = Document()
    for kind, lines in _list_blocks(text):
        if kind == "heading":
            _add_headings(document, lines)
        elif kind == "table":
            _add_table(document, [_split_cells(line) for line in lines])
        else:
            for each in _join_items(lines):
                style = "List Bullet" if each.startswith("- ") else None
                _add_marked_text(document.add_paragraph(style=style), each.removeprefix("- "))
    document.core_properties.author = ""  # else the name of the package
    document.core_properties.title = unescape(text.partition("\n")[0].removeprefix("# "))
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def _list_blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Lines that belong together, each with its kind: "heading", "table" or "text"."""
    for (kind, _), lines in groupby(_number_lines(text), key=lambda each: each[:2]):
        if kind:
            yield kind, [line for *_, line in lines]


def _number_lines(text: str) -> Iterator[tuple[str, int, str]]:
    """Each line with its kind and the number of empty lines before it."""
    empty = 0
    for line in text.splitlines():
        if not line.strip():
            empty += 1
            yield "", empty, ""
        elif line.startswith("#"):
            yield "heading", empty, line
        else:
            yield "table" if line.startswith("|") else "text", empty, line


def _join_items(lines: Sequence[str]) -> list[str]:
    """The items of a list, or the one paragraph, without the breaks of their lines."""
    joined: list[str] = []
    for line in lines:
        if joined and not line.startswith("- "):
            joined[-1] = f"{joined[-1]} {line.strip()}"
        else:
            joined.append(line)
    return joined


def _add_headings(document: "Document", lines: Sequence[str]) -> None:
    for line in lines:
        marks, _, words = line.partition(" ")
        # The title of the document has a style of its own, level 0.
        document.add_heading(unescape(words), level=len(marks) - 1)


def _add_table(document: "Document", rows: Sequence[Sequence[str]]) -> None:
    """A table whose first row stands on each page; the second row of Markdown is its rule."""
    from docx.oxml import OxmlElement

    headings, _, *lines = rows
    table = document.add_table(rows=0, cols=len(headings), style="Table Grid")
    for line in (headings, *lines):
        for cell, words in zip(table.add_row().cells, line, strict=True):
            bold = f"**{words}**" if line is headings and words else words
            _add_marked_text(cell.paragraphs[0], bold)
    table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    document.add_paragraph()


def _split_cells(line: str) -> list[str]:
    # A bar within a cell is an entity.
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _add_marked_text(paragraph: "Paragraph", text: str) -> None:
    """Runs of plain, bold and monospaced text; a gap is on yellow."""
    from docx.enum.text import WD_COLOR_INDEX

    last = 0
    for mark in _MARKS.finditer(text):
        paragraph.add_run(unescape(text[last : mark.start()]))
        run = paragraph.add_run(unescape(mark["bold"] or mark["code"]))
        run.bold = bool(mark["bold"]) or None
        if mark["code"]:
            run.font.name = _MONOSPACED
        if run.text.startswith(_GAP):
            run.font.highlight_color = WD_COLOR_INDEX.YELLOW
        last = mark.end()
    paragraph.add_run(unescape(text[last:]))
