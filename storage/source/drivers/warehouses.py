"""What a query selects in Snowflake and BigQuery, by their ADBC drivers."""

from contextlib import closing
from importlib import import_module
from typing import Any

from crowdcover.storage.source.database_types import ColumnTypes, Take
from crowdcover.storage.source.drivers.base import Database, take_batches


def fetch_from_snowflake(uri: str, statement: str, _form: int, take: Take) -> ColumnTypes:
    """The rows of a statement; the driver reads the rest of the address."""
    dbapi = import_module(f"{SNOWFLAKE.module}.dbapi")
    return _fetch(dbapi.connect(uri.partition("://")[2]), statement, take)


def fetch_from_bigquery(uri: str, statement: str, _form: int, take: Take) -> ColumnTypes:
    """The rows of a statement; the address names a project, and perhaps a data set."""
    dbapi = import_module(f"{BIGQUERY.module}.dbapi")
    project, _, dataset = uri.partition("://")[2].strip("/").partition("/")
    named = {"adbc.bigquery.sql.project_id": project, "adbc.bigquery.sql.dataset_id": dataset}
    kept = {key: name for key, name in named.items() if name}
    return _fetch(dbapi.connect(db_kwargs=kept), statement, take)


def _fetch(opened: Any, statement: str, take: Take) -> ColumnTypes:
    """One statement sees one moment."""
    with closing(opened) as connection, closing(connection.cursor()) as cursor:
        cursor.execute(statement)
        take_batches(cursor.fetch_record_batch(), take)
        return ColumnTypes()


SNOWFLAKE = Database(
    "Snowflake",
    ("snowflake://",),
    fetch_from_snowflake,
    extra="snowflake",
    module="adbc_driver_snowflake",
)
BIGQUERY = Database(
    "BigQuery",
    ("bigquery://",),
    fetch_from_bigquery,
    extra="bigquery",
    module="adbc_driver_bigquery",
)
