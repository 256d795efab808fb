"""A ledger in PostgreSQL."""

import tempfile
from contextlib import closing
from pathlib import Path

from crowdcover.storage.places.credentials import without_password
from tests.postgres import PASSWORD

SECRET = Path(tempfile.mkdtemp(prefix="crowdcover-secret-")) / "password"


def of_plan(uri):
    """[publish] of a plan: the password lies in a file."""
    SECRET.write_text(PASSWORD)
    SECRET.chmod(0o600)
    return {"ledger": without_password(uri), "ledger_credentials": f"file:{SECRET}"}


def query(uri, words, autocommit=False):
    from adbc_driver_postgresql import dbapi

    with (
        closing(dbapi.connect(uri, autocommit=autocommit)) as connection,
        closing(connection.cursor()) as cursor,
    ):
        cursor.execute(words)
        return [tuple(row) for row in cursor.fetchall()] if words.startswith("select") else None
