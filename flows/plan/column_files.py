"""Names of a source's columns from a file: a list, a header, a schema or a data contract.

No source is read. What is read here lies beside plans in git.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from crowdcover.kinds.nearest import did_you_mean
from crowdcover.kinds.section import PlanError

FORMS = (
    "a list of names, a CSV header, a Table Schema or Data Package (JSON), a data contract (ODCS) "
    "or a schema.yml of dbt"
)
# What documents call the types of columns, by the type that a reader has. Moments are left out:
# no document says for certain whether they have a zone.
_TYPES: dict[pl.DataType, str] = {
    pl.String(): "string text varchar char character nvarchar nchar bpchar uuid",
    pl.Int64(): "integer int int2 int4 int8 bigint smallint tinyint int64 serial bigserial year",
    pl.Float64(): "number numeric decimal float float4 float8 float64 double real",
    pl.Boolean(): "boolean bool",
    pl.Date(): "date",
    pl.Time(): "time",
    pl.Struct([]): "object struct record json jsonb variant map",
    pl.List(pl.String()): "array list",
}
_TYPE_OF = {word: dtype for dtype, words in _TYPES.items() for word in words.split()}


@dataclass(frozen=True)
class ListedColumns:
    """The columns of a source as a file lists them: names in order, and types where it has them."""

    names: tuple[str, ...]
    types: Mapping[str, pl.DataType]


@dataclass(frozen=True)
class _Table:
    """A table of a document: its own names, and its columns as (name, what its type is called)."""

    called: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]


def read_columns_file(place: str, separator: str, wanted: Iterable[str]) -> ListedColumns:
    """The columns that a file lists, for a plan.

    `place` is the file, and the name of a table behind `#` if it has several. Without that, the
    table counts that has one of the `wanted` names. `separator` is that of the plan's source.
    """
    path, _, table = (place, "", "") if Path(place).is_file() else place.rpartition("#")
    path, table = (path, table) if path else (table, "")
    text = _read_text(Path(path))
    if Path(path).suffix.lower() in (".json", ".yml", ".yaml"):
        tables = list(_find_tables(_parse(Path(path), text)))
        return _type_columns(_choose_table(tables, table, wanted, path).columns)
    return _type_columns((name, "") for name in _split_names(text, separator))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        refusal = f"the file {path} of --columns cannot be read as text; give {FORMS}"
    raise PlanError(refusal)


def _parse(path: Path, text: str) -> Any:
    """A document of JSON or YAML."""
    try:
        if path.suffix.lower() == ".json":
            return json.loads(text)
        import yaml  # needed for YAML alone

        return yaml.safe_load(text)
    except (ValueError, RecursionError):
        pass
    except Exception as error:
        if not type(error).__module__.startswith("yaml"):
            raise
    # After the handlers: a parser's error quotes the file, and would be the context.
    raise PlanError(f"the file {path} of --columns is no JSON or YAML; correct it")


def _split_names(text: str, separator: str) -> list[str]:
    """The fields of a CSV header; or names, one a line."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return []
    first = next(csv.reader(lines[:1], delimiter=separator))
    # What follows a header are rows, which are not kept.
    return first if len(first) > 1 else [next(csv.reader([line]), [""])[0] for line in lines]


def _find_tables(document: Any) -> Iterator[_Table]:
    """The tables of a document, in any of the forms that are read."""
    if isinstance(document, list):  # the fields of a Table Schema alone
        document = {"fields": document}
    if not isinstance(document, dict):
        return
    if isinstance(document.get("fields"), list):
        yield _list_fields((), document["fields"])
    for resource in _tables(document, "resources"):
        schema = resource.get("schema")
        if isinstance(schema, dict):
            called = (resource.get("name"), _stem(resource.get("path")))
            yield _list_fields(called, schema.get("fields"))
    # ODCS 3 and 2.
    for table in _tables(document, "schema"):
        called = (table.get("name"), table.get("physicalName"))
        yield _list_fields(called, table.get("properties"))
    for table in _tables(document, "dataset"):
        yield _list_fields((table.get("table"), table.get("physicalName")), table.get("columns"))
    # dbt
    parts = [part for key in ("models", "seeds", "snapshots") for part in _tables(document, key)]
    parts += [
        table for source in _tables(document, "sources") for table in _tables(source, "tables")
    ]
    for part in parts:
        named = [part.get(key) for key in ("name", "identifier", "alias")]
        yield _list_fields(named, part.get("columns"))


def _tables(document: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    listed = document.get(key)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _stem(path: Any) -> str | None:
    """The name of a file without its ends, `people` of data/people.csv.gz."""
    return Path(path).name.partition(".")[0] if isinstance(path, str) else None


def _list_fields(called: Iterable[Any], fields: Any) -> _Table:
    """A table by its names and its list of columns."""
    columns = []
    for field in fields if isinstance(fields, list) else []:
        if isinstance(field, str):
            columns.append((field, ""))
        elif isinstance(field, dict):
            name = field.get("name", field.get("column"))
            keys = ("type", "logicalType", "data_type", "physicalType")
            kind = next((field[key] for key in keys if isinstance(field.get(key), str)), "")
            if isinstance(name, str):
                columns.append((name, kind))
    return _Table(tuple(each for each in called if isinstance(each, str)), tuple(columns))


def _choose_table(tables: list[_Table], table: str, wanted: Iterable[str], path: str) -> _Table:
    """The table with this name; without one, the only table or that of the plan."""
    listed = [each for each in tables if each.columns]
    if not listed:
        raise PlanError(f"the file {path} of --columns lists no columns; give {FORMS}")
    if not table and len(listed) == 1:
        return listed[0]
    names = [name for each in listed for name in each.called[:1]]
    for name in (table,) if table else tuple(wanted):
        if found := [each for each in listed if name in each.called]:
            return found[0]
    near = did_you_mean(table, names) if table else ""
    raise PlanError(
        f"the file {path} of --columns lists the tables {', '.join(names)}; say which one, such as "
        f"--columns {path}#{names[0] if names else 'name'}{near}"
    )


def _type_columns(columns: Iterable[tuple[str, str]]) -> ListedColumns:
    named = tuple(columns)
    words = {name: re.match(r"\s*(\w*)", kind.lower()) for name, kind in named}
    types = {
        name: _TYPE_OF[word[1]] for name, word in words.items() if word and word[1] in _TYPE_OF
    }
    return ListedColumns(tuple(name for name, _ in named), types)
