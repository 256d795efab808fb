"""What a query selects in PostgreSQL, by its ADBC driver."""

import os
from contextlib import closing
from typing import Any

from anon_core.errors import InputError
from crowdcover.storage.source.database_types import ColumnTypes, Take, build_type_refusal
from crowdcover.storage.source.drivers.base import Database, take_batches
from crowdcover.storage.source.values import DECIMAL_DIGITS

REPEATABLE_READ = "set transaction isolation level repeatable read, read only"
MONEY = "select 1::numeric::money"  # in the smallest unit, which a setting of the database decides


def fetch_from_postgres(uri: str, statement: str, _form: int, take: Take) -> ColumnTypes:
    """One transaction that sees one moment, whatever the driver asks beside the query."""
    from adbc_driver_postgresql import dbapi

    if "PGTZ" in os.environ:
        raise InputError(
            "PGTZ is set, so days and texts that source.query makes of a timestamptz depend on "
            "this machine; unset it, and write `at time zone` in source.query where it matters"
        )
    with closing(dbapi.connect(uri)) as connection, closing(connection.cursor()) as cursor:
        # First: PostgreSQL refuses to change the level after a query of the transaction.
        cursor.execute(REPEATABLE_READ)
        cursor.execute(statement)
        batches = cursor.fetch_record_batch()
        types, scales = _read_types(batches.schema)
        take_batches(batches, take)
        if "money" in types.values():
            cursor.execute(MONEY)
            # One unit in its smallest parts: 100 where money has two digits behind the point.
            digits = len(str(cursor.fetchone()[0])) - 1
            scales |= {name: digits for name, of in types.items() if of == "money"}
        return ColumnTypes(types, scales)


def _read_types(schema: Any) -> tuple[dict[str, str], dict[str, int]]:
    """Types and scales of a query's columns, from the driver's Arrow schema.

    Refused by name: types that no column of this program can hold.
    """
    types, scales = {}, {}
    for column in schema:
        about = column.metadata or {}
        of = about.get(b"POSTGRESQL:type", b"").decode()
        if of in ("interval", "record"):
            raise build_type_refusal({column.name: of})
        if of in ("money", "oid", "uuid", "numeric"):
            types[column.name] = of
            scale = _scale_of(int(about.get(b"POSTGRESQL:typmod", -1)))
            if of == "numeric" and scale is not None:
                scales[column.name] = scale
        elif b"ADBC:postgresql:typname" in about:  # bytes that the driver does not understand
            types[column.name] = "unknown to its driver" if of.startswith("unn") else of
    return types, scales


def _scale_of(typmod: int) -> int | None:
    """The scale of numeric(p, s); None where the column states none, or too many digits."""
    if typmod < 4:
        return None
    # typmod = (precision << 16 | scale & 0x7FF) + 4; the scale has 11 bits, with a sign.
    precision, scale = (typmod - 4) >> 16 & 0xFFFF, ((typmod - 4 & 0x7FF) ^ 1024) - 1024
    return (
        # A negative scale adds zeros before the point: numeric(3, -2) has five digits.
        max(scale, 0)
        if precision - min(scale, 0) <= DECIMAL_DIGITS and scale <= precision
        else None
    )


POSTGRES = Database(
    "PostgreSQL",
    ("postgresql://", "postgres://"),
    fetch_from_postgres,
    extra="postgres",
    module="adbc_driver_postgresql",
    common=True,
)
