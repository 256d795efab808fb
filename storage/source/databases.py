"""What a query selects, as one frame, by the driver of its database."""

import hashlib
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from anon_core.errors import InputError
from storage.source import mssql
from storage.source.answers import OF_SOURCE, kind_of, what_to_do
from storage.source.database_types import (
    UNREAD,
    Answer,
    build_type_refusal,
    fetch_selected_rows,
    of_duckdb,
    of_postgres,
)
from storage.source.panics import silence_panics
from storage.source.sources import (
    BIGQUERY,
    DUCKDB,
    MSSQL,
    POSTGRES,
    SQLITE,
    require_distinct_names,
    require_file,
)
from storage.source.values import FORM, as_text, call_or_refuse, unwrap_extension

UNREADABLE = (
    "source.query selects a column of a type that cannot be read, such as an interval; "
    "cast it to text there"
)
ONE_SELECT = "is not one SELECT, and a source is only read; give one SELECT"
ONE_MOMENT = "set transaction isolation level repeatable read, read only"
DRIVERS = {  # of a scheme: its name, and the extra with its driver
    "duckdb": ("DuckDB", "duckdb"),
    "postgresql": ("PostgreSQL", "postgres"),
    "postgres": ("PostgreSQL", "postgres"),
    "mssql": ("SQL Server", "mssql"),
    "snowflake": ("Snowflake", "snowflake"),
    "bigquery": ("BigQuery", "bigquery"),
}
MONEY = "select 1::numeric::money"  # in the smallest unit, which a setting of the database decides
IN_UTC = "set global TimeZone = 'UTC'"  # else the machine's zone decides days and fingerprint
# DuckDB loads nothing from the network, and spills no cells into a folder beside the database.
QUIET_DUCKDB: dict[str, Any] = {"autoinstall_known_extensions": "false", "temp_directory": ""}


class Answered(NamedTuple):
    """Rows of a query, the hash of their content, and types of columns that are not carried."""

    frame: pl.DataFrame
    sha256: str
    foreign: Mapping[str, str]


def query_database(uri: str, statement: str, form: int = FORM) -> Answered:
    """Run a query once; return its rows and the hash of their content.

    Rows are sorted by their texts, columns taken in the order of their names: the order in which a
    database answers decides nothing. The hash is the same for any order of rows and columns. In
    form 1 the columns are as drivers give them.
    """
    try:
        with silence_panics():
            answer = _fetch_from_database(uri, statement, form)
    except InputError:
        raise
    except ImportError:
        name, extra = DRIVERS[uri.partition("://")[0]]
        words = f"reading {name} needs the driver: pip install 'crowdcover[{extra}]'"
    except pl.exceptions.PanicException:
        words = UNREADABLE
    except Exception as error:
        # Drivers quote the URI, the query and cells: only what kind of error it is is named.
        words = (
            f"the database did not answer source.query ({kind_of(error)}); "
            f"{what_to_do(error, OF_SOURCE)}"
        )
    else:
        return _convert_answer(answer, form)
    raise InputError(words)


def _convert_answer(answer: Answer, form: int) -> Answered:
    """The rows with their columns as the database holds them; the hash is of what drivers give."""
    names = require_distinct_names(answer.frame.columns)
    frame = pl.DataFrame(
        {name: unwrap_extension(series) for name, series in zip(names, answer.frame, strict=True)}
    )
    frame, sha256 = sort_and_hash_rows(frame)
    if form == 1:
        return Answered(frame, sha256, {})
    stated = dict(zip(answer.frame.columns, names, strict=True))
    types = {stated[name]: of for name, of in answer.types.items()}
    scales = {stated[name]: digits for name, digits in answer.scales.items()}
    carried, foreign = call_or_refuse(Answer(frame, types, scales).carried, UNREADABLE)
    return Answered(carried, sha256, foreign)


def _fetch_from_database(uri: str, statement: str, form: int) -> Answer:
    if uri.startswith(DUCKDB):
        return _fetch_from_duckdb(Path(uri.removeprefix(DUCKDB)).absolute(), statement, form)
    if uri.startswith(POSTGRES):
        return _fetch_from_postgres(uri, statement)
    if uri.startswith(MSSQL):
        return mssql.fetch_from_mssql(uri, statement)
    if not uri.startswith(SQLITE):
        return Answer(_fetch_from_warehouse(uri, statement))
    path = Path(uri.removeprefix(SQLITE)).absolute()
    require_file(path, "source.uri")
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        if form == 1:
            return Answer(pl.read_database(statement, connection, infer_schema_length=None))
        return fetch_selected_rows(connection, statement)


def _fetch_from_postgres(uri: str, statement: str) -> Answer:
    """One transaction that sees one moment, whatever the driver asks beside the query."""
    from adbc_driver_postgresql import dbapi  # an extra

    if "PGTZ" in os.environ:
        raise InputError(
            "PGTZ is set, so days and texts that source.query makes of a timestamptz depend on "
            "this machine; unset it, and write `at time zone` in source.query where it matters"
        )
    with closing(dbapi.connect(uri)) as connection, closing(connection.cursor()) as cursor:
        cursor.execute(ONE_MOMENT)
        cursor.execute(statement)
        batches = cursor.fetch_record_batch()
        types, scales = of_postgres(batches.schema)
        frame = pl.DataFrame(batches)
        if "money" in types.values():
            cursor.execute(MONEY)
            digits = len(str(cursor.fetchone()[0])) - 1
            scales |= {name: digits for name, of in types.items() if of == "money"}
        return Answer(frame, types, scales)


def _fetch_from_warehouse(uri: str, statement: str) -> pl.DataFrame:
    """One statement, which sees one moment: Snowflake and BigQuery."""
    scheme, _, place = uri.partition("://")
    dbapi = import_module(f"adbc_driver_{scheme}.dbapi")  # an extra
    if f"{scheme}://" == BIGQUERY:
        project, _, dataset = place.strip("/").partition("/")
        named = {"adbc.bigquery.sql.project_id": project, "adbc.bigquery.sql.dataset_id": dataset}
        opened = dbapi.connect(db_kwargs={key: name for key, name in named.items() if name})
    else:
        opened = dbapi.connect(place)
    with closing(opened) as connection, closing(connection.cursor()) as cursor:
        cursor.execute(statement)
        return pl.DataFrame(cursor.fetch_arrow_table())


def _fetch_from_duckdb(path: Path, statement: str, form: int) -> Answer:
    require_file(path, "source.uri")
    import duckdb  # an extra

    with duckdb.connect(str(path), read_only=True, config=QUIET_DUCKDB) as connection:
        if [each.type.name for each in connection.extract_statements(statement)] != ["SELECT"]:
            raise InputError(f"source.query {ONE_SELECT}")  # copy and attach would write elsewhere
        if form > 1:
            connection.execute(IN_UTC)
        relation = connection.sql(statement)
        types = of_duckdb(relation.columns, [str(of) for of in relation.types])
        if lost := {name: of for name, of in types.items() if of.startswith(UNREAD)}:
            raise build_type_refusal(lost)
        try:
            return Answer(pl.DataFrame(relation), types)
        except pl.exceptions.ComputeError:  # of polars, where it has no type for a column
            pass
    raise build_type_refusal(types)


def sort_and_hash_rows(frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Rows in the order of their texts, and the hash of their content.

    Refused by name: columns with values that cannot be written as text.
    """
    columns = sorted(frame, key=lambda series: series.name)
    texts = pl.DataFrame(
        {str(place): _convert_to_texts(series) for place, series in enumerate(columns)}
    )
    if frame.height:
        order = texts.with_row_index("row").sort(texts.columns)["row"]
        frame, texts = frame[order], texts[order]
    texts.columns = [series.name for series in columns]
    return frame, hashlib.sha256(texts.write_ndjson().encode()).hexdigest()


def _convert_to_texts(series: pl.Series) -> pl.Series:
    refusal = (
        f"source.query selects values of column {series.name!r} that cannot be read, such as "
        "infinite dates; cast them"
    )
    return call_or_refuse(lambda: as_text(series), refusal)
