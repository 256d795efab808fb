"""A small private graph, a plan for it, and what a run of it left behind."""

import random
from typing import ClassVar

from tests.kinds.orders import KindOrder, manifest

__all__ = ["GraphOrder", "edges", "manifest"]

VERTICES = 40


def name(number):
    return f"Pnode{number:03d}Q"


def edges(vertices=VERTICES, draws=3, first=0, degree=4):
    """Edges between named vertices, each once, and how likely they are; none is lonely."""
    chance = random.Random(draws)
    pairs = {(i, (i + 1) % vertices) for i in range(vertices)}
    while len(pairs) < degree * vertices // 2:
        i, j = chance.sample(range(vertices), 2)
        if (j, i) not in pairs:
            pairs.add((i, j))
    rows = [
        (name(first + i), name(first + j), f"0.{chance.randrange(1, 10**6):06d}")
        for i, j in sorted(pairs)
    ]
    chance.shuffle(rows)
    return rows


class GraphOrder(KindOrder):
    """A folder with links.csv and links.toml, and the runs that are made of them."""

    name = "links"
    header: ClassVar = ["u", "v", "p"]
    sections: ClassVar = {
        "source": {"kind": "graph", "path": "links.csv"},
        "columns": {"u": "u", "v": "v", "p": "p"},
        "privacy": {"k": 20},
    }

    def __init__(self, folder, rows=None, **sections):
        super().__init__(folder, edges() if rows is None else rows, **sections)
