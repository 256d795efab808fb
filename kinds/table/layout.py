"""Names of the files and columns of a table's release, and which columns it shows."""

from crowdcover.kinds.columns import Column
from crowdcover.storage.shelf import layout

PARQUET = "data.parquet"
CSV = "data.csv.gz"
FILES = {"parquet": PARQUET, "csv": CSV}
CODEBOOK = "codebook.json"
NODES = "nodes.csv"  # of plans with hierarchies: which values lie below which node
NODE_COLUMNS = ("column", "level", "node", "value")
KEY = layout.KEY
CARRIED = ("sensitive", "keep")  # roles of columns that are published as they are
RANKED = ("numeric", "date")  # kinds of columns whose values have ranks
# These are in the vault only.
TABLE = "table.parquet"  # ingest: the columns that may be released
DEMAND = "demand.parquet"  # ingest: the column that k is read from
PERSON_NUMBERS = "person.npy"  # ingest: number of the person of each source row
WEIGHTS = "weights.json"  # ingest: of the quasi-identifiers, where the plan has them learnt
LEARNT_FROM = "learnt_from.npy"  # ingest: which source rows are learnt from and not released
BITS = "bits.npz"  # binarize: the encoded records
CELLS = "cells.parquet"  # anonymize: the rows, cells as text and carried columns typed
MATCHING = "matching.parquet"  # anonymize: record -> key
LAW = "law.parquet"  # anonymize: key -> records that hold the row's shares
CROWDS = "crowds.npz"  # check: demanded and achieved crowds


def list_released_columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the columns that a release shows, in the plan's order.

    These are quasi-identifiers, sensitive attributes and kept columns.
    """
    return tuple(column for column in columns if column.role == "quasi" or column.role in CARRIED)
