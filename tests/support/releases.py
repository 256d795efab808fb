"""What a release holds, read without crowdcover's own code."""

import bisect
import csv
import gzip
import json
import stat

import numpy as np

from tests.flows.orders import HEADER, people


def several(records=120, owners=40):
    """Every person has some records; the diagnosis is the same in all records of a person."""
    number, row = HEADER.index("ssn"), people(records)
    return [
        (*each[:number], f"ident-{place % owners:05d}", *each[number + 1 : 4],
         f"illness-{place % owners % 5}", *each[5:])
        for place, each in enumerate(row)
    ]  # fmt: skip


def tree(folder):
    """Every file of a folder with its bytes and mode."""
    return {
        str(path.relative_to(folder)): (
            stat.filemode(path.lstat().st_mode),
            path.read_bytes() if path.is_file() else b"",
        )
        for path in folder.rglob("*")
    }


SHOWN = ["key", "age", "city", "smokes", "diagnosis", "note"]


QUASI = ("age", "city", "smokes")


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def released_rows(folder):
    """The rows as a reader of the CSV file sees them."""
    with gzip.open(folder / "data.csv.gz", "rt", encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def attributes(folder):
    document = json.loads((folder / "codebook.json").read_text(encoding="utf-8"))
    return {attribute["name"]: attribute for attribute in document["attributes"]}


def level(attribute, text):
    """The level of a source value, by the published codebook alone."""
    if text == "":
        return attribute["labels"].index("(missing)")
    if attribute["kind"] != "numeric":
        return attribute["labels"].index(text)
    steps = attribute["inner_edges"]
    if "values" in attribute:  # a number, or the bounds of several; the last bound is open
        steps = [each[1] if isinstance(each, list) else each for each in attribute["values"][:-1]]
    return bisect.bisect_left(steps, float(text)) + attribute["has_missing"]


def allowed(attribute, cell):
    """The levels that a released cell stands for; the labels of these tables need no escapes."""
    labels = attribute["labels"]
    if cell == "*":
        return set(range(len(labels)))
    if ".." in cell and cell not in labels:
        low, high = cell.split("..")
        begins = [label.split("..")[0] for label in labels]  # a level may itself be an interval
        stops = [label.split("..")[-1] for label in labels]
        return set(range(begins.index(low), stops.index(high) + 1))
    return {labels.index(part) for part in cell.split("|")}


def fits(folder, source_rows):
    """bool (people, rows): every quasi-identifier of the person is one that the row allows."""
    book = attributes(folder)
    rows = released_rows(folder)
    people_levels = [
        [level(book[name], person[HEADER.index(name)]) for name in QUASI] for person in source_rows
    ]
    row_levels = [[allowed(book[name], row[name]) for name in QUASI] for row in rows]
    return np.array(
        [
            [all(p in r for p, r in zip(a, b, strict=True)) for b in row_levels]
            for a in people_levels
        ]
    )


def change(path):
    path.write_bytes(path.read_bytes() + b" ")
