"""What is judged: the files of a folder, or rows in memory; and what the vault claims of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from crowdcover.kinds.judge.audit import Finding
from crowdcover.kinds.judge.files import read_matching, read_rows
from crowdcover.kinds.table.judge.as_text import Reader, show_as_text
from crowdcover.kinds.table.judge.codebook import read_codebook
from crowdcover.kinds.table.judge.nodes import nodes_findings
from crowdcover.kinds.table.judge.types import judge_types
from crowdcover.kinds.table.layout import FILES, LAW, PARQUET

Rows = tuple[pl.DataFrame | None, list[Finding]]


class Released(Protocol):
    """What readers of a release get."""

    def read_codebook(self) -> Any:
        """The codebook, or None."""
        ...

    def read_rows(self, readers: Sequence[Reader] | None) -> Rows:
        """The rows with their cells as text, None if they cannot be read, and what was found.

        Without readers, cells are text already.
        """
        ...

    def judge_nodes(self, codebook: Any) -> list[Finding]:
        """Whether what is said of nodes follows from the codebook."""
        ...

    def judge_types(self, typed: Mapping[str, pl.DataType]) -> Finding:
        """Whether the columns have these types."""
        ...


@dataclass(frozen=True)
class ReleasedFolder:
    """The data files and the codebook in a folder."""

    folder: Path
    formats: Sequence[str]

    def read_codebook(self) -> Any:
        """See `Released`."""
        return read_codebook(self.folder)

    def read_rows(self, readers: Sequence[Reader] | None) -> Rows:
        """See `Released`; all formats must hold the same rows."""
        if readers is None:
            return read_rows(self.folder, FILES, self.formats)
        flat = lambda rows: show_as_text(rows, readers)  # noqa: E731 - one line reads better
        return read_rows(self.folder, FILES, self.formats, flat, flattened=True)

    def judge_nodes(self, codebook: Any) -> list[Finding]:
        """See `Released`."""
        return nodes_findings(self.folder, codebook)

    def judge_types(self, typed: Mapping[str, pl.DataType]) -> Finding:
        """See `Released`; of data.parquet."""
        if PARQUET not in (FILES[each] for each in self.formats):
            return judge_types(typed, typed)
        schema = pl.scan_parquet(self.folder / PARQUET, glob=False).collect_schema()
        return judge_types(schema, typed)


@dataclass(frozen=True)
class ReleasedFrame:
    """Rows with typed cells, the same rows with cells as text, and their codebook."""

    typed: pl.DataFrame = field(repr=False)
    texts: pl.DataFrame = field(repr=False)
    codebook: Any = field(repr=False)

    def read_codebook(self) -> Any:
        """See `Released`."""
        return self.codebook

    def read_rows(self, readers: Sequence[Reader] | None) -> Rows:
        """See `Released`; both frames must hold the same rows."""
        shown = self.typed if readers is None else show_as_text(self.typed, readers)
        same = _list_texts(shown).equals(_list_texts(self.texts))
        return shown, [Finding("same table in every format", same, "2 formats compared")]

    def judge_nodes(self, codebook: Any) -> list[Finding]:
        """See `Released`: nothing beside the codebook tells of nodes."""
        del codebook
        return []

    def judge_types(self, typed: Mapping[str, pl.DataType]) -> Finding:
        """See `Released`."""
        return judge_types(self.typed.schema, typed)


@dataclass(frozen=True)
class Claims:
    """What the vault claims of released rows: whose each is, and the chances of the seats.

    Attributes
    ----------
    matching : Path or DataFrame
        Source row and key of each record.
    law : Path or DataFrame
        The records that hold the shares of each row; read where even seats are promised.
    """

    matching: Path | pl.DataFrame = field(repr=False)
    law: Path | pl.DataFrame | None = field(repr=False)

    @classmethod
    def at(cls, matching: Path) -> "Claims":
        """The claims in the vault; both files lie in one folder."""
        return cls(matching, matching.with_name(LAW))

    def read_matching(self) -> pl.DataFrame:
        """Source row and key of each record."""
        if isinstance(self.matching, pl.DataFrame):
            return self.matching
        return read_matching(self.matching)


def _list_texts(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with every value as the text that a CSV file holds."""
    return rows.cast({pl.Enum: pl.String})
