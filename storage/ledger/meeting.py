"""Other releases in the ledger, and whether people may be in two: nearly all others are not."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcover.storage.ledger.digests import People
from crowdcover.storage.ledger.entered import select_people
from crowdcover.storage.ledger.transaction import Ask

_NOTHING = np.empty(0, dtype=np.uint64)
_AT_ONCE, _MOST_PEOPLE = 64, 1_000_000  # runs, and their people, that one transaction reads


def select_other_releases(
    ask: Ask, seal: str, kin: frozenset[str]
) -> dict[str, list[tuple[Any, ...]]]:
    """Return the releases of other runs: run -> (name, version, source, records) of each."""
    rows = ask(
        "select run, name, version, source, records from releases where run <> $1 "
        "order by at, run, folder",
        seal,
    )
    found: dict[str, list[tuple[Any, ...]]] = {}
    for run, *release in rows:
        if run not in kin:
            found.setdefault(run, []).append(tuple(release))
    return found


def select_people_of(ask: Ask, runs: Sequence[str]) -> dict[str, People]:
    """The people of each run; their number is not read."""
    return {run: select_people(ask, run) for run in runs}


def cut_parts(records: Mapping[str, int]) -> list[list[str]]:
    """Runs in parts of so few people that a part needs no more memory than a large release."""
    parts: list[list[str]] = []
    people = 0
    for run, number in records.items():
        if not parts or people + number > _MOST_PEOPLE or len(parts[-1]) == _AT_ONCE:
            parts.append([])
            people = 0
        parts[-1].append(run)
        people += number
    return parts


def sort_words(people: People) -> NDArray[np.uint64]:
    """The first half of each digest of some people, of all kinds, in order."""
    words = _join_words([people])
    words.sort()
    return words


def may_meet(words: NDArray[np.uint64], others: Iterable[People]) -> bool:
    """Whether any of others may be among those of `sort_words`; if not, nobody is."""
    theirs = _join_words(others)
    place = np.minimum(np.searchsorted(words, theirs), max(0, len(words) - 1))
    return bool(len(words) and (words[place] == theirs).any())


def _join_words(of: Iterable[People]) -> NDArray[np.uint64]:
    # Copied: a view would keep the digests.
    halves = [
        np.frombuffer(one.digests[kind], "<u8")[::2].copy() for one in of for kind in one.digests
    ]
    return np.concatenate([_NOTHING, *halves])
