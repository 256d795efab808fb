"""What a query selects in DuckDB."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from anon_core.errors import InputError
from crowdcover.storage.source.database_types import ColumnTypes, Take, build_type_refusal
from crowdcover.storage.source.drivers.base import Database, require_database_file

ONE_SELECT = "source.query is not one SELECT, and a source is only read; give one SELECT"
IN_UTC = "set global TimeZone = 'UTC'"  # else the machine's zone decides days and fingerprint
# DuckDB loads nothing from the network, and spills no cells into a folder beside the database.
QUIET_DUCKDB: dict[str, Any] = {"autoinstall_known_extensions": "false", "temp_directory": ""}
WHOLE_DUCKDB = {
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "DECIMAL", "VARCHAR", "UUID", "JSON", "ENUM"),
    *("DATE", "TIME", "TIME_NS", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
    *("TIMESTAMP WITH TIME ZONE", "BLOB", '"NULL"'),
}
NESTED = ("STRUCT(", "MAP(")
UNREAD = ("INTERVAL", "UNION(")  # no frame takes them


def fetch_from_duckdb(uri: str, statement: str, form: int, take: Take) -> ColumnTypes:
    """The rows of one SELECT, of a file opened to read only; refused: types that no frame takes."""
    path = require_database_file(uri)
    import duckdb

    with duckdb.connect(str(path), read_only=True, config=QUIET_DUCKDB) as connection:
        if [each.type.name for each in connection.extract_statements(statement)] != ["SELECT"]:
            raise InputError(ONE_SELECT)  # copy and attach would write elsewhere
        # In form 1 the zone of the machine decides, as when standing releases were read.
        if form > 1:
            connection.execute(IN_UTC)
        relation = connection.sql(statement)
        types = _name_types(relation.columns, [str(of) for of in relation.types])
        if lost := {name: of for name, of in types.items() if of.startswith(UNREAD)}:
            raise build_type_refusal(lost)
        try:
            frame = pl.DataFrame(relation)
        except pl.exceptions.ComputeError:  # of polars, where it has no type for a column
            pass
        else:
            take(frame)
            return ColumnTypes(types)
    raise build_type_refusal(types)


def _name_types(names: Sequence[str], types: Sequence[str]) -> dict[str, str]:
    """Types that DuckDB gives otherwise than it holds them."""
    return {
        name: of
        for name, of in zip(names, types, strict=True)
        if of == "HUGEINT"
        or not (of.partition("(")[0] in WHOLE_DUCKDB or of.endswith("]") or of.startswith(NESTED))
    }


DUCKDB = Database(
    "DuckDB",
    ("duckdb:///",),
    fetch_from_duckdb,
    extra="duckdb",
    module="duckdb",
    ends=(".duckdb",),
    common=True,
    has_older_hash=True,
)
