"""Rows with cells as text, and as data.parquet holds them: slow, and by the codebook alone."""

import csv
import gzip
import json
import re
from datetime import date

import polars as pl

from anon_core.measures.table.cells import format_cell_levels
from crowdcover.kinds.table.judge.coded import Coded

TYPES = {"string": pl.String, "integer": pl.Int64, "float": pl.Float64, "date": pl.Date}
WRONG = {
    "string": "no level",
    "integer": (1, 0),
    "float": (1.0, 0.0),
    "date": (date(2000, 1, 2), date(2000, 1, 1)),
}


def text_rows(folder):
    """The rows of a release: cells as the CSV file writes them, other columns as Parquet does."""
    rows = pl.read_parquet(folder / "data.parquet", glob=False)
    path = folder / "data.csv.gz"
    if not path.exists():
        return rows
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return rows.with_columns(
        pl.Series(name, [line[name] or None for line in lines], dtype=pl.String)
        for name, dtype in rows.schema.items()
        if dtype.is_nested()
    )


def write_typed(rows, folder, **more):
    """Write rows with cells as text to data.parquet, each in its own form."""
    book = json.loads((folder / "codebook.json").read_text(encoding="utf-8"))
    typed(rows, book).write_parquet(folder / "data.parquet", **more)


def typed(rows, book):
    """The rows with each cell in its own form; one that has none becomes a wrong cell."""
    of_quasi = [each for each in book["columns"] if each["form"] != "value"]
    for column in of_quasi:
        name = column["name"]
        if name not in rows.columns:
            continue
        if "batches" in book:
            entries = [_entry(book["batches"][str(since)], name) for since in rows["since"]]
        else:
            entries = [_entry(book, name)] * rows.height
        cells = [
            typed_cell(entry, column, text)
            for entry, text in zip(entries, rows[name].cast(pl.String), strict=True)
        ]
        rows = rows.with_columns(pl.Series(name, cells, dtype=_dtype(column)))
    return rows


def _entry(book, name):
    return next(entry for entry in book["attributes"] if entry["name"] == name)


def _dtype(column):
    inner = TYPES[column["type"]]
    if column["form"] == "list":
        return pl.List(pl.String)
    if column["form"] == "interval":
        return pl.Struct({"lo": inner, "hi": inner, "missing": pl.Boolean})
    return pl.List(pl.Struct({"lo": inner, "hi": inner}))


def typed_cell(entry, column, text):
    """One cell; its members are in the order of the text."""
    form, missing = column["form"], entry["has_missing"]
    if text == "*":
        return None
    try:
        levels = _levels(entry, text)
    except (ValueError, TypeError):
        levels = []
    low, high = WRONG[column["type"]] if form != "list" else (None, None)
    if not levels:
        wrong = {"lo": low, "hi": high}
        return [] if form == "list" else [wrong] if form == "intervals" else {
            **wrong, "missing": False
        }  # fmt: skip
    if form == "list":
        return [None if missing and level == 0 else _member(entry, level) for level in levels]
    bounds = [
        [date.fromisoformat(side) if isinstance(side, str) else side for side in pair]
        for pair in entry["bounds"]
    ]
    ends = [None if missing and level == 0 else bounds[level - missing] for level in levels]
    if form == "intervals":
        return [
            None if pair is None else dict(zip(("lo", "hi"), pair, strict=True)) for pair in ends
        ]
    if ends == [None]:
        return {"lo": None, "hi": None, "missing": True}
    given = [pair for pair in ends if pair is not None]
    return {
        "lo": given[0][0],
        "hi": given[-1][1],
        "missing": False if len(given) == len(ends) else None,
    }


def _levels(entry, text):
    texts = format_cell_levels(Coded.of(entry))
    if text in texts:
        return [texts.index(text)]
    if entry["encoding"] == "ordinal" and ".." in text:
        sides = [each.split("..") if "bounds" in entry else [each] for each in texts]
        begins, stops = [each[0] for each in sides], [each[-1] for each in sides]
        (cut,) = [
            at
            for at in range(len(text) - 1)
            if text[at : at + 2] == ".." and text[:at] in begins and text[at + 2 :] in stops
        ]
        return list(range(begins.index(text[:cut]), stops.index(text[cut + 2 :]) + 1))
    return [texts.index(part) for part in re.split(r"(?<!\\)\|", text)]


def _member(entry, level):
    label = entry["labels"][level]
    if not entry.get("has_other") or level == len(entry["labels"]) - 1:
        return label
    return "\\" + label if re.fullmatch(r"\\*\(other\)", label) else label
