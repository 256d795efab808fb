"""A small private matrix, a plan for it, and what a run of it left behind."""

import random
from typing import ClassVar

from tests.kinds.orders import KindOrder, manifest

__all__ = ["MatrixOrder", "entries", "manifest"]


def entries(users=60, draws=3, first=0):
    """Pairs of a user and an item in five tastes; some users hold nothing."""
    chance = random.Random(draws)
    pairs = []
    for number in range(first, first + users):
        user = f"Pperson{number:03d}Q"
        held = [f"Pitem{6 * (number % 5) + i}Q" for i in range(8) if chance.random() < 0.6]
        pairs += [(user, item) for item in held] if number % 9 else [(user, "")]
    chance.shuffle(pairs)
    return pairs


class MatrixOrder(KindOrder):
    """A folder with likes.csv and likes.toml, and the runs that are made of them."""

    name = "likes"
    header: ClassVar = ["user", "item"]
    sections: ClassVar = {
        "source": {"kind": "matrix", "path": "likes.csv"},
        "columns": {"user": "user", "item": "item"},
        "privacy": {"k": 5},
    }

    def __init__(self, folder, pairs=None, **sections):
        super().__init__(folder, entries() if pairs is None else pairs, **sections)
