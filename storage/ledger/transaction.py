"""One exclusive transaction with the database of the ledger: SQLite or PostgreSQL."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

WAIT = 10  # seconds for the entry of another process
# One transaction at a time in PostgreSQL; in SQLite "begin immediate" does the same. The number of
# the lock is arbitrary but fixed.
TURN = (
    "set local lock_timeout = '10s'",
    "select pg_advisory_xact_lock(7227330411)::text",
)
Ask = Callable[..., list[tuple[Any, ...]]]  # takes a statement with $1, $2, ... and their values


@contextmanager
def open_ledger_transaction(path: Path, uri: str | None, *, lasting: bool = True) -> Iterator[Ask]:
    """Open one transaction with the database at `uri`, or with the file at `path` without one.

    No other process reads or writes meanwhile. An error inside leaves the database as it was. So
    does a transaction that is not `lasting`.
    """
    if uri is None:
        with closing(_connect_sqlite(path)) as connection:
            # This takes the lock for writing at once: two that read first could not both write.
            connection.execute("begin immediate")
            yield lambda statement, *values: connection.execute(
                statement, _number_values(values)
            ).fetchall()
            connection.execute("commit" if lasting else "rollback")
        return
    from adbc_driver_postgresql import dbapi

    patient = f"{'&' if '?' in uri else '?'}connect_timeout={WAIT}"
    with (
        closing(dbapi.connect(uri + patient)) as connection,
        closing(connection.cursor()) as cursor,
    ):

        def ask(statement: str, *values: Any) -> list[tuple[Any, ...]]:
            cursor.execute(statement, values or None)
            rows = cursor.fetchall() if statement.startswith("select") else []
            return [tuple(row) for row in rows]

        for step in TURN:
            ask(step)
        yield ask
        if lasting:
            connection.commit()


def _connect_sqlite(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    return sqlite3.connect(path, timeout=WAIT, isolation_level=None)


def _number_values(values: Sequence[Any]) -> dict[str, Any]:
    # SQLite takes $1 for a name and PostgreSQL for a place, so one statement serves both.
    return {str(place): value for place, value in enumerate(values, start=1)}
