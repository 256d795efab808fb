"""Tiny release folders, written by hand."""

import gzip
import hashlib
import json

import polars as pl


def attribute(name, kind="categorical", labels=("a", "b", "c"), **more):
    """An entry of codebook.json as older releases have it."""
    entry = {
        "name": name,
        "kind": kind,
        "encoding": "ordinal" if kind in ("numeric", "date", "binary") else "one-hot",
        "features": len(labels),
        "labels": list(labels),
        "has_missing": "(missing)" in labels[:1],
        "hide_missing": False,
        "inner_edges": [],
        "weight": 1.0,
    }
    if kind == "numeric" and "inner_edges" not in more:
        entry["values"] = [float(each) for each in labels if each != "(missing)"]
    return entry | more


def folder(place, attributes, rows, *, k=2, book=None, data="data.parquet", roles=None):
    """A release of these rows, a dict of columns; cells of quasi-identifiers as they stand."""
    place.mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame(rows)
    frame.insert_column(0, pl.Series("key", [f"{row:016x}" for row in range(frame.height)]))
    if data.endswith("parquet"):
        frame.write_parquet(place / data)
    else:
        (place / data).write_bytes(gzip.compress(frame.write_csv().encode()))
    book = {"attributes": attributes} if book is None else book
    (place / "codebook.json").write_text(json.dumps(book))
    masked = {entry["name"] for entry in attributes}
    stated = {name: {"role": "quasi" if name in masked else "keep"} for name in frame.columns[1:]}
    manifest = {
        "name": "tiny",
        "version": "v1",
        "columns": stated | (roles or {}),
        "privacy": {"k_min": k, "k_max": k},
        "files": {each: digest(place / each) for each in (data, "codebook.json")},
    }
    (place / "manifest.json").write_text(json.dumps(manifest))
    return place


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


JOBS = ("(missing)", "clerk", "nurse", "smith")
AGES = ("20", "30", "40", "50")
JOB = attribute("job", labels=JOBS)
AGE = attribute("age", "numeric", AGES)
PAY = attribute("pay", "numeric", ("..100", "100..300", "300.."), inner_edges=[100, 300])
ONE = attribute("one", labels=("x",))
WIDE = attribute("wide", labels=tuple(f"w{number:02}" for number in range(40)))
# Cells of each kind, five of a column.
CELLS = {
    "job": ["clerk", "nurse|smith", "*", "(missing)|nurse", "smith"],
    "age": ["20..30", "40", "20", "*", "30..50"],
    "pay": ["..100", "100..300", "*", "100..", "..300"],
    "one": ["x"] * 5,
    "wide": ["w00", "w01|w02|w39", "*", "w05", "w07|w08"],
    "ill": ["yes", "no", "no", "yes", None],
    "dose": [1.5, None, 3.0, 4.5, 4.5],
}
BOOK = [JOB, AGE, PAY, ONE, WIDE]
