"""Databases: a file and an entry in `DATABASES` each. A database is told by its address."""

from crowdcover.storage.source.drivers.base import Database
from crowdcover.storage.source.drivers.duck import DUCKDB
from crowdcover.storage.source.drivers.lite import SQLITE
from crowdcover.storage.source.drivers.mssql import MSSQL
from crowdcover.storage.source.drivers.postgres import POSTGRES
from crowdcover.storage.source.drivers.warehouses import BIGQUERY, SNOWFLAKE

DATABASES = (SQLITE, DUCKDB, POSTGRES, MSSQL, SNOWFLAKE, BIGQUERY)
_FIRST = [each.starts[0] for each in DATABASES]
ADDRESSES = f"{', '.join(_FIRST[:-1])} or {_FIRST[-1]}"  # for messages


def database_of(uri: str) -> Database | None:
    """The database of an address; None where it is no such address."""
    return next((each for each in DATABASES if uri.startswith(each.starts)), None)


def split_file_address(uri: str) -> tuple[str, str] | None:
    """The start and the path in the address of a database file; None for any other text."""
    found = database_of(uri)
    if found is None or not found.ends:
        return None
    start = found.starts[0]
    return start, uri.removeprefix(start)
