"""What a query selects in Microsoft SQL Server, by pymssql."""

from contextlib import closing
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from anon_core.errors import InputError
from crowdcover.storage.source.database_types import ColumnTypes, Take, fetch_selected_rows
from crowdcover.storage.source.drivers.base import Database

# A single SELECT may see rows of two moments otherwise: it locks no more than the row it reads.
SERIALIZABLE = "set transaction isolation level serializable"
PORT = 1433
LOGIN_SECONDS = 30
PARAMETERS = {"password", "encryption"}
UNKNOWN_ADDRESS = (
    "source.uri is not understood; write mssql://user@host:1433/database, perhaps with "
    "?encryption=off where the server has none"
)


def fetch_from_mssql(uri: str, statement: str, _form: int, take: Take) -> ColumnTypes:
    """The rows of one SELECT; what it writes nevertheless is rolled back."""
    options = connection_options(uri)
    import pymssql

    with closing(pymssql.connect(**options)) as connection:
        with closing(connection.cursor()) as cursor:
            cursor.execute(SERIALIZABLE)
        return fetch_selected_rows(connection, statement, take)


def connection_options(uri: str) -> dict[str, Any]:
    """What the driver is given; refused where the address has other parts than it knows."""
    try:
        parts = urlsplit(uri)
        stated = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
        port, database = parts.port or PORT, unquote(parts.path.strip("/"))
        # Other parameters would be dropped in silence, such as a demand on certificates.
        known = stated.keys() <= PARAMETERS and parts.hostname and database
    except ValueError:
        known = None
    if not known:
        raise InputError(UNKNOWN_ADDRESS)
    return {
        "server": parts.hostname,
        "port": str(port),
        "user": unquote(parts.username or ""),
        "password": stated.get("password", unquote(parts.password or "")),
        "database": database,
        "login_timeout": LOGIN_SECONDS,
        "appname": "crowdcover",
        "encryption": stated.get("encryption", "require"),
    }


MSSQL = Database("SQL Server", ("mssql://",), fetch_from_mssql, extra="mssql", module="pymssql")
