"""CSV text: fields between separators, all of them texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import polars as pl

from storage.source.csv_rows import Content, first_rows, read_csv
from storage.source.formats.base import Dialect


class Csv:
    """Rows of CSV text; what is no other format is taken for it."""

    name: ClassVar[str] = "csv"
    ends: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".txt")
    headed: ClassVar[bool] = True

    def fits(self, head: bytes) -> bool:  # noqa: ARG002
        """Any file: what is no text is refused when its rows are read."""
        return True

    def first_rows(
        self, file: Path | Content, dialect: Dialect, number: int
    ) -> list[list[str]] | None:
        """The fields of the first rows."""
        return first_rows(file, dialect.separator, number, dialect.comment)

    def names(self, file: Path | Content, dialect: Dialect) -> list[str] | int:
        """The fields of the first row, or their number."""
        first = first_rows(file, dialect.separator, 1, dialect.comment)
        if not first:
            return []
        return first[0] if dialect.header else len(first[0])

    def columns(
        self, file: Path | Content, dialect: Dialect, width: int, places: Sequence[int]
    ) -> pl.DataFrame:
        """Columns of texts."""
        names = [str(place) for place in range(width)]
        needed = [names[place] for place in places]
        return read_csv(
            file, dialect.separator, dialect.header, names, needed, dialect.comment
        ).select(needed)
