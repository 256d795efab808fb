"""A DuckDB file as a target."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from crowdcover.storage.source.drivers.duck import QUIET_DUCKDB
from crowdcover.storage.targets.base import CONVERTED_ROWS, Session, Target, TargetError
from crowdcover.storage.targets.naming import place_of_relation, quote_name, quote_text

_ROWS = "crowdcover rows"  # what the batches are called while they are read
# Types that Arrow does not have, or DuckDB not as one of a column: they pass as texts.
_AS_TEXTS = ((pl.Int128, "hugeint"), (pl.UInt128, "uhugeint"), (pl.Null, "varchar"))


class DuckSession(Session):
    """See `Session`."""

    longest = None
    folds = True
    reserved = frozenset(("",))

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement."""
        answer = self._connection.execute(statement, list(values))
        return list(answer.fetchall()) if statement.startswith("select") else []

    def require_storable(self, rows: pl.LazyFrame) -> None:
        """Refuse nothing: every type of a release has its counterpart."""

    def write(self, schema: str, table: str, rows: pl.LazyFrame, names: Sequence[str]) -> None:
        """Make the table from a stream of batches."""
        import pyarrow

        columns = rows.collect_schema()
        types = [
            next((own for text, own in _AS_TEXTS if of == text), "") for of in columns.values()
        ]

        def name_columns(batch: pl.DataFrame) -> Any:
            found = [
                (series.cast(pl.String) if of else series).alias(name)
                for name, series, of in zip(names, batch, types, strict=True)
            ]
            return pl.DataFrame(found).rechunk().to_arrow()

        def list_batches() -> Iterator[Any]:
            for batch in rows.collect_batches(chunk_size=CONVERTED_ROWS, maintain_order=True):
                yield from name_columns(batch).to_batches()

        empty = name_columns(pl.DataFrame(schema=columns))
        reader = pyarrow.RecordBatchReader.from_batches(empty.schema, list_batches())
        casts = [
            f"{quote_name(name)}::{of} as {quote_name(name)}" if of else quote_name(name)
            for name, of in zip(names, types, strict=True)
        ]
        place = place_of_relation(schema, table)
        self._connection.register(_ROWS, reader)
        try:
            self.ask(f"create table {place} as select {', '.join(casts)} from {quote_name(_ROWS)}")
        finally:
            self._connection.unregister(_ROWS)
        for name, whole in zip(names, columns, strict=True):
            if name != whole:
                said = quote_text(whole)
                self.ask(f"comment on column {place}.{quote_name(name)} is {said}")

    def point_view(self, schema: str, view: str, table: str, *, exists: bool) -> None:
        """Make the view, or replace it."""
        place, shown = (place_of_relation(schema, each) for each in (view, table))
        how = "create or replace" if exists else "create"
        self.ask(f"{how} view {place} as select * from {shown}")

    def list_missing_roles(self, roles: Sequence[str]) -> list[str]:
        """All: DuckDB has none."""
        return list(roles)

    def grant(self, schema: str, relations: Sequence[str], roles: Sequence[str]) -> None:
        """Grant nothing: who reads the file reads all of it."""


@contextmanager
def open_duckdb(uri: str) -> Iterator[Session]:
    """One transaction with a file, which is made if there is none."""
    path = Path(uri.partition(":///")[2]).absolute()
    if path.is_dir() or not path.parent.is_dir():
        raise TargetError(
            "the address of the target is no file in a folder that exists; write "
            "duckdb:///path/of/the/file.duckdb, and make its folder"
        )
    import duckdb

    with duckdb.connect(str(path), config=QUIET_DUCKDB) as connection:
        connection.execute("begin")
        yield DuckSession(connection)
        connection.execute("commit")


DUCKDB_TARGET = Target(
    "DuckDB",
    ("duckdb:///",),
    open_duckdb,
    extra="duckdb",
    grants=False,
    refusals={
        "BinderException": "the table crowdcover_releases of the schema is not crowdcover's; "
        "rename it, or name another schema",
        "CatalogException": "a table or view of that name is there already and is not "
        "crowdcover's; rename it, or name another schema",
        "DependencyException": "something in the database reads what would be removed; drop that "
        "first, and make it again afterwards",
        "TransactionException": "another connection changed the same tables; run again",
    },
)
