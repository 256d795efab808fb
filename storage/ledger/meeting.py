"""Whether people may be in two releases: nearly all others are told apart at once."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from crowdcover.storage.ledger.digests import People

_NOTHING = np.empty(0, dtype=np.uint64)


def sort_words(people: People) -> NDArray[np.uint64]:
    """The first half of each digest of some people, of all kinds, in order."""
    return np.sort(_join_words([people]))


def may_meet(words: NDArray[np.uint64], others: Iterable[People]) -> bool:
    """Whether any of others may be among those of `sort_words`; if not, nobody is."""
    theirs = _join_words(others)
    place = np.minimum(np.searchsorted(words, theirs), max(0, len(words) - 1))
    return bool(len(words) and (words[place] == theirs).any())


def _join_words(of: Iterable[People]) -> NDArray[np.uint64]:
    halves = [np.frombuffer(one.digests[kind], "<u8")[::2] for one in of for kind in one.digests]
    return np.concatenate([_NOTHING, *halves])
