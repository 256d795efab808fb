"""What a database's error means and what to do about it, without its words.

Drivers quote the address, the query and cells in their errors. Here an error is reduced to a cause:
by its SQLSTATE (PostgreSQL and other ADBC drivers), its number (SQL Server), its class (DuckDB), or
a fixed phrase that the driver's message begins with or contains (connections, SQLite).
"""

import re
from typing import NamedTuple


class Asked(NamedTuple):
    """The keys of the plan that named what was asked."""

    address: str
    statement: str
    credentials: str


OF_SOURCE = Asked("source.uri", "source.query", "source.credentials")
OF_LEDGER = Asked("publish.ledger", "the ledger's own statements", "publish.ledger_credentials")

_WHAT_TO_DO = {
    "column": "{statement} names a column that is not there; correct its name",
    "table": "{statement} names a table or schema that is not there; correct its name, or write "
    "schema.table",
    "function": "{statement} calls a function that is not there for these types; correct it",
    "syntax": "{statement} is not one statement that the database understands; give one SELECT",
    "permission": "the account of {address} may not do what {statement} asks for; let it read "
    "these tables (grant select), or name another account",
    "writes": "{statement} writes, and a source is only read; give one SELECT",
    "values": "{statement} converts or computes a value that the database refuses; correct its "
    "casts",
    "login": "the database refused the login; correct the user in {address}, or the password that "
    "{credentials}, ~/.pgpass or PGPASSWORD gives",
    "no password": "the database asks for a password and none was found; name one by "
    "{credentials}, or set ~/.pgpass or PGPASSWORD",
    "database": "the server has no database of that name; correct {address}",
    "host": "the host of {address} is not known here; correct its name",
    "unreachable": "no server answers at the host and port of {address}; correct them, or start "
    "the server",
    "encryption": "the server does not encrypt as {address} demands; correct its sslmode",
    "address": "{address} is not understood; correct its parameters, or the service that it names",
    "busy": "the database stopped the query or has no room for it; run again later",
    "no database file": "the file of {address} is no such database, or is damaged; correct the "
    "path, or its start (sqlite:/// or duckdb:///)",
    "closed": "the file of {address} cannot be opened: it is locked by another program, or its "
    "permissions forbid it",
}
# SQLSTATE, or its first two characters -> cause.
STATES = {
    "42703": "column",
    "42P01": "table",
    "3F000": "table",
    "42883": "function",
    "42501": "permission",
    "25006": "writes",
    "28P01": "login",
    "28": "login",
    "3D000": "database",
    "08004": "login",
    "42": "syntax",
    "22": "values",
    "53": "busy",
    "57": "busy",
    "40": "busy",
    "08": "unreachable",
}
# Phrases of messages -> cause; the first that is found counts.
PHRASES = {
    "no password supplied": "no password",
    "password is empty": "no password",
    "password authentication failed": "login",
    "Incorrect username or password": "login",
    "no pg_hba.conf entry": "login",
    "SSL was required": "encryption",
    "could not translate host name": "host",
    "no such host": "host",
    "Connection refused": "unreachable",
    "connection refused": "unreachable",
    "login-request": "unreachable",
    "timeout expired": "unreachable",
    "No route to host": "unreachable",
    "Network is unreachable": "unreachable",
    # libpq says this where the socket of a local server is missing.
    "No such file or directory": "unreachable",
    "server closed the connection": "busy",
    "terminating connection": "busy",
    "definition of service": "address",
    "invalid URI": "address",
    "invalid connection option": "address",
}
SQLITE_CAUSES = {
    "no such column": "column",
    "no such table": "table",
    "no such function": "function",
    "syntax error": "syntax",
    "incomplete input": "syntax",
    "attempt to write": "writes",
    "file is not a database": "no database file",
    "unable to open": "closed",
    "database is locked": "closed",
    "malformed": "no database file",
    "interrupted": "busy",
}
# Numbers below 20000 are of the server, the others of its client library, DB-Library.
MSSQL_CAUSES = {
    102: "syntax",
    156: "syntax",
    195: "function",
    207: "column",
    208: "table",
    229: "permission",
    230: "permission",
    245: "values",
    1205: "busy",
    4060: "database",
    4121: "function",
    8114: "values",
    8115: "values",
    8134: "values",
    18452: "login",
    18456: "login",
    20002: "unreachable",
    20003: "busy",
    20004: "busy",
    20006: "busy",
    20009: "unreachable",
    20017: "busy",
    20047: "busy",
}
DUCKDB_CAUSES = {
    "BinderException": "column",
    "CatalogException": "table",
    "ParserException": "syntax",
    "SyntaxException": "syntax",
    "PermissionException": "permission",
    "ConversionException": "values",
    "OutOfRangeException": "values",
    "OutOfMemoryException": "busy",
    "InterruptException": "busy",
}


def cause_of(error: BaseException) -> str:
    """The cause of a driver's error, a key of `_WHAT_TO_DO`; empty if it is not known."""
    package, text = type(error).__module__, str(error)
    state = str(getattr(error, "sqlstate", None) or "")
    if package.startswith("sqlite3"):
        return _match_phrase(SQLITE_CAUSES, text)
    if "mssql" in package:
        return MSSQL_CAUSES.get(_find_mssql_number(error) or 0, "")
    if "duckdb" in package:
        return _of_duckdb(type(error).__name__, text)
    if state:
        # The code, then its class: 42703 is a column, the rest of class 42 counts as syntax.
        return STATES.get(state) or STATES.get(state[:2], "")
    if "FATAL" in text and re.search(r'database ".*" does not exist', text):
        return "database"
    return _match_phrase(PHRASES, text)


def _find_mssql_number(error: BaseException) -> int | None:
    """The number of an error of SQL Server or of its driver.

    pymssql remembers the gravest error of opening a connection until the process ends.
    """
    if not type(error).__module__.startswith("pymssql"):
        return None
    first = error.args[0] if error.args else None
    number = first[0] if isinstance(first, tuple) and first else first
    return number if isinstance(number, int) else None


def _of_duckdb(name: str, text: str) -> str:
    if name == "IOException":
        locked = re.search("lock|permission", text, re.IGNORECASE)
        return "closed" if locked else "no database file"
    if name == "CatalogException" and "Function" in text:
        return "function"
    return DUCKDB_CAUSES.get(name, "")


def kind_of(error: BaseException) -> str:
    """The class of an error, and its SQLSTATE or number if it has one."""
    if number := _find_mssql_number(error):
        return f"{type(error).__name__}, error {number}"
    state = getattr(error, "sqlstate", None)
    return f"{type(error).__name__}, SQLSTATE {state}" if state else type(error).__name__


def what_to_do(error: BaseException, asked: Asked) -> str:
    """What to do about a driver's error, in words of the plan."""
    known = _WHAT_TO_DO.get(cause_of(error))
    return (
        known.format(**asked._asdict())
        if known
        else f"check {asked.address}" + (f" and {asked.statement}" if asked is OF_SOURCE else "")
    )


def _match_phrase(phrases: dict[str, str], text: str) -> str:
    return next((cause for phrase, cause in phrases.items() if phrase in text), "")
