"""Names of tables and columns in a database that takes fewer names than releases have."""

import hashlib
from collections.abc import Iterable, Sequence

from crowdcover.storage.targets.base import Session

_DIGITS = 8  # hexadecimal, of the hash of a name that had to be changed


def quote_name(name: str) -> str:
    """A name as SQL writes it, whatever signs it has."""
    return '"' + name.replace('"', '""') + '"'


def place_of_relation(schema: str, name: str) -> str:
    """A table or view of a schema as SQL writes it."""
    return f"{quote_name(schema)}.{quote_name(name)}"


def quote_text(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def name_relation(session: Session, *parts: str) -> str:
    """The name of a table or view of these parts, shortened where it is too long."""
    name = "_".join(filter(None, parts))
    return name if _fits(session, name) else _change_name(session, name)


def name_columns(session: Session, columns: Sequence[str]) -> list[str]:
    """The names that columns have in the database, each once.

    A name that the database cannot hold is shortened and gets a hash of the whole name. So does
    each of several names that differ in their case only, where they would be one.
    """
    folded = [fold_name(session, each) for each in columns]
    return [
        each
        if _fits(session, each) and folded.count(fold_name(session, each)) == 1
        else _change_name(session, each)
        for each in columns
    ]


def fold_name(session: Session, name: str) -> str:
    """What two names have in common that are one to the database."""
    return name.lower() if session.folds else name


def fold_names(session: Session, names: Iterable[str]) -> set[str]:
    """The same of several names."""
    return {fold_name(session, each) for each in names}


def _fits(session: Session, name: str) -> bool:
    long = session.longest is not None and len(name.encode()) > session.longest
    return not (long or "\0" in name or fold_name(session, name) in session.reserved)


def _change_name(session: Session, name: str) -> str:
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]
    kept = name.replace("\0", "").encode()
    if session.longest is not None:
        kept = kept[: session.longest - _DIGITS - 1]
    # A sign of several bytes may have been cut.
    return f"{kept.decode(errors='ignore')}_{digest}"
