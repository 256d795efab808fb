"""The rows of a stored table that stay, read in parts."""

import numpy as np
import polars as pl
import pytest

from crowdcover.kinds.table.pipeline import people


@pytest.mark.parametrize("rows", [[], [0], [0, 1, 2, 3, 4, 5, 6], [1, 6], [4, 5]])
def test_rows_are_read_in_parts_and_in_order(monkeypatch, tmp_path, rows):
    table = pl.DataFrame({"a": range(7), "b": [*"abcdef", None]})
    table.write_parquet(tmp_path / "table.parquet", row_group_size=4)
    monkeypatch.setattr(people, "ROWS_AT_ONCE", 3)
    parts = list(people._read_rows(tmp_path / "table.parquet", np.array(rows, dtype=np.int64)))
    assert all(part.height <= 3 for part in parts)
    assert pl.concat([table[:0], *parts]).equals(table[rows])
