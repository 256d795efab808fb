"""What a query selects in Snowflake and BigQuery, by their ADBC drivers."""

from contextlib import closing
from importlib import import_module
from typing import Any, ClassVar

import polars as pl

from tasks.source.database_types import Answer
from tasks.source.drivers.base import Database


class _Warehouse(Database):
    """What both share: one statement, which sees one moment."""

    def fetch(self, uri: str, statement: str, form: int) -> Answer:  # noqa: ARG002
        """The rows of a statement."""
        opened = self._connect(import_module(f"{self.module}.dbapi"), uri.partition("://")[2])
        with closing(opened) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(statement)
            return Answer(pl.DataFrame(cursor.fetch_arrow_table()))

    def _connect(self, dbapi: Any, place: str) -> Any:
        return dbapi.connect(place)


class Snowflake(_Warehouse):
    """An account of Snowflake."""

    title: ClassVar[str] = "Snowflake"
    starts: ClassVar[tuple[str, ...]] = ("snowflake://",)
    extra: ClassVar[str] = "snowflake"
    module: ClassVar[str] = "adbc_driver_snowflake"


class BigQuery(_Warehouse):
    """A project of BigQuery, perhaps with a data set."""

    title: ClassVar[str] = "BigQuery"
    starts: ClassVar[tuple[str, ...]] = ("bigquery://",)
    extra: ClassVar[str] = "bigquery"
    module: ClassVar[str] = "adbc_driver_bigquery"

    def _connect(self, dbapi: Any, place: str) -> Any:
        project, _, dataset = place.strip("/").partition("/")
        named = {"adbc.bigquery.sql.project_id": project, "adbc.bigquery.sql.dataset_id": dataset}
        return dbapi.connect(db_kwargs={key: name for key, name in named.items() if name})
