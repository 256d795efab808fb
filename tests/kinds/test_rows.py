"""Released rows as files: the same rows give the same bytes."""

import numpy as np
import polars as pl
import pytest

from crowdcover.kinds import rows as module
from crowdcover.kinds.rows import (
    cut_evenly,
    write_csv,
    write_csv_of_batches,
    write_parquet,
    write_parquet_of_batches,
)

ROWS = pl.DataFrame(
    {"key": [f"{n:016x}" for n in range(3000)], "age": [n % 7 for n in range(3000)]}
)


def test_bytes_do_not_depend_on_where_rows_lie_in_memory(tmp_path):
    """Threads decide into how many pieces a sort or a join puts them."""
    for name, write in (("a.parquet", write_parquet), ("a.csv.gz", write_csv)):
        written = set()
        for part in (1, 700, 3000):
            pieces = pl.concat(ROWS.iter_slices(part), rechunk=False)
            write(pieces, tmp_path / name)
            written.add((tmp_path / name).read_bytes())
        assert len(written) == 1


@pytest.mark.long
@pytest.mark.parametrize("records", [0, 1, 2**17, 2**17 + 1, 300_000])
def test_batches_make_the_bytes_of_the_whole(tmp_path, records):
    """Also where polars cuts a whole frame into several row groups."""
    number = np.random.default_rng(1).integers(0, 2**40, records)
    known = {"lo": number % 97, "hi": number % 89}
    whole = pl.DataFrame(
        {
            "key": pl.Series(number, dtype=pl.Int64).cast(pl.String),
            "cell": pl.Series(["a", None, "a text of more than twelve bytes"])[number % 3],
            "span": pl.DataFrame(known).to_struct(),
        }
    )
    write_parquet(whole, tmp_path / "whole.parquet")
    write_parquet_of_batches(whole.__getitem__, records, tmp_path / "cut.parquet")
    assert (tmp_path / "cut.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    write_csv(whole.drop("span"), tmp_path / "whole.csv.gz")
    batches = (whole[rows].drop("span") for rows in cut_evenly(records))
    write_csv_of_batches(batches, tmp_path / "cut.csv.gz")
    assert (tmp_path / "cut.csv.gz").read_bytes() == (tmp_path / "whole.csv.gz").read_bytes()


def test_rows_are_cut_into_ranges_whose_sizes_differ_by_one(monkeypatch):
    monkeypatch.setattr(module, "GROUP", 10)
    assert list(cut_evenly(0)) == [slice(0, 0)]
    assert list(cut_evenly(10)) == [slice(0, 10)]
    assert list(cut_evenly(32)) == [slice(0, 8), slice(8, 16), slice(16, 24), slice(24, 32)]
    assert list(cut_evenly(23)) == [slice(0, 8), slice(8, 16), slice(16, 23)]
