"""Copies of a release of a matrix that tests damage."""

import shutil

import polars as pl

from crowdcover.kinds.matrix.kind import KIND
from crowdcover.kinds.matrix.pipeline.rows import flatten_rows
from crowdcover.kinds.rows import write_csv
from crowdcover.storage.source.reading import Reading
from tests.contract.runs import Runs


class Copy:
    """The files of a release and its row map, to be changed and judged."""

    def __init__(self, order, folder):
        self.order, self.folder = order, folder
        release = order.folder / "releases" / "likes" / "v1"
        for name in ("rows.parquet", "rows.csv.gz", "codebook.json"):
            shutil.copy(release / name, folder)
        shutil.copy(order.secrets / "matching.parquet", folder)
        self.rows = pl.read_parquet(folder / "rows.parquet")
        self.seats = pl.read_parquet(folder / "matching.parquet").sort("record")

    def write(self, rows):
        rows.write_parquet(self.folder / "rows.parquet")
        write_csv(flatten_rows(rows), self.folder / "rows.csv.gz")

    def move(self, keys):
        self.seats.with_columns(key=pl.Series(keys)).write_parquet(self.folder / "matching.parquet")

    def broken(self, formats=("parquet", "csv")):
        data = self.order.data
        audit = KIND.judge(
            data, Runs.promise, formats, Reading(data.source), self.folder, self.folder
        )
        return {finding.guarantee for finding in audit.broken}
