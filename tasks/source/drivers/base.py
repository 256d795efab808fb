"""The protocol of a database: how its addresses are written, and how a query is run there."""

from typing import ClassVar, Protocol

from tasks.source.database_types import Answer


class Database(Protocol):
    """A kind of database that sources may lie in.

    A new one is one file beside this one and an entry in `DATABASES`.

    Attributes
    ----------
    title : its name in messages.
    starts : of its addresses; the first is the one that messages name.
    extra, module : the extra of crowdcover with its driver, and the driver; empty where Python
        itself has it.
    ends : of the names of its files. What follows the start of an address is then a path; none
        where a server answers.
    common : whether `doctor` shows its driver without being asked.
    has_older_hash : whether form 1 of reading gives other rows to the fingerprint.
    """

    title: ClassVar[str]
    starts: ClassVar[tuple[str, ...]]
    extra: ClassVar[str] = ""
    module: ClassVar[str] = ""
    ends: ClassVar[tuple[str, ...]] = ()
    common: ClassVar[bool] = False
    has_older_hash: ClassVar[bool] = False

    def fetch(self, uri: str, statement: str, form: int) -> Answer:
        """Run one SELECT that sees one moment; drivers are imported here only."""
        ...
