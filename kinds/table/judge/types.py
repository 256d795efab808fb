"""The types of the columns of data.parquet."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from kinds.judge.audit import Finding
from kinds.table.layout import FILES

_TYPES = "types of the columns"
_FORMAT = "parquet"


def of_types(folder: Path, formats: Sequence[str], typed: Mapping[str, pl.DataType]) -> Finding:
    """Whether the columns of data.parquet have these types."""
    wrong = 0
    if _FORMAT in formats:
        found = pl.scan_parquet(folder / FILES[_FORMAT], glob=False).collect_schema()
        wrong = sum(found.get(name) != dtype for name, dtype in typed.items())
    return Finding(_TYPES, wrong == 0, f"{wrong} of {len(typed)} columns have another type")
