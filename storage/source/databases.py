"""What a query selects, by the driver of its database."""

import polars as pl

from anon_core.errors import InputError
from crowdcover.storage.places.outages import ask_again
from crowdcover.storage.source.answers import OF_SOURCE, kind_of, what_to_do
from crowdcover.storage.source.column_names import require_distinct_names
from crowdcover.storage.source.database_types import UNREADABLE_TYPE, ColumnTypes
from crowdcover.storage.source.drivers import database_of
from crowdcover.storage.source.drivers.base import Database
from crowdcover.storage.source.panics import silence_panics
from crowdcover.storage.source.snapshot.packed_rows import PackedRows
from crowdcover.storage.source.snapshot.row_order import sort_rows
from crowdcover.storage.source.values import FORM, call_or_refuse, unwrap_extension


def query_database(uri: str, statement: str, form: int = FORM) -> PackedRows:
    """Run a query once; return its rows, with the hash of their content as fingerprint.

    Rows are in the order of their texts: the order in which a database answers decides nothing. The
    hash is the same for any order of rows and columns. In form 1 the columns are as drivers give
    them.
    """
    database = database_of(uri)
    assert database is not None, "plans with other addresses are refused"
    try:
        with silence_panics():
            rows = ask_again("the source", lambda: _fetch_rows(database, uri, statement, form))
    except InputError:
        raise
    except ImportError:
        words = (
            f"reading {database.title} needs the driver: pip install 'crowdcover[{database.extra}]'"
        )
    except pl.exceptions.PanicException:
        words = UNREADABLE_TYPE
    except Exception as error:
        # Drivers quote the URI, the query and cells: only what kind of error it is is named.
        words = (
            f"the database did not answer source.query ({kind_of(error)}); "
            f"{what_to_do(error, OF_SOURCE)}"
        )
    else:
        # The hash is of what drivers give, before types are restored: it names the runs of vaults.
        return sort_rows(rows)
    raise InputError(words)


def _fetch_rows(database: Database, uri: str, statement: str, form: int) -> PackedRows:
    """What a query selects, packed while it comes."""
    rows, stated = PackedRows(), dict[str, str]()

    def take_frame(frame: pl.DataFrame) -> None:
        names = require_distinct_names(frame.columns)
        stated.update(zip(frame.columns, names, strict=True))
        plain = {name: unwrap_extension(series) for name, series in zip(names, frame, strict=True)}
        call_or_refuse(lambda: rows.pack_frame(pl.DataFrame(plain)), UNREADABLE_TYPE)

    found = database.fetch(uri, statement, form, take_frame)
    if form > 1:
        types = {stated[name]: of for name, of in found.types.items()}
        scales = {stated[name]: digits for name, digits in found.scales.items()}
        rows.types = ColumnTypes(types, scales)
    return rows
