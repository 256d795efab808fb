"""How many people have records at some places, for the audit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def list_people(
    place: NDArray[np.integer[Any]], number: int, persons: NDArray[np.integer[Any]]
) -> list[NDArray[np.integer[Any]]]:
    """The people of the records at each of so many places; a person may be listed twice."""
    ends = np.cumsum(np.bincount(place, minlength=number))
    return np.split(persons[np.argsort(place, kind="stable")], ends[:-1])


def count_people(
    place: NDArray[np.integer[Any]], number: int, persons: NDArray[np.integer[Any]] | None
) -> NDArray[np.int64]:
    """How many people have records at each of so many places; by default a record is a person."""
    if persons is not None:
        # Each pair of place and person once, as one number.
        place = np.unique(persons.astype(np.int64) * number + place) % number
    return np.bincount(place, minlength=number)


def list_holders(
    texts: Sequence[str | None],
    place: NDArray[np.integer[Any]],
    persons: NDArray[np.integer[Any]] | None,
) -> dict[str | None, NDArray[np.integer[Any]]]:
    """The people of each text, `place` int (n,) of each record; a person may be listed twice."""
    who = np.arange(len(place)) if persons is None else persons
    return dict(zip(texts, list_people(place, len(texts), who), strict=True))
