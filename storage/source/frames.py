"""A frame in memory as a source: nothing of it is written."""

import polars as pl

from crowdcover.storage.source.column_names import require_distinct_names
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source


class FrameReading(Reading):
    """The rows of a frame, in their order. It may be read as often as wanted.

    What the plan lays beside the source, such as a table of demands, is read from its file.
    """

    __slots__ = ()

    def __init__(self, source: Source, rows: pl.DataFrame) -> None:
        require_distinct_names(rows.columns)
        self.source, self._content = source, rows
        self.beside = None if source.beside is None else Reading(source.beside)
        # Without a fingerprint: the content cannot change, and no vault keeps it.
        self.sha256 = self._own = ""
        self._disk = self._kept = None

    def again(self) -> "FrameReading":
        """The same rows."""
        assert isinstance(self._content, pl.DataFrame)
        return FrameReading(self.source, self._content)

    def close(self) -> None:
        """Keep the rows: they are the caller's."""
