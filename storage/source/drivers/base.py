"""A kind of database: how its addresses are written, and how a query is run there."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from crowdcover.storage.source.database_types import ColumnTypes, Take
from crowdcover.storage.source.sources import require_file


class Database(NamedTuple):
    """A kind of database that sources may lie in.

    A new one is one file beside this one and an entry in `DATABASES`.

    Attributes
    ----------
    title : its name in messages.
    starts : of its addresses; messages name the first.
    fetch : runs one SELECT that sees one moment, by address, statement and form of reading, and
        gives the rows to its last argument. It imports its driver when it is called.
    extra, module : the extra of crowdcover that has the driver, and the driver.
    ends : of the names of its files. What follows the start of an address is then a path; none
        where a server answers.
    common : whether `doctor` shows its driver without a plan.
    has_older_hash : whether older versions, whose form of reading is 1, hashed its rows otherwise.
    """

    title: str
    starts: tuple[str, ...]
    fetch: Callable[[str, str, int, Take], ColumnTypes]
    extra: str = ""
    module: str = ""
    ends: tuple[str, ...] = ()
    common: bool = False
    has_older_hash: bool = False


def require_database_file(uri: str) -> Path:
    """The path of a database file by its address; refused where there is none."""
    path = Path(uri.partition(":///")[2]).absolute()
    require_file(path, "source.uri")
    return path


def take_batches(batches: Any, take: Take) -> None:
    """Give the rows of a driver's Arrow reader away, batch by batch."""
    # First no rows: a query that selects none has types, too.
    take(pl.DataFrame(batches.schema.empty_table()))
    for batch in batches:
        take(pl.DataFrame(batch))
