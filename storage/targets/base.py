"""A kind of target: how its addresses are written, and what one transaction with it can do."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

import polars as pl

from anon_core.errors import AnonymityError

CONVERTED_ROWS = 2**16  # rows that are converted at a time


class TargetError(AnonymityError):
    """A database does not take a release, or does not answer."""


class Session(Protocol):
    """One transaction: all of it is written when it ends, or nothing.

    Attributes
    ----------
    longest : bytes of a name at most; None without a limit.
    folds : whether names that differ in their case only are one name.
    reserved : names that no column may have.
    """

    longest: int | None
    folds: bool
    reserved: frozenset[str]

    def ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement with $1, $2, ... and their values; the rows of a select."""
        ...

    def require_storable(self, rows: pl.LazyFrame) -> None:
        """Refuse, by name, columns with values that the database would round."""
        ...

    def write(self, schema: str, table: str, rows: pl.LazyFrame, names: Sequence[str]) -> None:
        """Make a table of these rows, batch by batch; `names` are those of its columns."""
        ...

    def point_view(self, schema: str, view: str, table: str, *, exists: bool) -> None:
        """Let a view show a table; it is replaced where it exists."""
        ...

    def list_missing_roles(self, roles: Sequence[str]) -> list[str]:
        """Those of these roles that do not exist."""
        ...

    def grant(self, schema: str, relations: Sequence[str], roles: Sequence[str]) -> None:
        """Let roles read tables and views; refused where that has no effect."""
        ...


class Target(NamedTuple):
    """A kind of database that releases can be loaded into.

    Attributes
    ----------
    title : its name in messages.
    starts : of its addresses; messages name the first.
    open : begins a transaction at an address and commits it at the end. It imports its driver
        when it is called.
    extra : the extra of crowdcover that has the driver.
    grants : whether it has roles.
    refusals : by SQLSTATE or by class of a driver's error, what to do about it.
    """

    title: str
    starts: tuple[str, ...]
    open: Callable[[str], AbstractContextManager[Session]]
    extra: str
    grants: bool
    refusals: Mapping[str, str]
