"""PostgreSQL as a target, by its ADBC driver."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import polars as pl
import polars.selectors as cs

from crowdcover.storage.targets.base import CONVERTED_ROWS, Session, Target, TargetError
from crowdcover.storage.targets.naming import place_of_relation, quote_name, quote_text

_WAIT = 10  # seconds for an answer, and for the turn of this load
# One load at a time, and readers of a view are waited for. The number of the lock is arbitrary.
_TURN = (
    f"set local lock_timeout = '{_WAIT}s'",
    "set local client_min_messages = 'error'",
    "select pg_advisory_xact_lock(7227330412)::text",
)
_SYSTEM = ("ctid", "xmin", "xmax", "cmin", "cmax", "tableoid")
_COLUMNS = (
    "select array_agg(attname || ' ' || format_type(atttypid, atttypmod) order by attnum)::text "
    "from pg_attribute where attrelid = $1::text::regclass and attnum > 0 and not attisdropped"
)
_CLOSED = (
    "the account of the target may not do this; let it create tables in the schema (grant create, "
    "usage on schema), and let one account load all versions"
)
_MICROSECOND = 1000  # nanoseconds
Convert = Callable[[pl.Series], pl.Series]


class PostgresSession(Session):
    """See `Session`."""

    longest = 63
    folds = False
    reserved = frozenset(("", *_SYSTEM))

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement."""
        self._cursor.execute(statement, values or None)
        rows = self._cursor.fetchall() if statement.startswith("select") else []
        return [tuple(row) for row in rows]

    def require_storable(self, rows: pl.LazyFrame) -> None:
        """Refuse moments finer than microseconds, which the driver would cut."""
        fine = [
            name
            for name, of in rows.collect_schema().items()
            if of == pl.Time or (isinstance(of, pl.Datetime) and of.time_unit == "ns")
        ]
        for name in fine:
            # `pl.col` would take a name such as ^a$ for a pattern.
            batches = rows.select(cs.by_name(name)).collect_batches(chunk_size=CONVERTED_ROWS)
            if any((each.to_series().cast(pl.Int64) % _MICROSECOND != 0).any() for each in batches):
                raise TargetError(
                    f"column {name!r} has times finer than microseconds, which PostgreSQL cannot "
                    "hold; load the release into DuckDB, or publish the column coarser"
                )

    def write(self, schema: str, table: str, rows: pl.LazyFrame, names: Sequence[str]) -> None:
        """Copy the rows by one COPY, then give columns the types that the driver cannot write."""
        import pyarrow

        # Asked, since the driver's own statements fail without an SQLSTATE.
        if not self.ask("select has_schema_privilege($1, 'create')", schema)[0][0]:
            raise TargetError(f"nothing was changed; {_CLOSED}")
        types = list(rows.collect_schema().values())
        forms = [_find_form(of) for of in types]

        def list_batches() -> Iterator[Any]:
            for batch in rows.collect_batches(chunk_size=CONVERTED_ROWS, maintain_order=True):
                yield from _convert(batch, names, forms).to_arrow().to_batches()

        empty = _convert(pl.DataFrame(schema=rows.collect_schema()), names, forms).to_arrow()
        self._cursor.adbc_ingest(
            table,
            pyarrow.RecordBatchReader.from_batches(empty.schema, list_batches()),
            mode="create",
            db_schema_name=schema,
        )
        casts = [
            f"alter column {quote_name(name)} type {of} using {quote_name(name)}::{of}"
            for name, (_, of) in zip(names, forms, strict=True)
            if of
        ]
        place = place_of_relation(schema, table)
        if casts:
            self.ask(f"alter table {place} {', '.join(casts)}")
        for name, whole in zip(names, rows.collect_schema(), strict=True):
            if name != whole:
                said = quote_text(whole.replace("\0", ""))
                self.ask(f"comment on column {place}.{quote_name(name)} is {said}")

    def point_view(self, schema: str, view: str, table: str, *, exists: bool) -> None:
        """Replace the view in place where its columns stay: grants and other views stay, too."""
        place, shown = (place_of_relation(schema, each) for each in (view, table))
        if exists and self.ask(_COLUMNS, place) == self.ask(_COLUMNS, shown):
            self.ask(f"create or replace view {place} as select * from {shown}")
            return
        if exists:
            self.ask(f"drop view {place}")
        self.ask(f"create view {place} as select * from {shown}")

    def list_missing_roles(self, roles: Sequence[str]) -> list[str]:
        """Look each up."""
        known = "select 1 from pg_roles where rolname = $1"
        return [each for each in roles if not self.ask(known, each)]

    def grant(self, schema: str, relations: Sequence[str], roles: Sequence[str]) -> None:
        """Grant, and look whether it had an effect: PostgreSQL only warns of an empty one."""
        may_use = "select has_schema_privilege($1, $2, 'usage')"
        may_read = "select has_table_privilege($1, $2, 'select')"
        for role in roles:
            if not self.ask(may_use, role, schema)[0][0]:
                self.ask(f"grant usage on schema {quote_name(schema)} to {quote_name(role)}")
            places = [place_of_relation(schema, each) for each in relations]
            self.ask(f"grant select on {', '.join(places)} to {quote_name(role)}")
            done = [self.ask(may_read, role, each)[0][0] for each in places]
            if not all(done) or not self.ask(may_use, role, schema)[0][0]:
                raise TargetError(
                    f"role {role!r} cannot be let read in schema {schema!r}; let the account of "
                    "the target grant usage on the schema, or name a schema that it owns"
                )


@contextmanager
def open_postgres(uri: str) -> Iterator[Session]:
    """One transaction; an error inside leaves the database as it was."""
    from adbc_driver_postgresql import dbapi

    patient = f"{'&' if '?' in uri else '?'}connect_timeout={_WAIT}"
    with (
        closing(dbapi.connect(uri + patient)) as connection,
        closing(connection.cursor()) as cursor,
    ):
        session = PostgresSession(cursor)
        for step in _TURN:
            session.ask(step)
        yield session
        connection.commit()


def _find_form(of: pl.DataType) -> tuple[Convert | None, str]:
    """How a column is handed to the driver, and the type that it gets afterwards if any."""
    # The driver would take the greatest of these for negative numbers.
    if of in (pl.UInt64, pl.Int128, pl.UInt128):
        return _as_texts, "numeric"
    # The driver would drop zeros at the end.
    if isinstance(of, pl.Decimal):
        return _as_texts, f"numeric({of.precision}, {of.scale})"
    if of == pl.Null:
        return _as_texts, ""
    inner = of.inner if isinstance(of, pl.List) else of
    if isinstance(inner, pl.DataType) and inner.is_nested():
        return _as_json, "jsonb"
    return None, ""


def _convert(
    batch: pl.DataFrame, names: Sequence[str], forms: Sequence[tuple[Convert | None, str]]
) -> pl.DataFrame:
    found = [
        (series if convert is None else convert(series)).alias(name)
        for name, series, (convert, _) in zip(names, batch, forms, strict=True)
    ]
    return pl.DataFrame(found).rechunk()


def _as_texts(series: pl.Series) -> pl.Series:
    return series.cast(pl.String)


def _as_json(series: pl.Series) -> pl.Series:
    """Cells as JSON: an interval is an object, dates are ISO texts, null stays null."""
    # A list has no such method, a struct around it has; its field is taken off: {"":...}.
    texts = series.alias("").to_frame().to_struct().struct.json_encode().str.slice(4)
    texts = texts.str.head(-1)
    return pl.select(pl.when(series.is_not_null()).then(texts)).to_series()


POSTGRES_TARGET = Target(
    "PostgreSQL",
    ("postgresql://", "postgres://"),
    open_postgres,
    extra="postgres",
    grants=True,
    refusals={
        "22021": "a text of the release holds a character that the database cannot hold, such as "
        "NUL; load it into DuckDB",
        "22P05": "a text of the release holds a character that the encoding of the database lacks; "
        "make a database with encoding UTF8",
        "2BP01": "a view of the database reads what would be replaced or removed; drop that view "
        "first, and make it again afterwards",
        "42501": _CLOSED,
        "42P07": "a table or view of that name is there already and is not crowdcover's, or not "
        "of this account; rename it, or name another schema or account",
        "42703": "the table crowdcover_releases of the schema is not crowdcover's; rename it, or "
        "name another schema",
        "42809": "what has the name of the view is no view; rename it, or name another schema",
        "54000": "the release has more columns, or longer cells, than a table can have there; "
        "load it into DuckDB",
        "54011": "the release has more columns than a table can have there; load it into DuckDB",
        "55P03": f"another load, or a reader of the view, held it for {_WAIT} s; run again later",
        "25006": "the database only reads; name the server that writes",
    },
)
