"""The people of a run as the ledger's database holds them: values that are not too long for it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from crowdcover.storage.ledger.digests import AS_SPELT, People
from crowdcover.storage.ledger.transaction import Ask

# SQLite takes values of 10^9 bytes, PostgreSQL of 2^30, and its driver holds one several times.
MOST_BYTES = 2**28
SCHEMA, SCHEMA_WITH_PARTS = "1", "2"
_PART = "part "
_FURTHER = _PART + "{} of "  # before the kind of digests that go on; no kind begins so
_NAME = re.compile(r"(?:part (\d+) of )?(.*)", re.DOTALL)


class Entry(NamedTuple):
    """One value of the database: digests of one kind, or a part of them."""

    name: str
    repeated: int
    digests: bytes


class Entries(NamedTuple):
    """Some people as they are entered: their number, and their digests, sorted."""

    records: int
    values: list[Entry]


def list_entries(people: People) -> Entries:
    """Sort the digests of people and cut them into values; of many it takes too long for a lock."""
    values = [
        Entry(name, int(kind in people.repeated), part)
        for kind in people.digests
        if not kind.startswith(AS_SPELT)  # nobody compares with these
        for name, part in _cut_digests(kind, people.sort_digests(kind))
    ]
    return Entries(people.records, values)


def enter_people(ask: Ask, run: str, entries: Entries) -> None:
    """Put the digests of people in the place of those that a run has."""
    ask("delete from people where run = $1", run)
    for entry in entries.values:
        ask("insert into people values ($1, $2, $3, $4)", run, *entry)
    if any(entry.name.startswith(_PART) for entry in entries.values):
        # Builds that know no parts would take such people for others, and release them again.
        ask("update about set value = $1 where name = 'schema'", SCHEMA_WITH_PARTS)


def select_people(ask: Ask, run: str) -> People:
    """The people of a run; their number is not read."""
    parts: dict[str, dict[int, bytes]] = {}
    repeated: set[str] = set()
    for name, often in ask("select kind, repeated from people where run = $1", run):
        number, kind = _NAME.fullmatch(name).groups()  # type: ignore[union-attr] # it fits all
        # One by one: PostgreSQL's driver reads no answer of 2^31 bytes.
        ((part,),) = ask("select persons from people where run = $1 and kind = $2", run, name)
        parts.setdefault(kind, {})[int(number or 1)] = part
        if often:
            repeated.add(kind)
    # Taken out one by one: joined, they would be held twice.
    digests = {kind: _join_parts(parts.pop(kind)) for kind in list(parts)}
    return People(0, digests, frozenset(repeated))


def _join_parts(parts: dict[int, bytes]) -> bytes:
    return parts[1] if len(parts) == 1 else b"".join(parts[at] for at in sorted(parts))


def _cut_digests(kind: str, digests: bytes) -> Iterator[tuple[str, bytes]]:
    for part, first in enumerate(range(0, max(1, len(digests)), MOST_BYTES), start=1):
        further = _FURTHER.format(part) if part > 1 else ""
        yield further + kind, digests[first : first + MOST_BYTES]
