"""Evaluate the formulas of spreadsheets: `python spreadsheet.py ORDER.json` prints JSON.

Runs in the environment of tests/reports/catalogue/requirements.txt, and imports nothing of
crowdcover. ORDER is a list of sheets. Each has `rows`, lists of texts and numbers with the header
first; `cells`, formulas and values by place; `answers`, the places whose values are printed.
"""

import json
import sys
import tempfile
from pathlib import Path


def evaluated(rows, cells, answers):
    """The value of each place, as the library `formulas` computes it from a file of openpyxl."""
    import formulas
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "DATA"
    for row in rows:
        book.active.append(row)
    for place, content in cells.items():
        book.active[place] = content
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sheet.xlsx"
        book.save(path)
        found = formulas.ExcelModel().loads(str(path)).finish().calculate()
    values = {str(name).rpartition("!")[2]: each for name, each in found.items()}
    return {place: float(values[place].value[0, 0]) for place in answers}


if __name__ == "__main__":
    sheets = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    print(json.dumps([evaluated(**sheet) for sheet in sheets]))
