"""A release folder, read and held against its hashes."""

import csv
import gzip
import hashlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.errors import ReleaseError
from crowdcover.reader.coded import natives, texts
from crowdcover.reader.coded.cells import Cells, Intervals, Sets
from crowdcover.reader.coded.columns import (
    LAST_DAYS,
    Column,
    build_exact_column,
    list_level_values,
)
from crowdcover.reader.coded.levels import Levels, of_attribute, unite_levels

_MANIFEST, _CODEBOOK = "manifest.json", "codebook.json"
DATA = ("data.parquet", "data.csv.gz")
OTHER_KINDS = {"rows.parquet": "a sparse matrix", "edges.parquet": "an uncertain graph"}
_SINCE, _KEY = "since", "key"
_TYPES: dict[str, type[pl.DataType]] = {  # of codebook.json; others are guessed from CSV
    "string": pl.String,
    "integer": pl.Int64,
    "float": pl.Float64,
    "boolean": pl.Boolean,
    "date": pl.Date,
}


def refuse_address(folder: str | Path) -> None:
    """Refuse a folder of object storage."""
    # Two letters at least before the colon: a drive such as c:/ is a local folder.
    if re.match(r"[a-z][a-z0-9+.-]+:/", str(folder)):
        raise ReleaseError(
            f"{folder} is no local folder; copy the release folder here first, such as with `aws "
            "s3 cp --recursive` or fsspec, and read the copy"
        )


def files_of(folder: Path) -> tuple[dict[str, Any], dict[str, Any], pl.DataFrame]:
    """The manifest, the codebook and the rows of a release of a table.

    Raises
    ------
    ReleaseError
        The folder is no release of a table, or a file is not the one that was published.
    """
    if not (folder / _MANIFEST).is_file():
        raise ReleaseError(
            f"{folder} is no release folder: it has no {_MANIFEST}; give the folder that holds "
            f"{DATA[0]} and {_MANIFEST}, such as releases/adult/v1"
        )
    manifest = _parse_document((folder / _MANIFEST).read_bytes(), _MANIFEST)
    for name, kind in OTHER_KINDS.items():
        if name in manifest.get("files", {}):
            raise ReleaseError(
                f"{folder} is a release of {kind}, and this reads tables; its rows are in "
                f"{name}, which polars reads"
            )
    codebook = _parse_document(_read_published_file(folder, _CODEBOOK, manifest), _CODEBOOK)
    data = next((each for each in DATA if (folder / each).is_file()), None)
    if data is None:
        raise ReleaseError(
            f"{folder} has neither {DATA[0]} nor {DATA[1]}; copy the whole release folder"
        )
    return (
        manifest,
        codebook,
        _read_rows(_read_published_file(folder, data, manifest), data, codebook),
    )


def _parse_document(content: bytes, name: str) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise ReleaseError(f"{name} is no JSON document; copy the release folder again")
    return document


def _read_published_file(folder: Path, name: str, manifest: Mapping[str, Any]) -> bytes:
    """The bytes of a file, if they are those that the manifest states."""
    stated = manifest.get("files", {}).get(name)
    if stated is None or not (folder / name).is_file():
        raise ReleaseError(
            f"{folder}: {name} is missing, or {_MANIFEST} does not state its hash; copy the whole "
            "release folder again"
        )
    content = (folder / name).read_bytes()
    # The bytes that are parsed are those that were hashed: the file is not opened twice.
    if hashlib.sha256(content).hexdigest() != stated:
        raise ReleaseError(
            f"{name} is not the file that was published: its SHA-256 differs from the one in "
            f"{_MANIFEST}; copy the release folder again, and do not edit its files"
        )
    return content


def _read_rows(content: bytes, name: str, codebook: Mapping[str, Any]) -> pl.DataFrame:
    """The rows of a data file; cells of quasi-identifiers stay text in CSV."""
    try:
        if name.endswith(".parquet"):
            return pl.read_parquet(content)
        types = {
            str(each["name"]): _TYPES[each["type"]]
            for each in codebook.get("columns", ())
            if each["type"] in _TYPES
        }
        # Masked cells stay text, whatever their type: as a number, 01 would lose its zero.
        types |= {entry["name"]: pl.String for entry in _list_attributes(codebook)} | {
            _KEY: pl.String
        }
        text = gzip.decompress(content)
        # polars leaves the quotes in names doubled.
        names = next(csv.reader(io.TextIOWrapper(io.BytesIO(text), "utf-8", newline="")))
        found = zip(pl.read_csv(text, n_rows=0).columns, names, strict=True)
        known = {doubled: types[name] for doubled, name in found if name in types}
        rows = pl.read_csv(text, schema_overrides=known, infer_schema_length=None)
        rows.columns = names
        return rows
    except (pl.exceptions.PolarsError, OSError, EOFError, ValueError, StopIteration):
        raise ReleaseError(f"{name} cannot be read; copy the release folder again") from None


def _list_attributes(codebook: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The entries of the newest codebook, one for each quasi-identifier."""
    try:
        books = codebook.get("batches")
        # Names of batches are texts, and as texts "9" is greater than "10".
        book = codebook if books is None else books[max(books, key=int)]
        return list(book["attributes"])
    except (KeyError, TypeError, ValueError):
        raise _no_codebook() from None


def _no_codebook() -> ReleaseError:
    return ReleaseError(
        f"{_CODEBOOK} is not a codebook of crowdcover; copy the release folder again"
    )


def columns_of(
    manifest: Mapping[str, Any], codebook: Mapping[str, Any], rows: pl.DataFrame
) -> dict[str, Column]:
    """Each column of the rows but the key, in their order.

    Raises
    ------
    ReleaseError
        The codebook is none of these rows.
    """
    masked = [str(entry["name"]) for entry in _list_attributes(codebook)]
    if not set(masked) <= set(rows.columns):
        raise ReleaseError(f"the data lack a column that {_CODEBOOK} names; copy the folder again")
    roles, types = _list_roles_and_types(manifest, codebook)
    books = codebook.get("batches")
    batches = {"": codebook} if books is None else dict(books)
    # A release without batches is one batch, named "".
    since = np.full(rows.height, "") if books is None else rows[_SINCE].cast(pl.String).to_numpy()
    found = {}
    for series in rows:  # rows["^a$"] would be the columns that match a pattern
        if (name := series.name) in masked:
            found[name] = _build_masked_column(series, types.get(name), batches, since)
        elif name != _KEY:
            coarse = [stated for book in batches.values() for stated in _list_coarse(book, name)]
            found[name] = build_exact_column(series, roles.get(name, "keep"), coarse)
    return found


def _list_coarse(book: Mapping[str, Any], name: str) -> list[dict[str, float | str]]:
    """What a codebook states of the coarser values of a column, if anything."""
    try:
        return [
            {
                key: each if (each := entry[key]) in LAST_DAYS else float(each)
                for key in ("step", "top", "bottom")
                if key in entry
            }
            for entry in book.get("coarsened", ())
            if entry["name"] == name
        ]
    except (KeyError, TypeError, ValueError):
        raise _no_codebook() from None


def _list_roles_and_types(
    manifest: Mapping[str, Any], codebook: Mapping[str, Any]
) -> tuple[dict[str, str], dict[str, str]]:
    """Role and type of each column; older releases state no types."""
    try:
        if "columns" in codebook:
            columns = {each["name"]: each for each in codebook["columns"]}
            types = {name: str(each["type"]) for name, each in columns.items()}
        else:
            columns, types = dict(manifest.get("columns", {})), {}
        return {name: str(each["role"]) for name, each in columns.items()}, types
    except (KeyError, TypeError, ValueError):
        raise _no_codebook() from None


def _build_masked_column(
    series: pl.Series, type_: str | None, batches: Mapping[str, Any], since: NDArray[Any]
) -> Column:
    """A quasi-identifier: the cells of each batch by the codebook of that batch."""
    name = series.name
    try:
        parts = {
            batch: of_attribute(next(e for e in book["attributes"] if e["name"] == name), type_)
            for batch, book in batches.items()
        }
    except (KeyError, TypeError, ValueError, IndexError, StopIteration):
        raise _no_codebook() from None
    # A row of an unknown batch would else be read by no codebook and keep cell 0.
    if set(since.tolist()) - set(parts):
        raise _no_codebook()
    levels, places = unite_levels(list(parts.values()))
    which = np.zeros(len(series), dtype=np.int64)
    masks: list[NDArray[np.bool_]] = []
    for (batch, part), place in zip(parts.items(), places, strict=True):
        rows = np.flatnonzero(since == batch)
        cell, found = _index_cells(part, series[rows])
        wide = np.zeros((len(found), len(levels)), dtype=np.bool_)
        wide[:, place] = found
        # Cells are numbered batch after batch: one text may allow different levels in two batches.
        which[rows] = sum(map(len, masks)) + cell
        masks.append(wide)
    whole = np.concatenate(masks)
    cells: Cells = Intervals.of(whole) if _has_only_intervals(levels, whole) else Sets.of(whole)
    return Column(levels, cells, which, "quasi", list_level_values(levels))


def _has_only_intervals(levels: Levels, masks: NDArray[np.bool_]) -> bool:
    """Whether every mask is an interval of levels."""
    if not levels.ordinal:
        return False
    # A run of levels has one step up; the sides of 0 show steps at either end.
    steps = np.diff(masks.astype(np.int8), axis=1, prepend=0, append=0)
    return bool(((steps == 1).sum(axis=1) == 1).all())


def _index_cells(levels: Levels, series: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The cell of each row among the different ones, and what each of these allows."""
    unique, which = index_distinct_values(series)
    if series.dtype == pl.String:
        return which, texts.masks_of(levels, unique)
    return which, natives.masks_of(levels, unique)


def index_distinct_values(series: pl.Series) -> tuple[Sequence[Any], NDArray[np.int64]]:
    """The different values in the order of their first rows, and the place of each row's."""
    frame = series.to_frame("cell").with_row_index("row")
    first = frame.group_by("cell").agg(pl.col("row").min()).sort("row")
    numbered = first.select("cell").with_row_index("place")
    # nulls_equal: a null cell allows everything, and must find its place as others do.
    places = frame.join(numbered, on="cell", how="left", nulls_equal=True, maintain_order="left")
    return first["cell"].to_list(), places["place"].to_numpy().astype(np.int64)
