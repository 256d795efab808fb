"""What a query selects in SQLite, by Python's own module."""

import sqlite3
from contextlib import closing

import polars as pl

from crowdcover.storage.source.database_types import ColumnTypes, Take, fetch_selected_rows
from crowdcover.storage.source.drivers.base import Database, require_database_file


def fetch_from_sqlite(uri: str, statement: str, form: int, take: Take) -> ColumnTypes:
    """The rows of a statement, of a file opened to read only; in form 1 as polars types them."""
    path = require_database_file(uri)
    # as_uri escapes ? and #, which would begin parameters; mode=ro makes no new file.
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        if form == 1:
            take(pl.read_database(statement, connection, infer_schema_length=None))
            return ColumnTypes()
        return fetch_selected_rows(connection, statement, take)


SQLITE = Database("SQLite", ("sqlite:///",), fetch_from_sqlite, ends=(".sqlite", ".sqlite3", ".db"))
