"""The people of a run as the ledger's database holds them: values that are not too long for it."""

import re
from collections.abc import Iterator

from crowdcover.storage.ledger.digests import AS_SPELT, People
from crowdcover.storage.ledger.transaction import Ask

# SQLite takes values of 10^9 bytes, PostgreSQL of 2^30, and its driver holds one several times.
MOST_BYTES = 2**28
_FURTHER = "part {} of "  # before the kind of digests that go on; no kind begins so
_NAME = re.compile(r"(?:part (\d+) of )?(.*)", re.DOTALL)


def enter_people(ask: Ask, run: str, people: People) -> None:
    """Put the digests of people in the place of those that a run has."""
    ask("delete from people where run = $1", run)
    for kind in people.digests:
        if kind.startswith(AS_SPELT):  # nobody compares with these
            continue
        for name, part in _cut_digests(kind, people.sort_digests(kind)):
            repeated = int(kind in people.repeated)
            ask("insert into people values ($1, $2, $3, $4)", run, name, repeated, part)


def select_people(ask: Ask, run: str) -> People:
    """The people of a run; their number is not read."""
    parts: dict[str, dict[int, bytes]] = {}
    repeated: set[str] = set()
    for name, often, part in ask("select kind, repeated, persons from people where run = $1", run):
        number, kind = _NAME.fullmatch(name).groups()  # type: ignore[union-attr] # it fits all
        parts.setdefault(kind, {})[int(number or 1)] = part
        if often:
            repeated.add(kind)
    digests = {kind: b"".join(of[at] for at in sorted(of)) for kind, of in parts.items()}
    return People(0, digests, frozenset(repeated))


def _cut_digests(kind: str, digests: bytes) -> Iterator[tuple[str, bytes]]:
    for part, first in enumerate(range(0, max(1, len(digests)), MOST_BYTES), start=1):
        further = _FURTHER.format(part) if part > 1 else ""
        yield further + kind, digests[first : first + MOST_BYTES]
