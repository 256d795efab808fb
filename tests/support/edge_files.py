"""One graph, as files of edges state it."""

import numpy as np
import pytest

EDGES = [(3, 7), (3, 11), (7, 11), (11, 20)]
SNAP = "# Directed graph: x.txt \r\n# FromNodeId\tToNodeId\r\n"


def join_edges(separator, end="\n", first=""):
    return first + "".join(f"{u}{separator}{v}{end}" for u, v in EDGES)


def list_numbered(edges):
    assert edges.u.dtype == edges.v.dtype == np.int32
    return list(zip(edges.u.tolist(), edges.v.tolist(), strict=True))


FORMS = pytest.mark.parametrize(
    "content",
    [
        join_edges(","),
        join_edges(",", first="u,v\n"),
        join_edges(",", first="friend,other\n"),
        join_edges("\t", "\r\n", SNAP),
        join_edges(" "),
        join_edges("   "),
        join_edges(" \t "),
        join_edges(" ", " \n", "\n% of another format\n# and more\n\n"),
        join_edges(" ", " 17 4 1\n"),
        join_edges(",", ",x,y\n", "source,target,weight,date\n"),
        join_edges(",", "\n", "\ufeff"),
    ],
)
