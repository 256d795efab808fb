"""Released rows as files: the same rows give the same bytes."""

import polars as pl

from kinds.rows import write_csv, write_parquet

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
