"""Names of files and columns of a release, and which columns it shows."""

from kinds.table.columns import Column

PARQUET = "data.parquet"
CSV = "data.csv.gz"
FILES = {"parquet": PARQUET, "csv": CSV}
CODEBOOK = "codebook.json"
MANIFEST = "manifest.json"
REPORT = "report.html"
MATCHING = "matching.parquet"  # record -> key; in the vault only, as these:
TABLE = "table.parquet"  # what ingest has read
BITS = "bits.npz"  # what binarize made of it
KEY = "key"
CARRIED = ("sensitive", "keep")


def released_columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns that a release shows: quasi-identifiers, sensitive and kept ones, in the plan's order."""
    return tuple(column for column in columns if column.role == "quasi" or column.role in CARRIED)
