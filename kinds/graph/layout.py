"""Names of the files and columns of a graph's release."""

import json
from collections.abc import Sequence

from crowdcover.storage.shelf import layout

KEY = layout.KEY
U, V, P = "u", "v", "p"
PARQUET = "edges.parquet"
CSV = "edges.csv.gz"
FILES = {"parquet": PARQUET, "csv": CSV}
CODEBOOK = "codebook.json"
_READING = (
    "a row of the data files is an edge: u and v are the random keys of its ends, the lesser key "
    "first, and p is the probability that the edge exists, a fraction with up to six digits such "
    "as 0.25; edges that are not listed have probability 0; there are `vertices` vertices, those "
    "without an edge included"
)
# What 0.1.0 wrote. Its files held fractions, too: a reader may have divided by a million.
_EARLIER_READING = (
    "a row of the data files is an edge: u and v are the random keys of its ends, the lesser key "
    "first, and p is the probability that the edge exists, in millionths; edges that are not "
    "listed have probability 0; there are `vertices` vertices, those without an edge included"
)
# These are in the vault only.
RECORD = "record"  # number of a vertex
EDGES = "edges.npz"  # ingest: the edges, vertices by number
DEMAND = "demand.npy"  # ingest: k of each vertex
GRAPH = "graph.npz"  # encode: the uncertain graph
MATCHING = "matching.parquet"  # anonymize: record -> key
MEASURED = "measured.npz"  # check: what pictures need


def format_codebook(vertices: int) -> str:
    """The text of the codebook."""
    # The audit compares this text whole. Another wording has to keep the old one below.
    return list_codebook_forms(vertices)[0]


def list_codebook_forms(vertices: int) -> Sequence[str]:
    """All texts that the codebook of a release may have, the one of today first."""
    readings = (_READING, _EARLIER_READING)
    return [json.dumps({"reading": reading, "vertices": vertices}) for reading in readings]
