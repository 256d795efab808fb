"""Databases that releases are loaded into, and what is in them."""

from contextlib import closing
from dataclasses import dataclass

from crowdcover.storage.places.credentials import without_password


@dataclass(frozen=True)
class Database:
    """An empty database; `uri` has its password, `into` has none."""

    uri: str

    @property
    def into(self):
        return without_password(self.uri)

    @property
    def is_postgres(self):
        return self.uri.startswith("postgresql")

    def ask(self, statement, *, write=False):
        """The rows of a statement, as tuples."""
        if self.is_postgres:
            from adbc_driver_postgresql import dbapi

            with closing(dbapi.connect(self.uri)) as connection, closing(connection.cursor()) as at:
                at.execute(statement)
                rows = [] if write else [tuple(row) for row in at.fetchall()]
                connection.commit()
                return rows
        import duckdb

        with duckdb.connect(self.uri.removeprefix("duckdb:///")) as connection:
            return connection.execute(statement).fetchall()

    def relations(self):
        """Tables and views."""
        found = self.ask(
            "select table_name, table_type from information_schema.tables "
            "where table_schema not in ('information_schema', 'pg_catalog')"
        )
        return dict(found)

    def types(self, relation):
        """The columns of a table or view and their types."""
        if self.is_postgres:
            return dict(
                self.ask(
                    "select attname, format_type(atttypid, atttypmod) from pg_attribute "
                    f"where attrelid = '\"{relation}\"'::regclass and attnum > 0 order by attnum"
                )
            )
        return {row[0]: row[1] for row in self.ask(f'describe "{relation}"')}
