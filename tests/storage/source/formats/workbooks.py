"""Workbooks for the tests, written by hand: .xlsx and .ods with one table a sheet."""

import datetime
import io
import zipfile
from xml.sax.saxutils import escape

EPOCH = datetime.datetime(1899, 12, 30)  # day 0 of Excel
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
SHEETS = "application/vnd.oasis.opendocument.spreadsheet"


def xlsx(*sheets):
    """The bytes of a workbook; each sheet is a list of rows, named Sheet1, Sheet2 ..."""
    listed = "".join(
        f'<sheet name="Sheet{n}" sheetId="{n}" r:id="r{n}"/>' for n in range(1, len(sheets) + 1)
    )
    links = "".join(
        f'<Relationship Id="r{n}" Type="{LINKS}/worksheet" Target="worksheets/s{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r0" '
        f'Type="{LINKS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{LINKS}"><sheets>{listed}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{links}'
        f'<Relationship Id="rs" Type="{LINKS}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><cellXfs count="3"><xf numFmtId="0"/>'
        '<xf numFmtId="14"/><xf numFmtId="22"/></cellXfs></styleSheet>',
    }
    for number, rows in enumerate(sheets, start=1):
        files[f"xl/worksheets/s{number}.xml"] = _sheet(rows)
    return zipped({name: f'<?xml version="1.0"?>{text}' for name, text in files.items()})


def ods(rows):
    """The bytes of an OpenDocument workbook of one sheet."""
    cells = "".join(
        f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows
    )
    spaces = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{spaces}:office:1.0" '
        f'xmlns:table="{spaces}:table:1.0" xmlns:text="{spaces}:text:1.0"><office:body>'
        f'<office:spreadsheet><table:table table:name="A">{cells}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = (
        f'<manifest:manifest xmlns:manifest="{spaces}:manifest:1.0"><manifest:file-entry '
        f'manifest:full-path="/" manifest:media-type="{SHEETS}"/></manifest:manifest>'
    )
    files = {"mimetype": SHEETS, "content.xml": content, "META-INF/manifest.xml": manifest}
    return zipped(files)


def zipped(files):
    """The bytes of a zip archive."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as handle:
        for name, content in files.items():
            handle.writestr(zipfile.ZipInfo(name), content)
    return archive.getvalue()


def _sheet(rows):
    lines = (
        f'<row r="{r}">{"".join(_cell(r, c, cell) for c, cell in enumerate(row))}</row>'
        for r, row in enumerate(rows, start=1)
    )
    return f'<worksheet xmlns="{MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def _cell(row, column, cell):
    place = f"{chr(65 + column)}{row}"
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, datetime.date):
        moment = datetime.datetime.combine(cell, getattr(cell, "time", datetime.time)())
        days = (moment - EPOCH) / datetime.timedelta(days=1)
        return f'<c r="{place}" s="{2 if days % 1 else 1}"><v>{days!r}</v></c>'
    if isinstance(cell, (int, float)):
        return f'<c r="{place}"><v>{cell!r}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'


def _ods_cell(cell):
    if isinstance(cell, (int, float)):
        return f'<table:table-cell office:value-type="float" office:value="{cell!r}"/>'
    text = f"<text:p>{escape(cell)}</text:p>"
    return f'<table:table-cell office:value-type="string">{text}</table:table-cell>'
