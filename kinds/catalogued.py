"""A release folder as catalogues see it, whatever its kind of data."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from crowdcover import reports
from crowdcover.reports.catalogue.described import DataFile, Described, Entry, Type
from crowdcover.reports.catalogue.files import WRITERS, build_catalogue
from crowdcover.reports.edition import hash_texts
from crowdcover.reports.facts import count_published_rows
from crowdcover.reports.words import Words
from crowdcover.storage.shelf.content import hash_released_file
from crowdcover.storage.shelf.layout import REPORT

if TYPE_CHECKING:
    from crowdcover.kinds.base import Kind

CATALOGUE = tuple(WRITERS)
_PARQUET, _CSV = "parquet", "csv"
# What a CSV file writes as text.
AS_TEXT: tuple[Type, ...] = ("array", "object", "any")


def find_text_edition() -> str:
    """Which texts report and catalogue are written with, as manifests state it."""
    return hash_texts((Path(__file__).parent, Path(reports.__file__).parent))


def catalogue_of(
    kind: "Kind", words: Words, manifest: Mapping[str, Any], folder: Path
) -> dict[str, bytes]:
    """The catalogue files of a release, from its manifest and its other files."""
    return build_catalogue(describe_release_folder(kind, words, manifest, folder))


def describe_release_folder(
    kind: "Kind", words: Words, manifest: Mapping[str, Any], folder: Path
) -> Described:
    """What the manifest and the files of a folder tell of a release."""
    # "files" has the hashes of the catalogue's own files, which are made from this.
    whole = {key: value for key, value in manifest.items() if key != "files"}
    formats = {form: name for form, name in kind.files.items() if (folder / name).is_file()}
    schema = _read_schema(folder, formats)
    data = tuple(_data_file(kind, whole, form, name, schema) for form, name in formats.items())
    beside = (name for name in kind.beside if (folder / name).is_file())
    others = (kind.codebook, *beside, REPORT)
    names = [*formats.values(), *others]
    entries = {
        name: Entry((folder / name).stat().st_size, hash_released_file(folder / name))
        for name in names
    }
    return Described(
        whole,
        data,
        others,
        entries,
        words.promise(whole),
        words.not_promised_short(whole),
        kind.graph,
    )


def _read_schema(folder: Path, formats: Mapping[str, str]) -> pl.Schema:
    """The columns of the rows; without a Parquet file all types are those of texts."""
    if not formats:
        return pl.Schema()
    if _PARQUET in formats:
        return pl.scan_parquet(folder / formats[_PARQUET], glob=False).collect_schema()
    return pl.read_csv(folder / formats[_CSV], n_rows=0, infer_schema=False, glob=False).schema


def _data_file(
    kind: "Kind", manifest: Mapping[str, Any], form: str, name: str, schema: pl.Schema
) -> DataFile:
    """A data file with its columns."""
    types = {column: _find_field_type(dtype, form) for column, dtype in schema.items()}
    fields, key = kind.fields(manifest, form, types)
    return DataFile(name, form, tuple(fields), int(count_published_rows(manifest)), tuple(key))


def _find_field_type(dtype: pl.DataType, form: str) -> Type:
    """The type of a column in one of the formats."""
    found: Type = "string"
    # Integers are numeric, too, so they come first.
    if dtype.is_integer():
        found = "integer"
    elif dtype.is_numeric():
        found = "number"
    elif dtype == pl.Boolean:
        found = "boolean"
    elif dtype == pl.Date:
        found = "date"
    elif isinstance(dtype, pl.Datetime):
        found = "datetime"
    elif isinstance(dtype, (pl.List, pl.Array)):
        found = "array"
    elif isinstance(dtype, pl.Struct):
        found = "object"
    return "string" if form == _CSV and found in AS_TEXT else found
