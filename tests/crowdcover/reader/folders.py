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
