"""Names of the files and columns of a graph's release."""

import json

from storage.shelf import layout

KEY = layout.KEY
U, V, P = "u", "v", "p"
PARQUET = "edges.parquet"
CSV = "edges.csv.gz"
FILES = {"parquet": PARQUET, "csv": CSV}
CODEBOOK = "codebook.json"
_READING = (
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
    # The audit compares this text whole: another wording fails every release that has the old one.
    return json.dumps({"reading": _READING, "vertices": vertices})
