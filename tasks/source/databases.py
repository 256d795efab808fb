"""What a query selects, as one frame, by the driver of its database."""

import hashlib
import sqlite3
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from anon_core.errors import InputError
from tasks.source import mssql
from tasks.source.answers import OF_SOURCE, kind_of, what_to_do
from tasks.source.panics import silenced_panics
from tasks.source.sources import BIGQUERY, DUCKDB, MSSQL, POSTGRES, SQLITE, distinct, require_file
from tasks.source.values import as_text, attempt, stored

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
# DuckDB loads nothing from the network, and spills no cells into a folder beside the database.
QUIET_DUCKDB: dict[str, Any] = {"autoinstall_known_extensions": "false", "temp_directory": ""}


def query(uri: str, statement: str) -> tuple[pl.DataFrame, str]:
    """Run a query once; return its rows and the hash of their content.

    Rows are sorted by their texts, columns taken in the order of their names: the order in which a
    database answers decides nothing. The hash is the same for any order of rows and columns.
    """
    try:
        with silenced_panics():
            frame = _asked(uri, statement)
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
        names = distinct(frame.columns)
        frame = pl.DataFrame(
            {name: stored(series) for name, series in zip(names, frame, strict=True)}
        )
        return attempt(
            lambda: fingerprinted(frame),
            "source.query selects values that cannot be read, such as infinite dates; cast them",
        )
    raise InputError(words)


def _asked(uri: str, statement: str) -> pl.DataFrame:
    if uri.startswith(DUCKDB):
        return _asked_duckdb(Path(uri.removeprefix(DUCKDB)).absolute(), statement)
    if uri.startswith(POSTGRES):
        return _asked_postgres(uri, statement)
    if uri.startswith(MSSQL):
        return mssql.asked(uri, statement)
    if not uri.startswith(SQLITE):
        return _asked_warehouse(uri, statement)
    path = Path(uri.removeprefix(SQLITE)).absolute()
    require_file(path, "source.uri")
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return pl.read_database(statement, connection, infer_schema_length=None)


def _asked_postgres(uri: str, statement: str) -> pl.DataFrame:
    """One transaction that sees one moment, whatever the driver asks beside the query."""
    from adbc_driver_postgresql import dbapi  # an extra

    with closing(dbapi.connect(uri)) as connection, closing(connection.cursor()) as cursor:
        cursor.execute(ONE_MOMENT)
        cursor.execute(statement)
        return pl.DataFrame(cursor.fetch_arrow())


def _asked_warehouse(uri: str, statement: str) -> pl.DataFrame:
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


def _asked_duckdb(path: Path, statement: str) -> pl.DataFrame:
    require_file(path, "source.uri")
    import duckdb  # an extra

    with duckdb.connect(str(path), read_only=True, config=QUIET_DUCKDB) as connection:
        if [each.type.name for each in connection.extract_statements(statement)] != ["SELECT"]:
            raise InputError(f"source.query {ONE_SELECT}")  # copy and attach would write elsewhere
        try:
            return pl.read_database(statement, connection)
        except pl.exceptions.ComputeError:  # of polars, where it has no type for a column
            pass
    raise InputError(UNREADABLE)


def fingerprinted(frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Rows in the order of their texts, and the hash of their content."""
    columns = sorted(frame, key=lambda series: series.name)
    texts = pl.DataFrame({str(place): as_text(series) for place, series in enumerate(columns)})
    if frame.height:
        order = texts.with_row_index("row").sort(texts.columns)["row"]
        frame, texts = frame[order], texts[order]
    texts.columns = [series.name for series in columns]
    return frame, hashlib.sha256(texts.write_ndjson().encode()).hexdigest()
