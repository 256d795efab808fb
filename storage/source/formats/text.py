"""CSV text: fields between separators, all of them texts."""

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from crowdcover.storage.source.csv_rows import first_rows, read_csv
from crowdcover.storage.source.file_bytes import File
from crowdcover.storage.source.formats.base import Dialect, Format


class Csv(Format):
    """Rows of CSV text; what is no other format is taken for it."""

    name: ClassVar[str] = "csv"
    ends: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".txt")
    options: ClassVar[frozenset[str]] = frozenset({"header", "separator", "comment"})

    def first_rows(self, file: File, dialect: Dialect, number: int) -> list[list[str]] | None:
        """The fields of the first rows."""
        return first_rows(file, dialect.separator, number, dialect.comment)

    def columns(
        self, file: File, dialect: Dialect, width: int, places: Sequence[int]
    ) -> pl.DataFrame:
        """Columns of texts."""
        # Places as names: the file may have none.
        names = [str(place) for place in range(width)]
        needed = [names[place] for place in places]
        return read_csv(file, dialect.separator, dialect.header, names, needed, dialect.comment)
