"""Names of the files and columns of a matrix's release."""

from crowdcover.storage.shelf import layout

KEY = layout.KEY
ITEMS = "items"
PARQUET = "rows.parquet"
CSV = "rows.csv.gz"
FILES = {"parquet": PARQUET, "csv": CSV}
CODEBOOK = "codebook.json"
# A part of each codebook. The audit compares its text whole: another wording fails old releases.
READING = (
    "a row of the data files is a user: a random key, and the numbers of the user's items; "
    "number i stands for items[i], counted from 0"
)
# These are in the vault only.
RECORD, ITEM = "record", "item"  # columns of the entries
ENTRIES = "entries.parquet"  # ingest: the entries, records by number and items by name
DEMAND = "demand.npy"  # ingest: k of each record
MATRIX = "matrix.npz"  # encode: the sparse matrix
NAMES = "names.parquet"  # encode: name of each item, in order
MATCHING = "matching.parquet"  # anonymize: record -> key
ITEM_KEYS = "item-keys.parquet"  # anonymize: item -> key, where items are people
COUNTS = "counts.npz"  # check: exact counts and sizes of classes
BY_ROW = "rows_are_records"  # fact of ingest: each row of the source is a record
